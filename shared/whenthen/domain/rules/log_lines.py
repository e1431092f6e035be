"""Every line that a run's log can hold, with its exact words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from whenthen.domain import instants
from whenthen.domain.kinds import ActionType, SkipReason


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line: `{"level": "info", "message": "run started", "data": {"attempt": 1}}`."""

    level: Literal["info", "warn", "error"]
    message: str
    data: Mapping[str, Any] = field(default_factory=dict)


def run_created(event_id: str) -> LogLine:
    return LogLine("info", "run created", {"eventId": event_id})


def run_started(attempt: int) -> LogLine:
    return LogLine("info", "run started", {"attempt": attempt})


def action_started(
    index: int, count: int, action_type: ActionType, *, action_id: UUID, attempt: int
) -> LogLine:
    message = f"{_action(index, count, action_type)} started"
    return LogLine("info", message, {"actionId": str(action_id), "attempt": attempt})


def action_done(
    index: int, count: int, action_type: ActionType, *, action_id: UUID, ms: int
) -> LogLine:
    message = f"{_action(index, count, action_type)} done"
    return LogLine("info", message, {"actionId": str(action_id), "ms": ms})


def action_waiting(
    index: int, count: int, action_type: ActionType, *, action_id: UUID, resume_at: datetime
) -> LogLine:
    message = f"{_action(index, count, action_type)} waiting"
    data = {"actionId": str(action_id), "resumeAt": instants.to_text(resume_at)}
    return LogLine("info", message, data)


def action_failed(  # noqa: PLR0913 - one parameter for each fact that the line tells
    index: int,
    count: int,
    action_type: ActionType,
    *,
    action_id: UUID,
    attempt: int,
    code: str,
    message: str,
    retryable: bool,
) -> LogLine:
    data = {
        "actionId": str(action_id),
        "attempt": attempt,
        "code": code,
        "message": message,
        "retryable": retryable,
    }
    return LogLine("error", f"{_action(index, count, action_type)} failed", data)


def retry_scheduled(attempt: int, delay_s: int) -> LogLine:
    """Return the line of a retry; the store fills in `dueAt`, which its own clock decides."""
    data = {"attempt": attempt, "delayS": delay_s, "dueAt": None}
    return LogLine("info", "retry scheduled", data)


def run_continued() -> LogLine:
    return LogLine("info", "run continued")


def run_skipped(reason: SkipReason, explain: Mapping[str, Any] | None = None) -> LogLine:
    """Return the line of a skip; `explain` is the condition's tree, when the condition decided."""
    data = {} if explain is None else {"explain": explain}
    return LogLine("info", f"run skipped: {reason}", data)


def run_failed(code: str) -> LogLine:
    return LogLine("error", f"run failed: {code}")


def run_completed(total_ms: int) -> LogLine:
    return LogLine("info", "run completed", {"totalMs": total_ms})


def run_dead_lettered(death: int, *, code: str, message: str, attempts: int) -> LogLine:
    """Return the line of a run's death; `death` counts them, as a manual retry may follow one."""
    data = {"death": death, "code": code, "message": message, "attempts": attempts}
    return LogLine("error", "run dead-lettered", data)


def running_reclaimed() -> LogLine:
    return LogLine("warn", "watchdog reclaimed stale RUNNING run")


def pending_sent_again() -> LogLine:
    return LogLine("warn", "watchdog re-enqueued stale PENDING run")


def run_retried(user_id: UUID, from_: str | int, version: str) -> LogLine:
    """Return the line of a manual retry: `from_` "failed", "start" or an index, counted from 0."""
    data = {"userId": str(user_id), "from": from_, "version": version}
    return LogLine("info", "run retried manually", data)


def run_cancelled(user_id: UUID) -> LogLine:
    return LogLine("info", "run cancelled", {"userId": str(user_id)})


def template_value_missing(path: str) -> LogLine:
    return LogLine("warn", "template value missing", {"path": path})


def _action(index: int, count: int, action_type: ActionType) -> str:
    # People count from 1; `index` everywhere else from 0.
    return f"action {index + 1}/{count} {action_type}"
