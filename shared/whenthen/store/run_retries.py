"""Runs that people bring back: the manual retry of one, the redrive of many."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.domain import json_text, limits
from whenthen.domain.kinds import AutomationStatus, RunStatus
from whenthen.domain.rules.log_lines import LogLine
from whenthen.domain.rules.retry_point import RetryPlan


@dataclass(frozen=True, slots=True)
class EndedRun:
    """A run as its manual retry finds it, its row locked."""

    id: UUID
    workspace_id: UUID
    status: RunStatus
    automation_status: AutomationStatus
    version: int
    pinned: Sequence[UUID]
    latest_version: int
    latest: Sequence[UUID]
    # Actions with a SUCCEEDED step in the present generation.
    finished: frozenset[UUID]


def lock_run(connection: Connection, automation_id: UUID, run_id: UUID) -> EndedRun | None:
    """Return the run of that automation with its row locked until commit; None if there is none."""
    values = {"run": run_id, "automation": automation_id}
    if connection.execute(_LOCK, values).one_or_none() is None:
        return None
    row = connection.execute(_READ, values).mappings().one()
    return EndedRun(
        id=row["id"],
        workspace_id=row["workspace_id"],
        status=RunStatus(row["status"]),
        automation_status=AutomationStatus(row["automation_status"]),
        version=row["version"],
        pinned=[UUID(action["id"]) for action in row["pinned"]],
        latest_version=row["latest_version"],
        latest=[UUID(action["id"]) for action in row["latest"]],
        finished=frozenset(UUID(action_id) for action_id in row["finished"]),
    )


# Locked first and read by a second statement, which sees what the lock waited for.
_LOCK = text(
    """
    select id from automation_runs
    where id = cast(:run as uuid) and automation_id = cast(:automation as uuid)
    for update
    """
)
_READ = text(
    """
    select r.id, r.workspace_id, r.status, a.status as automation_status, r.version,
        v.actions as pinned, a.version as latest_version, newest.actions as latest,
        (select coalesce(jsonb_agg(s.action_id), '[]') from automation_run_steps s
         where s.run_id = r.id and s.generation = r.generation and s.status = 'SUCCEEDED'
        ) as finished
    from automation_runs r
    join automations a on a.id = r.automation_id
    join automation_versions v on v.automation_id = r.automation_id and v.version = r.version
    join automation_versions newest
        on newest.automation_id = r.automation_id and newest.version = a.version
    where r.id = cast(:run as uuid)
    """
)


def bring_back(
    connection: Connection, run: EndedRun, version: int, plan: RetryPlan, line: LogLine
) -> bool:
    """Make an ended run PENDING again as `plan` says; False if it is not FAILED or DEAD_LETTER.

    Counters, error, output and times are cleared, a cancel too; attempts of unfinished steps are
    0 again, and finished steps stay finished.
    """
    moved = connection.execute(
        _BRING_BACK,
        {
            "run": run.id,
            "version": version,
            "point": plan.point,
            "new_generation": plan.new_generation,
            "wake_in_s": limits.WAKE_MARGIN_S,
            "level": line.level,
            "message": line.message,
            "data": json_text.dumps(line.data),
        },
    )
    return bool(moved.scalar_one())


_CLEARED = """
    status = 'PENDING', retry_count = 0, crash_count = 0, forced = true, cancelled_by = null,
    output = null, error = null, started_at = null, finished_at = null
