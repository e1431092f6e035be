"""Takes data steps: those of several runs share a transaction, in which each has its own guard."""

import logging
from collections import Counter
from collections.abc import Iterable, Sequence

from whenthen.domain import limits
from whenthen.domain.errors import ActionTimeoutError
from whenthen.domain.kinds import ActionType
from whenthen.domain.rules.classify import classify_error
from whenthen.domain.rules.named_secrets import tells_people
from whenthen.engine.commit_moves import commit, lost_connection, refresh, send_after_commit
from whenthen.engine.context import Context
from whenthen.engine.delay_steps import is_put_off
from whenthen.engine.prepare_step import prepare_step
from whenthen.engine.reveal_secrets import may_need_secrets, reveal_secrets
from whenthen.engine.run_progress import RunProgress
from whenthen.engine.step_settlements import released, step_failed
from whenthen.engine.step_transaction import Bounds, Try, take_steps
from whenthen.store.run_settlements import Settlement

_log = logging.getLogger("whenthen.execute")

# A DELAY that is over but could not be ended is looked at again after this long.
_PUT_OFF_S = 1


def take_data_steps(context: Context, runs: Sequence[RunProgress]) -> list[RunProgress]:
    """Take the present data step of each of `runs`, and further ones; return those that go on.

    Effects, step rows, log lines and events commit together, each run guarded by its lease: a run
    that is no longer ours drops out, silently. Whatever breaks a transaction of several steps rolls
    it back; then each run goes alone, one step at a time. One that cannot in a hurry comes back as
    it is, `needs_time`: it has to be taken by itself, where it holds nobody up.

    Raises:
        sqlalchemy.exc.SQLAlchemyError: the database is out of reach; the leases run out and the
            sweep brings the runs back.

    """
    if len(runs) == 1 and not _may_go_on(runs[0]):
        return _take_patiently(context, runs[0])
    return _take_hurried(context, runs)


def _take_hurried(context: Context, runs: Sequence[RunProgress]) -> list[RunProgress]:
    """Take steps that must not hold each other up.

    After a doubtful commit each run is read again: a failure written over a step that did commit
    would make it run again.
    """
    tries = _prepare(context, runs)
    if not tries:
        return []
    bounds = _hurried(runs)
    try:
        return _take_together(context, tries, bounds, limits.GROUP_LOCK_TIMEOUT_MS)
    except Exception as error:  # noqa: BLE001  # whatever it is, it comes back where it is alone
        # Its code only: Postgres repeats the row that it refuses.
        code = classify_error(error).code
        _log.info("group goes one by one", extra={"runs": len(tries), "code": code})
        doubtful = lost_connection(error)
        # Where one is slow, trying each in turn could take longer than the worker has.
        in_turn = len(tries) > 1 and not bounds.are_over
    going_on: list[RunProgress] = []
    for item in tries:
        present = refresh(context, item.progress) if doubtful else item.progress
        if present is None:
            continue
        if present.index != item.progress.index:
            going_on.append(present)
            continue
        present.one_by_one = True
        if in_turn:
            going_on += _take_hurried(context, [present])
        else:
            present.needs_time = True
            going_on.append(present)
    return going_on


def _take_patiently(context: Context, progress: RunProgress) -> list[RunProgress]:
    """Take one step, for which there is all the time that its action has."""
    tries = _prepare(context, [progress])
    if not tries:
        return []
    bounds = Bounds(progress.action.timeout_s)
    try:
        return _take_together(context, tries, bounds, limits.LOCK_TIMEOUT_MS)
    except Exception as error:  # noqa: BLE001  # whatever it is, it is classified
        return _take_failed(context, progress, error)


def _hurried(runs: Sequence[RunProgress]) -> Bounds:
    return Bounds(min(limits.GROUP_TIMEOUT_S, *(run.action.timeout_s for run in runs)))


def _may_go_on(progress: RunProgress) -> bool:
    following = progress.actions[progress.index + 1 : progress.index + 2]
    bounds = _hurried([progress])
    return not progress.one_by_one and any(bounds.hold(action) for action in following)


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
    commit(context, [_failed(context, progress, error)])
    return []


def _prepare(context: Context, runs: Sequence[RunProgress]) -> list[Try]:
    """Return what is to be tried; a step that cannot even be prepared has failed."""
    tries: list[Try] = []
    refusals: list[Settlement] = []
    for progress in runs:
        if progress.has_waited:
            tries.append(Try(progress, None))
            continue
        try:
            if tells_people(progress.action.type) and may_need_secrets(progress):
                reveal_secrets(context, progress)
            tries.append(Try(progress, prepare_step(progress, context.settings)))
        except Exception as error:  # noqa: BLE001  # whatever it is, it is classified
            refusals.append(_failed(context, progress, error))
    commit(context, refusals)
    return tries


def _failed(context: Context, progress: RunProgress, error: Exception) -> Settlement:
    _count(context, [progress.action.type], "failed")
    return step_failed(progress, error, max_retries=context.settings.max_retries)


def _take_together(
    context: Context, tries: Sequence[Try], bounds: Bounds, lock_timeout_ms: int
) -> list[RunProgress]:
    try:
        taken = context.database.transact(
            lambda connection: take_steps(connection, tries, context.settings, bounds),
            lock_timeout_ms=lock_timeout_ms,
            statement_timeout_ms=round(bounds.timeout_s * 1000),
        )
    except Exception as error:
        if bounds.are_over and not lost_connection(error):
            # The server stopped the statement that was still running when the time was up.
            raise ActionTimeoutError("the step took longer than its timeout") from error
        raise
    send_after_commit(context, taken.settlements, taken.moved, taken.events)
    moved = [course for course in taken.courses if course.progress.id in taken.moved]
    _count(context, (type_ for course in taken.courses for type_ in course.failed), "failed")
    _count(context, (type_ for course in moved for type_ in course.succeeded), "succeeded")
    return [course.progress for course in moved if course.goes_on]


def _count(context: Context, types: Iterable[ActionType], outcome: str) -> None:
    for action_type, n in Counter(types).items():
        context.metrics.count("automations.actions", n, type=action_type.value, outcome=outcome)
