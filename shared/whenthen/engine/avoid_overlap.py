"""Keeps the runs of one schedule apart where they may not overlap."""

from whenthen.engine.context import Context
from whenthen.store import active_runs
from whenthen.store.run_claims import ClaimedRun

# Who holds a schedule's row for longer is a tick with much to do; the run comes again.
_LOCK_WAIT_MS = 1_000


def overlaps(context: Context, run: ClaimedRun) -> bool:
    """Return whether another run of the run's schedule is at work and that may not be.

    If not, this one is the active one until it ends, through retries, delays and crashes. Costs a
    transaction only for runs of such schedules that are not active yet.

    Raises:
        sqlalchemy.exc.SQLAlchemyError: it cannot be found out now.

    """
    schedule_id = run.overlap_schedule_id
    if schedule_id is None or run.is_active_run:
        return False
    return not context.database.transact(
        lambda connection: active_runs.take(connection, schedule_id, run.id),
        lock_timeout_ms=_LOCK_WAIT_MS,
    )