"""
_BRING_BACK = text(
    f"""
    with moved as (
        update automation_runs r
        set {_CLEARED}, version = cast(:version as integer),
            next_action = cast(:point as integer),
            generation = r.generation + cast(cast(:new_generation as boolean) as integer),
            due_at = whenthen_now(),
            enqueue_after = whenthen_now() + interval '1 second' * cast(:wake_in_s as integer)
        where r.id = cast(:run as uuid) and r.status in ('FAILED', 'DEAD_LETTER')
        returning r.id, r.generation
    ),
    carried as (
        insert into automation_run_steps (run_id, generation, action_id, index, type, status,
            attempts, output, error, ms, resume_at, started_at, finished_at)
        select s.run_id, moved.generation, s.action_id, s.index, s.type, s.status, s.attempts,
            s.output, s.error, s.ms, s.resume_at, s.started_at, s.finished_at
        from moved join automation_run_steps s
            on s.run_id = moved.id and s.generation = moved.generation - 1
        where cast(:new_generation as boolean) and s.status = 'SUCCEEDED'
            and s.index < cast(:point as integer)
    ),
    reset as (
        update automation_run_steps s set attempts = 0
        from moved
        where not cast(:new_generation as boolean) and s.run_id = moved.id
            and s.generation = moved.generation and s.status <> 'SUCCEEDED'
    ),
    line as (
        insert into automation_logs (run_id, level, message, data)
        select id, cast(:level as text), cast(:message as text), cast(:data as jsonb) from moved
    )
    select count(*) from moved
    """  # noqa: S608  # only constants of this module
)


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs of a workspace a redrive means; None does not narrow."""

    workspace_id: UUID
    status: RunStatus | None = None
    automation_id: UUID | None = None
    record_id: str | None = None
    created_from: datetime | None = None
    created_to: datetime | None = None


def count_redrivable(connection: Connection, wanted: RunFilter, most: int) -> int:
    """Return how many runs `redrive` would bring back, at most `most`."""
    found = connection.execute(_COUNT, _filter_values(wanted) | {"most": most})
    return int(found.scalar_one())


def redrive(
    connection: Connection, wanted: RunFilter, line: LogLine, *, most: int, per_second: int
) -> int:
    """Bring back up to `most` FAILED and DEAD_LETTER runs, oldest first, and return how many.

    Each goes on from its failed step. They become due one after the other, `per_second` of them
    each second, and each row wakes itself when it is due: no message is sent here. Rows that
    somebody else holds, and runs of archived automations, are passed over.
    """
    moved = connection.execute(
        _REDRIVE,
        _filter_values(wanted)
        | {
            "most": most,
            "per_second": per_second,
            "level": line.level,
            "message": line.message,
            "data": json_text.dumps(line.data),
        },
    )
    return int(moved.scalar_one())


_WANTED = """
    from automation_runs r join automations a on a.id = r.automation_id
    where r.workspace_id = cast(:workspace as uuid) and a.status <> 'ARCHIVED'
        and r.status in ('FAILED', 'DEAD_LETTER')
        and (cast(:status as text) is null or r.status = cast(:status as text))
        and (cast(:automation as uuid) is null or r.automation_id = cast(:automation as uuid))
        and (cast(:record as text) is null or r.record_id = cast(:record as text))
        and (cast(:from as timestamptz) is null or r.created_at >= cast(:from as timestamptz))
        and (cast(:to as timestamptz) is null or r.created_at < cast(:to as timestamptz))
"""
_COUNT = text(
    f"select count(*) from (select 1 {_WANTED} limit cast(:most as integer)) wanted"  # noqa: S608
)
_REDRIVE = text(
    f"""
    with wanted as (
        select r.id {_WANTED}
        order by r.id limit cast(:most as integer)
        for update of r skip locked
    ),
    paced as (
        select id, (row_number() over (order by id) - 1) / cast(:per_second as float8) as wait_s
        from wanted
    ),
    moved as (
        update automation_runs r
        set {_CLEARED}, due_at = whenthen_now() + interval '1 second' * paced.wait_s,
            enqueue_after = whenthen_now() + interval '1 second' * paced.wait_s
        from paced where r.id = paced.id
        returning r.id, r.generation
    ),
    reset as (
        update automation_run_steps s set attempts = 0
        from moved
        where s.run_id = moved.id and s.generation = moved.generation and s.status <> 'SUCCEEDED'
    ),
    line as (
        insert into automation_logs (run_id, level, message, data)
        select id, cast(:level as text), cast(:message as text), cast(:data as jsonb) from moved
    )
    select count(*) from moved
    """  # noqa: S608  # only constants of this module
)


def _filter_values(wanted: RunFilter) -> dict[str, object]:
    return {
        "workspace": wanted.workspace_id,
        "status": wanted.status.value if wanted.status else None,
        "automation": wanted.automation_id,
        "record": wanted.record_id,
        "from": wanted.created_from,
        "to": wanted.created_to,
    }
