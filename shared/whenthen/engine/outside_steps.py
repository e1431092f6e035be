"""Takes one outside step: its effect first, under its deadline, then the record of it."""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import TypeVar

from sqlalchemy.engine import Connection

from whenthen.actions import registry
from whenthen.actions.requests import StepSuccess
from whenthen.domain.errors import ActionTimeoutError
from whenthen.domain.kinds import RunStatus
from whenthen.domain.rules.run_guards import Standing, before_further_step
from whenthen.engine.commit_moves import commit, lost_connection, refresh, send_after_commit
from whenthen.engine.context import Context
from whenthen.engine.hold_runs import hold_at_step
from whenthen.engine.loop_headers import with_own_headers
from whenthen.engine.prepare_step import prepare_step
from whenthen.engine.reveal_secrets import may_need_secrets, reveal_secrets
from whenthen.engine.run_progress import RunProgress
from whenthen.engine.step_settlements import StepDone, step_done, step_failed
from whenthen.store.outbox import OutboxEvent
from whenthen.store.run_settlements import settle

Result = TypeVar("Result")

_log = logging.getLogger("whenthen.execute")

# One that is about to end costs less than a new process.
_MOMENT_S = 0.5
# Tries of recording a success whose commit broke: the effect is out, so it is worth them.
_RECORD_TRIES = 3


@dataclass(slots=True)
class Stragglers:
    """Threads that did not heed their deadline; alive at the end, they end the process."""

    threads: list[threading.Thread] = field(default_factory=list)

    def alive(self) -> bool:
        """Return whether any is, those that need but a moment left aside."""
        ends_s = monotonic() + _MOMENT_S
        for thread in self.threads:
            thread.join(max(ends_s - monotonic(), 0))
        return any(thread.is_alive() for thread in self.threads)


def take_outside_step(
    context: Context, progress: RunProgress, stragglers: Stragglers
) -> list[RunProgress]:
    """Take the run's present step; return it in a list if it goes on to a further one.

    No transaction is open while the action talks to the outside. After a crash between the effect
    and its record the step is tried again with the same key: at least once, deduplicable.
    """
    started_s = monotonic()
    timeout_s = progress.action.timeout_s
    try:
        executor = registry.outside_executor(progress.action.type)
        started_s = monotonic()
        secrets = _secrets(context, progress, stragglers)
        left_s = timeout_s - (monotonic() - started_s)
        request = prepare_step(progress, context.settings, secrets, timeout_s=left_s)
        request = with_own_headers(context, progress.action.type, request)
        success = _within(lambda: executor(request), left_s, stragglers)
    except Exception as error:  # noqa: BLE001  # whatever it is, it is classified
        late = monotonic() - started_s > timeout_s
        _count(context, progress, "failed")
        failure = step_failed(
            progress, error, max_retries=context.settings.max_retries, after_deadline=late
        )
        commit(context, [failure])
        return []
    ms = round((monotonic() - started_s) * 1000)
    return _record(context, progress, success, ms)


def _secrets(context: Context, progress: RunProgress, stragglers: Stragglers) -> Mapping[str, str]:
    if not may_need_secrets(progress):
        return {}
    return _within(lambda: reveal_secrets(context, progress), progress.action.timeout_s, stragglers)


def _within(act: Callable[[], Result], timeout_s: float, stragglers: Stragglers) -> Result:
    """Return what `act` returns, racing it against `timeout_s`.

    The second line: executors hand the deadline to their own I/O and normally end by themselves.
    """
    answers: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            answers.append(act())
        except BaseException as error:  # noqa: BLE001  # carried over to the waiting thread
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(timeout_s)
    if errors:
        raise errors[0]
    if not answers:
        stragglers.threads.append(thread)
        raise ActionTimeoutError("the action did not finish within its timeout")
    return answers[0]


def _record(
    context: Context, progress: RunProgress, success: StepSuccess, ms: int
) -> list[RunProgress]:
    for left in reversed(range(_RECORD_TRIES)):
        try:
            return _record_once(context, progress, success, ms)
        except Exception as error:
            if not lost_connection(error) or not left:
                raise
            _log.warning("record of a step broke off", extra={"run_id": str(progress.id)})
        present = refresh(context, progress)
        if present is None:
            return []
        if present.index != progress.index:
            return [present]
    return []


def _record_once(
    context: Context, progress: RunProgress, success: StepSuccess, ms: int
) -> list[RunProgress]:
    recorded = context.database.transact(
        lambda connection: _settle_success(connection, progress, success, ms)
    )
    if recorded is None:
        return []
    send_after_commit(
        context, [recorded.done.settlement], frozenset({progress.id}), recorded.events
    )
    _count(context, progress, "succeeded")
    if recorded.done.settlement.status != RunStatus.RUNNING:
        return []
    progress.finish_step(recorded.done.finished)
    return [progress]


@dataclass(frozen=True, slots=True)
class _Recorded:
    done: StepDone
    events: Sequence[OutboxEvent]


def _settle_success(
    connection: Connection, progress: RunProgress, success: StepSuccess, ms: int
) -> _Recorded | None:
    held = hold_at_step(connection, [progress])
    if progress.id not in held:
        return None
    standing = Standing(
        cancelled=held[progress.id].cancelled_by is not None,
        automation_status=held[progress.id].automation_status,
        forced=progress.run.forced,
        has_finished_step=True,
    )
    done = step_done(progress, success, ms, before_further_step(standing))
    _, events = settle(connection, [done.settlement])
    return _Recorded(done, events)


def _count(context: Context, progress: RunProgress, outcome: str) -> None:
    context.metrics.count("automations.actions", type=progress.action.type.value, outcome=outcome)
