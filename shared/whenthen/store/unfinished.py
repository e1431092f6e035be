"""What a stack that was killed left unfinished: unmatched events, runs without a worker."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.store.outbox import OutboxEvent


@dataclass(frozen=True, slots=True)
class PendingRun:
    """A run that waits for a message; `delay_s` is until it is due, never negative."""

    run_id: UUID
    workspace_id: UUID
    delay_s: float


def void_leases(connection: Connection) -> int:
    """Give every RUNNING run back, nothing counted: its worker is known to be gone.

    The interrupted attempt is taken off its step's row again. Returns how many runs; a second call
    finds none.
    """
    return int(connection.execute(_VOID_LEASES).scalar_one())


_VOID_LEASES = text(
    """
    with voided as (
        update automation_runs
        set status = 'PENDING', lease_token = null, lease_expires_at = null,
            enqueue_after = whenthen_now() + interval '60 seconds'
        where status = 'RUNNING'
        returning id, generation
    ),
    lowered as (
        update automation_run_steps s set attempts = s.attempts - 1
        from voided v
        where s.run_id = v.id and s.generation = v.generation
            and s.status = 'STARTED' and s.attempts > 1
    ),
    removed as (
        delete from automation_run_steps s using voided v
        where s.run_id = v.id and s.generation = v.generation
            and s.status = 'STARTED' and s.attempts <= 1
    )
    select count(*) from voided
    """
)


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


def unmatched_events(
    connection: Connection, after: UUID | None, limit: int
) -> Sequence[OutboxEvent]:
    """Return up to `limit` events of the outbox with an id above `after`, in order."""
    rows = connection.execute(_UNMATCHED_EVENTS, {"after": after, "limit": limit}).mappings()
    return [OutboxEvent(**row) for row in rows]


_UNMATCHED_EVENTS = text(
    """
    select id, workspace_id, event_id, type, payload, automation_context, occurred_at
    from outbox
    where cast(:after as uuid) is null or id > cast(:after as uuid)
    order by id limit cast(:limit as integer)
    """
)
