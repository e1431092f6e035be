"""Taking runs that nobody works on, in order to end them, and marking those that are at work."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.domain import json_text, limits
from whenthen.domain.kinds import RunStatus
from whenthen.domain.rules.log_lines import LogLine


def seize(connection: Connection, run_ids: Sequence[UUID], lease: UUID) -> frozenset[UUID]:
    """Hold those of `run_ids` that are PENDING under `lease`, to be settled in this transaction.

    Waits for a claim that is under way; a run that it took is then no longer PENDING and is left
    out of the answer.
    """
    rows = connection.execute(
        _SEIZE, {"ids": list(run_ids), "lease": lease, "lease_s": limits.LEASE_RENEWAL_S}
    )
    return frozenset(row.id for row in rows)


_SEIZE = text(
    """
    with waiting as (
        select id from automation_runs
        where id = any(cast(:ids as uuid[])) and status = 'PENDING'
        order by id
        for update
    )
    update automation_runs r
    set status = 'RUNNING', lease_token = cast(:lease as uuid),
        lease_expires_at = whenthen_now() + interval '1 second' * cast(:lease_s as integer)
    from waiting where r.id = waiting.id
    returning r.id
    """
)


@dataclass(frozen=True, slots=True)
class Marked:
    """A run's status, and whether it was marked just now: not if it had been, or has ended."""

    status: RunStatus
    is_new: bool


def mark_cancelled(
    connection: Connection, automation_id: UUID, run_id: UUID, user_id: UUID, line: LogLine
) -> Marked | None:
    """Note that a person cancelled a run that has not ended; None if there is no such run.

    A second cancel changes nothing and logs nothing.
    """
    row = connection.execute(
        _MARK,
        {
            "run": run_id,
            "automation": automation_id,
            "user": user_id,
            "level": line.level,
            "message": line.message,
            "data": json_text.dumps(line.data),
        },
    ).one_or_none()
    return Marked(RunStatus(row.status), row.is_new) if row else None


_MARK = text(
    """
    with run as (
        select id, status, cancelled_by from automation_runs
        where id = cast(:run as uuid) and automation_id = cast(:automation as uuid)
        for update
    ),
    marked as (
        update automation_runs r set cancelled_by = cast(:user as uuid)
        from run
        where r.id = run.id and run.status in ('PENDING', 'RUNNING') and run.cancelled_by is null
        returning r.id
    ),
    line as (
        insert into automation_logs (run_id, level, message, data)
        select id, cast(:level as text), cast(:message as text), cast(:data as jsonb) from marked
    )
    select status, exists (select from marked) as is_new from run
    """
)
