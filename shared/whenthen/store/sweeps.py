"""The rows whose own wake-up has come: taken in batches, each by one sweep at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.domain import json_text, limits
from whenthen.domain.kinds import RunStatus
from whenthen.domain.rules.log_lines import LogLine
from whenthen.store.outbox import OutboxEvent


@dataclass(frozen=True, slots=True)
class WokenRun:
    """A run whose wake-up has come, its row locked until commit."""

    id: UUID
    workspace_id: UUID
    status: RunStatus
    due_in_s: float
    # Negative once the lease has run out; None without one.
    lease_left_s: float | None
    lease_token: UUID | None
    # Deaths so far, and up to which of them the notices are out.
    deaths: int
    notified_death: int


@dataclass(frozen=True, slots=True)
class Postponed:
    """When a woken row looks again (None: never), and what its log says of it, if anything."""

    run_id: UUID
    wake_in_s: float | None
    line: LogLine | None = None


def take_woken(connection: Connection, limit: int) -> list[WokenRun]:
    """Return up to `limit` woken runs, longest awake first; rows held elsewhere are left."""
    rows = connection.execute(_TAKE, {"limit": limit}).mappings()
    return [WokenRun(**{**row, "status": RunStatus(row["status"])}) for row in rows]


_TAKE = text(
    """
    select id, workspace_id, status,
        cast(extract(epoch from due_at - whenthen_now()) as float8) as due_in_s,
        cast(extract(epoch from lease_expires_at - whenthen_now()) as float8) as lease_left_s,
        lease_token, deaths, notified_death
    from automation_runs
    where enqueue_after <= whenthen_now()
    order by enqueue_after
    limit cast(:limit as integer)
    for update skip locked
    """
)


def postpone(connection: Connection, rows: Sequence[Postponed]) -> None:
    """Set the next wake-up of rows that the caller has taken, and log what there is to tell."""
    if not rows:
        return
    connection.execute(
        _POSTPONE,
        {
            "rows": json_text.dumps(
                [
                    {
                        "run_id": str(row.run_id),
                        "wake_in_s": row.wake_in_s,
                        "level": row.line.level if row.line else None,
                        "message": row.line.message if row.line else None,
                    }
                    for row in rows
                ]
            )
        },
    )


_POSTPONE = text(
    """
    with later as materialized (
        select * from jsonb_to_recordset(cast(:rows as jsonb))
            as l(run_id uuid, wake_in_s float8, level text, message text)
    ),
    line as (
        insert into automation_logs (run_id, level, message)
        select run_id, level, message from later where message is not null
    )
    update automation_runs r
    set enqueue_after = whenthen_now() + interval '1 second' * later.wake_in_s
    from later where r.id = later.run_id
    """
)


def take_unmatched(connection: Connection, limit: int) -> list[OutboxEvent]:
    """Return up to `limit` events whose relay is due, each postponed: 15 min, 30 min … 6 h.

    The spacing grows, so that a matcher that lags is not flooded with what it has yet to read.
    """
    rows = connection.execute(
        _TAKE_UNMATCHED,
        {"limit": limit, "again_s": limits.RELAY_AGAIN_S, "cap_s": limits.RELAY_CAP_S},
    ).mappings()
    return [OutboxEvent(**row) for row in rows]


_TAKE_UNMATCHED = text(
    """
    with due as (
        select id from outbox where relay_at <= whenthen_now()
        order by relay_at limit cast(:limit as integer)
        for update skip locked
    )
    update outbox o
    set attempts = o.attempts + 1,
        relay_at = whenthen_now() + interval '1 second'
            * least(cast(:cap_s as float8),
                cast(:again_s as float8) * power(2, least(o.attempts, 20)))
    from due where o.id = due.id
    returning o.id, o.workspace_id, o.event_id, o.type, o.payload, o.automation_context,
        o.occurred_at, o.actor_id
    """
)


def void_all(connection: Connection) -> int:
    """Give every RUNNING run back and wake every PENDING row and event now; return how many runs.

    For when every worker is known to be gone. Nothing is counted: the interrupted attempt comes
    off its step again, and `due_at` stays, so backoffs, DELAYs and schedules keep their time.
    """
    return int(connection.execute(_VOID_ALL).scalar_one())


_VOID_ALL = text(
    """
    with voided as (
        update automation_runs
        set status = 'PENDING', lease_token = null, lease_expires_at = null,
            enqueue_after = whenthen_now()
        where status = 'RUNNING'
        returning id, generation
    ),
    lowered as (
        update automation_run_steps s set attempts = s.attempts - 1, status = 'FAILED'
        from voided v
        where s.run_id = v.id and s.generation = v.generation
            and s.status = 'STARTED' and s.attempts > 1
    ),
    removed as (
        delete from automation_run_steps s using voided v
        where s.run_id = v.id and s.generation = v.generation
            and s.status = 'STARTED' and s.attempts <= 1
    ),
    woken as (
        update automation_runs set enqueue_after = whenthen_now()
        where status = 'PENDING' and enqueue_after > whenthen_now()
            and due_at <= whenthen_now() + interval '900 seconds'
    ),
    relayed as (
        update outbox set relay_at = whenthen_now() where relay_at > whenthen_now()
    )
    select count(*) from voided
    """
)
