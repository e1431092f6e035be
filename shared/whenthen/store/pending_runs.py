"""The runs that wait for a message, as a stack finds them that starts with an empty queue."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection


@dataclass(frozen=True, slots=True)
class PendingRun:
    """A run that waits for a message; `delay_s` is until it is due, never negative."""

    run_id: UUID
    workspace_id: UUID
    delay_s: float


def pending_runs(connection: Connection, after: UUID | None, limit: int) -> Sequence[PendingRun]:
    """Return up to `limit` PENDING runs with an id above `after`, in the order of their ids."""
    rows = connection.execute(_PENDING_RUNS, {"after": after, "limit": limit}).mappings()
    return [PendingRun(**row) for row in rows]


_PENDING_RUNS = text(
    """
    select id as run_id, workspace_id,
        cast(greatest(extract(epoch from due_at - whenthen_now()), 0) as float8) as delay_s
    from automation_runs
    where status = 'PENDING' and enqueue_after is not null
        and (cast(:after as uuid) is null or id > cast(:after as uuid))
    order by id limit cast(:limit as integer)
    """
)
