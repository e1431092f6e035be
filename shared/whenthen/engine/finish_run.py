"""The only code that ends a run: how each end looks in the row, the log and the stream."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from whenthen.domain import limits
from whenthen.domain.kinds import EventType, RunStatus, SkipReason
from whenthen.domain.rules import log_lines, run_outcome
from whenthen.domain.rules.log_lines import LogLine
from whenthen.domain.rules.text_hygiene import clean
from whenthen.domain.rules.truncate import truncate_json
from whenthen.engine.run_progress import RunProgress
from whenthen.store.outbox import OutboxEvent, new_event
from whenthen.store.run_settlements import Settlement, StepResult

# Skips that are about the instant and not about what the run found: they show in its occurrence.
_SKIPS_OCCURRENCE = frozenset({SkipReason.OVERLAP, SkipReason.SUPERSEDED})


@dataclass(frozen=True, slots=True)
class RunError:
    """Why a run ended badly; `in_action` tells whether its present action was at fault."""

    code: str
    message: str
    attempts: int
    in_action: bool


def succeeded(
    progress: RunProgress,
    steps: Sequence[run_outcome.FinishedStep],
    last: StepResult | None,
    lines: Sequence[LogLine],
    events: Sequence[OutboxEvent] = (),
) -> Settlement:
    """Return the end of a run that has done all of its `steps`, `last` being recorded with it."""
    output = run_outcome.success_output(steps)
    capped, _ = truncate_json(output, limits.OUTPUT_MAX_BYTES, keep=frozenset({"totalMs"}))
    return _end(
        progress,
        RunStatus.SUCCEEDED,
        step=last,
        lines=[*lines, log_lines.run_completed(output["totalMs"])],
        events=events,
        next_action=len(progress.actions),
        output=capped,
    )


def skipped(
    progress: RunProgress, reason: SkipReason, explain: Mapping[str, Any] | None
) -> Settlement:
    """Return the end of a run that does nothing, on purpose; the attempt it claimed is undone."""
    ending = _end(
        progress,
        RunStatus.SUCCEEDED,
        lines=[log_lines.run_skipped(reason, explain)],
        output=run_outcome.skip_output(reason),
    )
    return replace(
        ending,
        untried_action_id=progress.claimed_action_id,
        skipped_occurrence=reason.value if reason in _SKIPS_OCCURRENCE else None,
    )


def failed(
    progress: RunProgress,
    error: RunError,
    lines: Sequence[LogLine] = (),
    step: StepResult | None = None,
) -> Settlement:
    """Return the end of a run that cannot go on; without `step` its claimed attempt is undone."""
    body = _error_body(progress, error)
    ending = _end(
        progress,
        RunStatus.FAILED,
        step=step,
        lines=[*lines, log_lines.run_failed(error.code)],
        error=body,
    )
    return ending if step else replace(ending, untried_action_id=progress.claimed_action_id)


def dead_lettered(
    progress: RunProgress, error: RunError, lines: Sequence[LogLine], step: StepResult | None
) -> Settlement:
    """Return the end of a run that used up its attempts; its row stays awake for the notice."""
    body = _error_body(progress, error)
    death = progress.run.deaths + 1
    line = log_lines.run_dead_lettered(
        death,
        code=error.code,
        message=body["message"],
        attempts=error.attempts,
    )
    ending = _end(progress, RunStatus.DEAD_LETTER, step=step, lines=[*lines, line], error=body)
    return replace(ending, death=death, wake_in_s=float(limits.NOTICE_WAKE_S))


def _end(  # noqa: PLR0913  # one parameter for each part of an end
    progress: RunProgress,
    status: RunStatus,
    *,
    step: StepResult | None = None,
    lines: Sequence[LogLine],
    events: Sequence[OutboxEvent] = (),
    next_action: int | None = None,
    output: Mapping[str, Any] | None = None,
    error: Mapping[str, Any] | None = None,
) -> Settlement:
    return Settlement(
        run_id=progress.id,
        workspace_id=progress.run.workspace_id,
        lease=progress.lease,
        status=status,
        next_action=progress.index if next_action is None else next_action,
        steps=[step] if step else [],
        output=output,
        error=error,
        lines=lines,
        events=[*events, *_executed(progress, status, error)],
        freed_schedule_id=progress.run.overlap_schedule_id,
    )


def _executed(
    progress: RunProgress, status: RunStatus, error: Mapping[str, Any] | None
) -> list[OutboxEvent]:
    run = progress.run
    if not run_outcome.announces(run.depth):
        return []
    payload = run_outcome.executed_event_payload(
        workspace_id=run.workspace_id,
        automation_id=run.automation_id,
        run_id=run.id,
        status=status,
        trigger_type=run.trigger_type,
        duration_ms=progress.elapsed_ms,
        error=error,
    )
    return [
        new_event(
            workspace_id=run.workspace_id,
            type=EventType.AUTOMATION_EXECUTED.value,
            payload=payload,
            namespace="run",
        )
    ]


def _error_body(progress: RunProgress, error: RunError) -> dict[str, Any]:
    action = progress.action if error.in_action else None
    message, _ = clean(error.message)
    return run_outcome.error_body(
        error.code,
        message,
        action.index if action else None,
        action.type if action else None,
        error.attempts,
    )
