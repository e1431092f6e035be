"""What a step's outcome means for its run: go on, wait for another try, or end."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, assert_never
from uuid import UUID

from whenthen.actions.requests import StepSuccess
from whenthen.domain import limits
from whenthen.domain.errors import WhenthenError
from whenthen.domain.kinds import RunStatus, StepStatus
from whenthen.domain.rules import log_lines
from whenthen.domain.rules.classify import Classification, classify_error
from whenthen.domain.rules.log_lines import LogLine
from whenthen.domain.rules.redact import redact
from whenthen.domain.rules.run_guards import Skip, Stop, Verdict
from whenthen.domain.rules.run_outcome import (
    DeadLetter,
    Fail,
    FinishedStep,
    Retry,
    after_failure,
)
from whenthen.domain.rules.text_hygiene import clean
from whenthen.domain.rules.truncate import truncate_json
from whenthen.domain.rules.wake_up import pending_wake
from whenthen.engine import finish_run
from whenthen.engine.delay_steps import Wait
from whenthen.engine.finish_run import RunError
from whenthen.engine.run_progress import RunProgress
from whenthen.store.run_claims import ClaimedRun
from whenthen.store.run_settlements import NextStep, Settlement, StepResult

_log = logging.getLogger("whenthen.execute")


@dataclass(frozen=True, slots=True)
class StepDone:
    """A settlement of success, with what the progress becomes once it is committed."""

    settlement: Settlement
    finished: FinishedStep


def step_done(progress: RunProgress, success: StepSuccess, ms: int, verdict: Verdict) -> StepDone:
    """Return the settlement of a step that did its work in `ms` milliseconds.

    `verdict` is what the guards say of going on; it is not asked after the last action.
    """
    action = progress.action
    output, _ = clean(dict(success.output))
    capped, _ = truncate_json(redact(output, progress.secret_values), limits.STEP_OUTPUT_MAX_BYTES)
    finished = FinishedStep(action.index, action.type, capped, ms)
    step = _result(progress, StepStatus.SUCCEEDED, output=capped, ms=ms)
    count = len(progress.actions)
    lines = [
        *_opening(progress),
        log_lines.action_done(action.index, count, action.type, action_id=action.id, ms=ms),
    ]
    if progress.is_last:
        steps = [*progress.finished.values(), finished]
        return StepDone(
            finish_run.succeeded(progress, steps, step, lines, success.events), finished
        )
    if isinstance(verdict, Stop):
        error = RunError(verdict.code, verdict.message, 0, in_action=False)
        ending = finish_run.failed(progress, error, lines, step)
        # Should the run be brought back, the step behind this one is the next.
        return StepDone(replace(ending, next_action=action.index + 1), finished)
    return StepDone(_goes_on(progress, step, lines, success), finished)


def step_failed(
    progress: RunProgress, error: BaseException, *, max_retries: int, after_deadline: bool = False
) -> Settlement:
    """Return the settlement of a step whose try raised or answered `error`."""
    failure = classify_error(error, after_deadline=after_deadline)
    message: str = redact(_message(error, failure), progress.secret_values)
    action = progress.action
    failed_line = log_lines.action_failed(
        action.index,
        len(progress.actions),
        action.type,
        action_id=action.id,
        attempt=progress.attempt,
        code=failure.code,
        message=message,
        retryable=failure.retryable,
    )
    lines = [*_opening(progress), failed_line]
    step = _result(progress, StepStatus.FAILED, error={"code": failure.code, "message": message})
    run_error = RunError(failure.code, message, progress.attempt, in_action=True)
    match after_failure(failure, progress.attempt, action.retries, max_retries):
        case Retry(delay_s):
            return _retries(progress, step, lines, delay_s)
        case Fail():
            return finish_run.failed(progress, run_error, lines, step)
        case DeadLetter():
            return finish_run.dead_lettered(progress, run_error, lines, step)
        case other:
            assert_never(other)


def step_waits(progress: RunProgress, wait: Wait) -> Settlement:
    """Return the settlement of a DELAY that begins: its run gives its worker back, not counted."""
    action = progress.action
    waiting = log_lines.action_waiting(
        action.index,
        len(progress.actions),
        action.type,
        action_id=action.id,
        resume_at=wait.resume_at,
    )
    return Settlement(
        run_id=progress.id,
        workspace_id=progress.run.workspace_id,
        lease=progress.lease,
        status=RunStatus.PENDING,
        next_action=progress.index,
        steps=[_result(progress, StepStatus.WAITING)],
        due_in_s=wait.wait_s,
        due_at=wait.resume_at,
        wake_in_s=pending_wake(wait.wait_s).wake_in_s,
        lines=[*_opening(progress), waiting],
    )


def stopped(progress: RunProgress, verdict: Skip | Stop) -> Settlement:
    """Return the end of a run that the guards do not let act (any further)."""
    match verdict:
        case Skip(reason, explain):
            return finish_run.skipped(progress, reason, explain)
        case Stop(code, message):
            return finish_run.failed(progress, RunError(code, message, 0, in_action=False))
        case other:
            assert_never(other)


def continued(progress: RunProgress) -> Settlement:
    """Return a run to PENDING, due at once, with nothing counted: its next step did not fit."""
    return Settlement(
        run_id=progress.id,
        workspace_id=progress.run.workspace_id,
        lease=progress.lease,
        status=RunStatus.PENDING,
        next_action=progress.index,
        untried_action_id=progress.claimed_action_id,
        due_in_s=0,
        wake_in_s=pending_wake(0).wake_in_s,
        lines=[log_lines.run_continued()],
    )


def released(run: ClaimedRun, lease: UUID, *, due_in_s: float = 0) -> Settlement:
    """Return a run to PENDING as its row is, nothing counted and its definition not looked at.

    Newer code may have written the definition, with actions that this code cannot name.
    """
    claimed = run.actions[run.next_action : run.next_action + 1]
    return Settlement(
        run_id=run.id,
        workspace_id=run.workspace_id,
        lease=lease,
        status=RunStatus.PENDING,
        next_action=run.next_action,
        untried_action_id=UUID(claimed[0]["id"]) if claimed else None,
        due_in_s=due_in_s,
        wake_in_s=pending_wake(due_in_s).wake_in_s,
    )


def _goes_on(
    progress: RunProgress, step: StepResult, lines: list[LogLine], success: StepSuccess
) -> Settlement:
    following = progress.actions[progress.index + 1]
    started = log_lines.action_started(
        following.index,
        len(progress.actions),
        following.type,
        action_id=following.id,
        attempt=1,
    )
    return Settlement(
        run_id=progress.id,
        workspace_id=progress.run.workspace_id,
        lease=progress.lease,
        status=RunStatus.RUNNING,
        next_action=following.index,
        steps=[step],
        next_step=NextStep(following.id, following.index, following.type.value),
        lines=[*lines, started],
        events=list(success.events),
    )


def _retries(
    progress: RunProgress, step: StepResult, lines: list[LogLine], delay_s: int
) -> Settlement:
    wake = pending_wake(delay_s)
    return Settlement(
        run_id=progress.id,
        workspace_id=progress.run.workspace_id,
        lease=progress.lease,
        status=RunStatus.PENDING,
        next_action=progress.index,
        steps=[step],
        due_in_s=delay_s,
        wake_in_s=wake.wake_in_s,
        counts_retry=True,
        lines=[*lines, log_lines.retry_scheduled(progress.attempt, delay_s)],
    )


def _opening(progress: RunProgress) -> list[LogLine]:
    """Return the lines from before the outcome: the start, if not logged yet, and warnings.

    The claim counts the attempt but cannot know yet that the guards let it be made, so a run's
    first `started` line is written together with its outcome.
    """
    if progress.start_logged:
        return progress.pending_lines
    action = progress.action
    started = log_lines.action_started(
        action.index,
        len(progress.actions),
        action.type,
        action_id=action.id,
        attempt=progress.attempt,
    )
    return [started, *progress.pending_lines]


def _result(
    progress: RunProgress,
    status: StepStatus,
    *,
    output: Mapping[str, Any] | None = None,
    error: Mapping[str, Any] | None = None,
    ms: int | None = None,
) -> StepResult:
    action = progress.action
    return StepResult(
        action_id=action.id,
        index=action.index,
        type=action.type.value,
        status=status,
        attempts=progress.attempt,
        output=output,
        error=error,
        ms=ms,
        over_s=monotonic(),
    )


def _message(error: BaseException, failure: Classification) -> str:
    """Return what people read of the error: our own words, else its class and code only.

    A foreign message may repeat what the run must not tell: a secret, an inner host's answer.
    """
    if failure.code == "ACTION_TIMEOUT":
        return "the action did not finish within its timeout"
    if isinstance(error, WhenthenError):
        message, _ = clean(error.message)
        return str(message)
    _log.warning("step raised", exc_info=error)
    return f"{type(error).__name__} ({failure.code})"
