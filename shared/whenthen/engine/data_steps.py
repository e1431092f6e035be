"""Takes data steps: those of several runs share a transaction, in which each has its own guard."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from uuid import UUID

from sqlalchemy.engine import Connection

from whenthen.actions import registry
from whenthen.actions.requests import StepAnswer, StepRequest, StepSuccess
from whenthen.domain import limits
from whenthen.domain.errors import ActionTimeoutError
from whenthen.domain.kinds import ActionType
from whenthen.domain.rules.named_secrets import tells_people
from whenthen.domain.rules.run_guards import Go, Standing, Verdict, before_further_step
from whenthen.domain.rules.run_outcome import FinishedStep
from whenthen.engine.commit_moves import commit, lost_connection, refresh, send_after_commit
from whenthen.engine.context import Context
from whenthen.engine.delay_steps import Wait, is_put_off, take_delays
from whenthen.engine.hold_runs import hold_at_step
from whenthen.engine.prepare_step import prepare_step
from whenthen.engine.reveal_secrets import may_need_secrets, reveal_secrets
from whenthen.engine.run_progress import RunProgress
from whenthen.engine.step_settlements import (
    released,
    step_done,
    step_failed,
    step_waits,
    stopped,
)
from whenthen.store import clock
from whenthen.store.outbox import OutboxEvent
from whenthen.store.run_settlements import Holding, Settlement, settle

_log = logging.getLogger("whenthen.execute")

# A DELAY that is over but could not be ended is looked at again after this long.
_PUT_OFF_S = 1


@dataclass(frozen=True, slots=True)
class _Try:
    progress: RunProgress
    # None: a DELAY that is over, for which there is nothing left to prepare.
    request: StepRequest | None


@dataclass(slots=True)
class _Group:
    """What one group transaction did: its settlements, and the steps that are now finished."""

    settlements: list[Settlement]
    finished: list[tuple[RunProgress, FinishedStep]]
    failed: list[RunProgress]
    moved: frozenset[UUID] = frozenset()
    events: Sequence[OutboxEvent] = ()


def take_data_steps(context: Context, runs: Sequence[RunProgress]) -> list[RunProgress]:
    """Take the present data step of each of `runs`; return those that go on to a further step.

    Effects, step rows, log lines and events commit together, each run guarded by its lease: a run
    that is no longer ours drops out, silently. Whatever breaks the transaction of several rolls
    it back, and each run goes alone.

    Raises:
        sqlalchemy.exc.SQLAlchemyError: the database is out of reach; the leases run out and the
            sweep brings the runs back.

    """
    tries, refusals = _prepare(context, runs)
    commit(context, refusals)
    if not tries:
        return []
    try:
        return _take_together(context, tries)
    except Exception as error:  # noqa: BLE001  # whatever it is, it is classified, one run at a time
        if len(tries) == 1:
            return _take_failed(context, tries[0].progress, error)
        _log.info("group goes one by one", extra={"runs": len(tries), "error": repr(error)})
        doubtful = lost_connection(error)
    going_on: list[RunProgress] = []
    for item in tries:
        going_on += _take_alone(context, item.progress, doubtful=doubtful)
    return going_on


def _take_alone(context: Context, progress: RunProgress, *, doubtful: bool) -> list[RunProgress]:
    present = refresh(context, progress) if doubtful else progress
    if present is None:
        return []
    if present.index != progress.index:
        return [present]
    return take_data_steps(context, [present])


def _take_failed(context: Context, progress: RunProgress, error: Exception) -> list[RunProgress]:
    if lost_connection(error):
        present = refresh(context, progress)
        if present is None:
            return []
        if present.index != progress.index:
            return [present]
    if progress.has_waited and is_put_off(error):
        # As a failure of the step it would make the whole delay begin anew.
        commit(context, [released(progress.run, progress.lease, due_in_s=_PUT_OFF_S)])
        return []
    _count(context, progress, "failed")
    commit(context, [step_failed(progress, error, max_retries=context.settings.max_retries)])
    return []


def _prepare(context: Context, runs: Sequence[RunProgress]) -> tuple[list[_Try], list[Settlement]]:
    tries: list[_Try] = []
    refusals: list[Settlement] = []
    for progress in runs:
        if progress.has_waited:
            tries.append(_Try(progress, None))
            continue
        try:
            if tells_people(progress.action.type) and may_need_secrets(progress):
                reveal_secrets(context, progress)
            tries.append(_Try(progress, prepare_step(progress, context.settings)))
        except Exception as error:  # noqa: BLE001  # whatever it is, it is classified
            _count(context, progress, "failed")
            refusals.append(step_failed(progress, error, max_retries=context.settings.max_retries))
    return tries, refusals


def _take_together(context: Context, tries: Sequence[_Try]) -> list[RunProgress]:
    timeout_s = min(item.progress.action.timeout_s for item in tries)
    deadline_s = monotonic() + timeout_s
    lock_timeout_ms = limits.LOCK_TIMEOUT_MS if len(tries) == 1 else limits.GROUP_LOCK_TIMEOUT_MS
    try:
        group = context.database.transact(
            lambda connection: _work(context, connection, tries, deadline_s),
            lock_timeout_ms=lock_timeout_ms,
            statement_timeout_ms=round(timeout_s * 1000),
        )
    except Exception as error:
        if monotonic() > deadline_s and not lost_connection(error):
            # The server stopped the statement that was still running when the time was up.
            raise ActionTimeoutError("the step took longer than its timeout") from error
        raise
    send_after_commit(context, group.settlements, group.moved, group.events)
    for progress in group.failed:
        _count(context, progress, "failed")
    going_on = []
    for progress, step in group.finished:
        if progress.id not in group.moved:
            continue
        _count(context, progress, "succeeded")
        if not progress.is_last:
            progress.finish_step(step)
            going_on.append(progress)
    return going_on


def _work(
    context: Context, connection: Connection, tries: Sequence[_Try], deadline_s: float
) -> _Group:
    held = hold_at_step(connection, [item.progress for item in tries])
    verdicts = {
        item.progress.id: _verdict(item.progress, held[item.progress.id])
        for item in tries
        if item.progress.id in held
    }
    acting = [item for item in tries if isinstance(verdicts.get(item.progress.id), Go)]
    group = _Group(
        settlements=[
            stopped(item.progress, verdict)
            for item in tries
            if not isinstance(verdict := verdicts.get(item.progress.id, Go()), Go)
        ],
        finished=[],
        failed=[],
    )
    for item, answer, ms in _apply(connection, acting):
        _add_outcome(context, group, item.progress, answer, ms)
    group.moved, group.events = settle(connection, group.settlements)
    if monotonic() > deadline_s:
        raise ActionTimeoutError("the step took longer than its timeout")
    return group


def _verdict(progress: RunProgress, holding: Holding) -> Verdict:
    return before_further_step(
        Standing(
            cancelled=holding.cancelled_by is not None,
            automation_status=holding.automation_status,
            forced=progress.run.forced,
            has_finished_step=bool(progress.finished),
        )
    )


def _apply(
    connection: Connection, tries: Sequence[_Try]
) -> list[tuple[_Try, StepAnswer | Wait, int]]:
    by_type: dict[ActionType, list[_Try]] = {}
    for item in tries:
        by_type.setdefault(item.progress.action.type, []).append(item)
    answered: list[tuple[_Try, StepAnswer | Wait, int]] = []
    for type_, same in by_type.items():
        started_s = monotonic()
        requests = [item.request for item in same]
        answers: Sequence[StepAnswer | Wait]
        if type_ == ActionType.DELAY:
            answers = take_delays(requests, clock.now(connection))
        else:
            answers = registry.data_executor(type_)(connection, [r for r in requests if r])
        ms = round((monotonic() - started_s) * 1000)
        answered += [(item, answer, ms) for item, answer in zip(same, answers, strict=True)]
    return answered


def _add_outcome(
    context: Context, group: _Group, progress: RunProgress, answer: StepAnswer | Wait, ms: int
) -> None:
    match answer:
        case StepSuccess():
            done = step_done(progress, answer, ms, Go())
            group.settlements.append(done.settlement)
            group.finished.append((progress, done.finished))
        case Wait():
            group.settlements.append(step_waits(progress, answer))
        case refusal:
            group.failed.append(progress)
            max_retries = context.settings.max_retries
            group.settlements.append(step_failed(progress, refusal, max_retries=max_retries))


def _count(context: Context, progress: RunProgress, outcome: str) -> None:
    context.metrics.count("automations.actions", type=progress.action.type.value, outcome=outcome)
