"""The one active run of each schedule whose runs may not overlap."""

from collections.abc import Mapping
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.domain import json_text


def take(connection: Connection, schedule_id: UUID, run_id: UUID) -> bool:
    """Make the run its schedule's active one, from now to its end; False if another one is.

    A run that waits (for another try, in a DELAY, for its worker's lease to end) is active still.
    A schedule that is gone, or that lets runs overlap by now, stands in nobody's way.
    """
    if not connection.execute(_LOCK, {"schedule": schedule_id}).all():
        return True
    return connection.execute(_TAKE, {"schedule": schedule_id, "run": run_id}).rowcount == 1


# The lock comes first, so that the statement behind it sees how the present active run stands now:
# one statement alone, having waited for the row, would look at runs as they were before it waited.
_LOCK = text("select 1 from schedules where id = :schedule and overlap = 'skip' for no key update")
_TAKE = text(
    """
    update schedules s set active_run_id = :run
    where s.id = :schedule and (s.active_run_id is null or s.active_run_id = :run
        or not exists (select 1 from automation_runs r
            where r.id = s.active_run_id and r.status in ('PENDING', 'RUNNING')))
    """
)


def free(connection: Connection, runs: Mapping[UUID, UUID]) -> None:
    """Take runs that have ended off their schedules; `runs` are schedules by run.

    Rows that a tick or an edit holds are passed over, since an end must not wait for them: `take`
    looks at how the active run stands.
    """
    if runs:
        rows = [{"run_id": str(run), "schedule_id": str(at)} for run, at in runs.items()]
        connection.execute(_FREE, {"runs": json_text.dumps(rows)})


_FREE = text(
    """
    with ended as (
        select s.id
        from jsonb_to_recordset(cast(:runs as jsonb)) as n(run_id uuid, schedule_id uuid)
        join schedules s on s.id = n.schedule_id and s.active_run_id = n.run_id
        order by s.id
        for update of s skip locked
    )
    update schedules s set active_run_id = null from ended where s.id = ended.id
    """
)
