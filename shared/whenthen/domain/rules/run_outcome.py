"""What becomes of a run: after a failed try, after a crash, and the exact JSON of its end."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from whenthen.domain.kinds import ActionType, RunStatus, SkipReason, StepStatus
from whenthen.domain.limits import CRASHES_MAX
from whenthen.domain.rules.backoff import retry_delay_s
from whenthen.domain.rules.classify import Classification


@dataclass(frozen=True, slots=True)
class Retry:
    """The step is tried again after `delay_s` seconds: RUNNING → FAILED → PENDING."""

    delay_s: int


@dataclass(frozen=True, slots=True)
class Fail:
    """The run ends FAILED: trying again cannot help."""

    code: str


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """The run ends DEAD_LETTER: its attempts or its crashes are used up."""

    code: str


@dataclass(frozen=True, slots=True)
class Reclaim:
    """The run goes back to PENDING after a crash, at once."""


@dataclass(frozen=True, slots=True)
class FinishedStep:
    """One action that has succeeded; `ms` is the duration of the successful attempt alone."""

    index: int
    type: ActionType
    output: Any
    ms: int


def after_failure(
    failure: Classification, attempts: int, action_retries: int | None, max_retries: int
) -> Retry | Fail | DeadLetter:
    """Return what follows the failure of a step that has now been tried `attempts` times.

    `action_retries` is the action's own setting: so many tries *after* the first. Without one the
    deployment's `max_retries` is the number of tries altogether: 3 means three hits, not four.
    The budget is the step's own, so a long run is not punished for its length.
    """
    if not failure.retryable:
        return Fail(failure.code)
    tries_max = max_retries if action_retries is None else action_retries + 1
    if attempts >= tries_max:
        return DeadLetter(failure.code)
    return Retry(retry_delay_s(attempts, failure.retry_after_s))


def after_crash(crash_count: int) -> Reclaim | DeadLetter:
    """Return what follows an expired lease, `crash_count` being the crashes with this one.

    Every committed step sets the count back to 0, so only crashes in a row add up.
    """
    return DeadLetter("WORKER_CRASHED") if crash_count >= CRASHES_MAX else Reclaim()


def success_output(steps: Iterable[FinishedStep]) -> dict[str, Any]:
    """Return the output of a run that did all its steps, in the order of their index.

    ::

        {"actions": [{"index": 0, "type": "UPDATE_RECORD", "output": {"recordId": "019…"},
                      "ms": 12, "status": "SUCCEEDED"}], "totalMs": 12}
    """
    in_order = sorted(steps, key=lambda step: step.index)
    actions = [
        {
            "index": step.index,
            "type": step.type.value,
            "output": step.output,
            "ms": step.ms,
            "status": StepStatus.SUCCEEDED.value,
        }
        for step in in_order
    ]
    return {"actions": actions, "totalMs": sum(step.ms for step in in_order)}


def skip_output(reason: SkipReason) -> dict[str, Any]:
    """Return the output of a run that did nothing, on purpose: `{"skipped": "depth_limit"}`."""
    return {"skipped": reason.value}


def error_body(
    code: str,
    message: str,
    action_index: int | None,
    action_type: ActionType | None,
    attempts: int,
) -> dict[str, Any]:
    """Return a run's error; both action fields are None when it arose outside an action.

    ::

        {"code": "WEBHOOK_HTTP_RETRIABLE", "message": "answered 503", "actionIndex": 1,
         "actionType": "SEND_WEBHOOK", "attempts": 8}
    """
    return {
        "code": code,
        "message": message,
        "actionIndex": action_index,
        "actionType": None if action_type is None else action_type.value,
        "attempts": attempts,
    }


def announces(depth: int) -> bool:
    """Return whether a run's end is told by `automation.executed`: the root's only.

    The root's event stands for its whole chain; one per hop would multiply with the chain.
    """
    return depth == 0


def executed_event_payload(  # noqa: PLR0913 - one parameter for each key of the payload
    *,
    workspace_id: UUID,
    automation_id: UUID,
    run_id: UUID,
    status: RunStatus,
    trigger_type: str,
    duration_ms: int,
    error: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Return the payload of `automation.executed`; `error` is there only if there was one."""
    payload: dict[str, Any] = {
        "workspaceId": str(workspace_id),
        "automationId": str(automation_id),
        "runId": str(run_id),
        "status": status.value,
        "triggerType": trigger_type,
        "durationMs": duration_ms,
    }
    return payload if error is None else {**payload, "error": dict(error)}
