"""The deaths of runs: which are not announced yet, and what they say."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection


@dataclass(frozen=True, slots=True)
class Death:
    """One death as its log line tells it; the row may have moved on since."""

    run_id: UUID
    workspace_id: UUID
    automation_id: UUID
    automation_name: str
    # As `log_lines.run_dead_lettered` wrote it: death, code, message, attempts.
    story: Mapping[str, Any]


def announce(connection: Connection, run_id: UUID, death: int) -> Death | None:
    """Mark the death as announced and return it; None if it was already, or never was.

    Deaths are announced in their order: one that overtook an older one is None too, and the sweep
    sends both again. The row's wake-up ends with its last death, unless the run was brought back
    meanwhile and has another.
    """
    row = connection.execute(_ANNOUNCE, {"run": run_id, "death": death}).mappings().one_or_none()
    return Death(**row) if row else None


_ANNOUNCE = text(
    """
    with announced as (
        update automation_runs r
        set notified_death = cast(:death as integer),
            enqueue_after = case
                when r.status not in ('PENDING', 'RUNNING')
                    and r.deaths = cast(:death as integer) then null
                else r.enqueue_after end
        where r.id = cast(:run as uuid) and r.deaths >= cast(:death as integer)
            and r.notified_death = cast(:death as integer) - 1
        returning r.id, r.workspace_id, r.automation_id
    )
    select d.id as run_id, d.workspace_id, d.automation_id, a.name as automation_name,
        l.data as story
    from announced d
    join automations a on a.id = d.automation_id
    join automation_logs l on l.run_id = d.id and l.message = 'run dead-lettered'
        and l.data -> 'death' = to_jsonb(cast(:death as integer))
    """
)


def wake(connection: Connection, run_ids: list[UUID]) -> int:
    """Let those of `run_ids` wake now that wait, or whose lease has run out; return how many.

    For messages that the queue gave up on: the row, not the message, decides what becomes of it.
    """
    return int(connection.execute(_WAKE, {"ids": run_ids}).rowcount)


_WAKE = text(
    """
    update automation_runs r set enqueue_after = whenthen_now()
    from (
        select id from automation_runs
        where id = any(cast(:ids as uuid[]))
            and (status = 'PENDING' and due_at <= whenthen_now()
                or status = 'RUNNING' and lease_expires_at < whenthen_now())
        order by id
        for update skip locked
    ) found
    where r.id = found.id
    """
)
