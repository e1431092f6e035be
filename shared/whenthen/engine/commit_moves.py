"""Commits settlements, and only then sends what follows from them: messages and events."""

import logging
from collections.abc import Sequence
from uuid import UUID

from whenthen.aws.run_queue import QueuedRun
from whenthen.domain.kinds import RunStatus
from whenthen.domain.rules.classify import classify_error
from whenthen.domain.rules.wake_up import pending_wake
from whenthen.domain.schemas.notices import DeathNotice
from whenthen.engine.context import Context
from whenthen.engine.publish import publish
from whenthen.engine.run_progress import RunProgress, resume
from whenthen.engine.send import send_notices, send_runs
from whenthen.store.outbox import OutboxEvent
from whenthen.store.run_claims import read_again
from whenthen.store.run_settlements import Settlement, settle

_log = logging.getLogger("whenthen.execute")


def commit(context: Context, settlements: Sequence[Settlement]) -> frozenset[UUID]:
    """Carry out `settlements` in one transaction and send what follows; return the runs moved.

    None of them may leave its run RUNNING: then, when the connection breaks at COMMIT, they are
    carried out once more, and move nothing if they had been committed.
    """
    if not settlements:
        return frozenset()
    moved, events = _settled(context, settlements)
    send_after_commit(context, settlements, moved, events)
    return moved


def _settled(
    context: Context, settlements: Sequence[Settlement]
) -> tuple[frozenset[UUID], list[OutboxEvent]]:
    try:
        return context.database.transact(lambda connection: settle(connection, settlements))
    except Exception as error:
        if not lost_connection(error):
            raise
        _log.warning("settlements broke off", extra={"runs": len(settlements)})
    return context.database.transact(lambda connection: settle(connection, settlements))


def send_after_commit(
    context: Context,
    settlements: Sequence[Settlement],
    moved: frozenset[UUID],
    events: Sequence[OutboxEvent],
) -> None:
    """Publish `events`; send a message for every moved run that waits, a notice for each dead one.

    Raises nothing: the outbox and the rows' own wake-ups stand behind all three.
    """
    publish(context, events)
    messages: list[QueuedRun] = []
    notices: list[DeathNotice] = []
    for settlement in settlements:
        if settlement.run_id not in moved:
            continue
        if settlement.status == RunStatus.PENDING:
            delay_s = pending_wake(settlement.due_in_s or 0).send_delay_s
            if delay_s is not None:
                messages.append(QueuedRun(settlement.run_id, settlement.workspace_id, delay_s))
        elif settlement.death is not None:
            notices.append(DeathNotice(settlement.run_id, settlement.death))
    send_runs(context, messages)
    send_notices(context, notices)


def lost_connection(error: BaseException) -> bool:
    """Return whether `error` leaves it open what the database did last."""
    code = classify_error(error).code
    return code in {"DB_CONNECTION_LOST", "DB_TRANSIENT_57P01"} or code.startswith("NET_")


def refresh(context: Context, progress: RunProgress) -> RunProgress | None:
    """Return the run's progress as the database has it now; None when it is ours no more.

    Asked after a connection broke at COMMIT: a failure written over a step that did commit would
    make a finished step run again.
    """
    run = context.database.transact(
        lambda connection: read_again(connection, progress.id, progress.lease)
    )
    if run is None:
        _log.info("run is no longer ours", extra={"run_id": str(progress.id)})
        return None
    return resume(progress, run)
