"""Claiming runs: one statement takes the right to act on them, a second one reads them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.engine import Connection

from whenthen.domain import limits
from whenthen.domain.kinds import AutomationStatus, RunStatus, StepStatus
from whenthen.store.prepared import prepared, rows_together


@dataclass(frozen=True, slots=True)
class StepRow:
    """The checkpoint of one action in the run's present generation."""

    action_id: UUID
    status: StepStatus
    attempts: int
    output: Mapping[str, Any] | None
    ms: int | None


@dataclass(frozen=True, slots=True)
class ClaimedRun:
    """Everything that executing one run needs, read in one statement after its claim."""

    id: UUID
    automation_id: UUID
    version: int
    workspace_id: UUID
    workspace_name: str
    event_id: str
    trigger_type: str
    record_id: str | None
    input: Mapping[str, Any]
    depth: int
    root_run_id: UUID
    parent_run_id: UUID | None
    chain: Sequence[str]
    retry_count: int
    crash_count: int
    generation: int
    next_action: int
    forced: bool
    cancelled_by: UUID | None
    # The user behind the run's event, where there is one.
    actor_id: UUID | None
    deaths: int
    created_at: datetime
    started_at: datetime
    # Milliseconds since `started_at`, by the database's clock.
    elapsed_ms: int
    # The definition that the run is pinned to; `definition_schema` may be newer than this code.
    definition_schema: int
    automation_name: str
    actions: Sequence[Mapping[str, Any]]
    condition: Mapping[str, Any] | None
    automation_status: AutomationStatus
    steps: Sequence[StepRow]
    # The record that the event names, as it is now; null when there is none (any more).
    record_database_id: UUID | None
    record_properties: Mapping[str, Any] | None
    # The schema of the event's database, for the types of a condition's properties.
    database_schema: Sequence[Mapping[str, Any]]
    # The schedule that the run was made by, if its runs may not overlap, and whether it is the one
    # that may be at work.
    overlap_schedule_id: UUID | None = None
    is_active_run: bool = False


@dataclass(frozen=True, slots=True)
class WaitingRun:
    """A run of the batch that is PENDING but not due for `due_in_s` seconds yet."""

    id: UUID
    workspace_id: UUID
    due_in_s: float


# In one round trip.
CLAIM_STATEMENTS = 2


def claim(
    connection: Connection, run_ids: Sequence[UUID], lease: UUID, lease_s: float
) -> tuple[list[ClaimedRun], list[WaitingRun]]:
    """Take those of `run_ids` that are PENDING and due; return them, and those not due yet.

    The claim sets `lease` and its expiry, logs `run started`, and counts the attempt of the run's
    next action on that step's row, before any user work: a payload that kills the process is
    counted. Rows that somebody else holds are passed over; a run is claimed by one caller only.
    They are read by a second statement of the same round trip: inside the first it would see steps
    from before a concurrent commit, and finished steps would run again (measured).
    """
    values = {
        "ids": list(run_ids),
        "lease": lease,
        "lease_s": lease_s,
        "wake_s": lease_s + limits.LEASE_WAKE_MARGIN_S,
        "tolerance_s": limits.DUE_TOLERANCE_S,
    }
    claimed, rows = rows_together(connection, (_CLAIM, values), (_READ, values))
    return _read(rows, frozenset(row["id"] for row in claimed))


# `next_action` is a column that step transactions move on: reading the step rows here would see
# them as they were before a concurrent step transaction committed, and try a finished step again
# (measured). Finished and waiting rows stay as they are.
_CLAIM = prepared(
    """
    with due as (
        select id from automation_runs
        where id = any(cast(:ids as uuid[])) and (status = 'PENDING') is true
            and due_at <= whenthen_now() + interval '1 second' * cast(:tolerance_s as float8)
        order by id
        for update skip locked
    ),
    claimed as (
        update automation_runs r
        set status = 'RUNNING', lease_token = cast(:lease as uuid),
            lease_expires_at = whenthen_now() + interval '1 second' * cast(:lease_s as float8),
            enqueue_after = whenthen_now() + interval '1 second' * cast(:wake_s as float8),
            started_at = coalesce(r.started_at, whenthen_now())
        from due where r.id = due.id
        returning r.id, r.automation_id, r.version, r.generation, r.next_action, r.retry_count
    ),
    step as (
        insert into automation_run_steps as s
            (run_id, generation, action_id, index, type, status, attempts)
        select c.id, c.generation, cast(a.action ->> 'id' as uuid), c.next_action,
            a.action ->> 'type', 'STARTED', 1
        from claimed c
        join automation_versions v using (automation_id, version),
            lateral (select v.actions -> c.next_action as action) a
        where a.action is not null
        order by c.id
        on conflict (run_id, generation, action_id) do update
            set status = 'STARTED', attempts = s.attempts + 1, error = null,
                started_at = whenthen_now(), finished_at = null
            where s.status not in ('SUCCEEDED', 'WAITING')
    ),
    line as (
        insert into automation_logs (run_id, level, message, data)
        select id, 'info', 'run started', jsonb_build_object('attempt', retry_count + 1)
        from claimed
    )
    select id from claimed
    """
)


def read(
    connection: Connection, run_ids: Sequence[UUID], claimed: frozenset[UUID]
) -> tuple[list[ClaimedRun], list[WaitingRun]]:
    """Return the `claimed` runs whole, and those of `run_ids` that are not due yet."""
    return _read(_READ.rows(connection, {"ids": list(run_ids)}), claimed)


def _read(
    rows: Sequence[Mapping[str, Any]], claimed: frozenset[UUID]
) -> tuple[list[ClaimedRun], list[WaitingRun]]:
    runs = [_claimed(row) for row in rows if row["id"] in claimed]
    waiting = [
        WaitingRun(row["id"], row["workspace_id"], float(row["due_in_s"]))
        for row in rows
        if row["id"] not in claimed and row["status"] == RunStatus.PENDING and row["due_in_s"] > 0
    ]
    return runs, waiting


def read_again(connection: Connection, run_id: UUID, lease: UUID) -> ClaimedRun | None:
    """Return the run as it is now if it is still RUNNING under `lease`, else None.

    What a worker asks when its connection broke at COMMIT: the step may have been committed, and
    a failure written over it would undo what is done.
    """
    for row in _READ.rows(connection, {"ids": [run_id]}):
        if row["status"] == RunStatus.RUNNING and row["lease_token"] == lease:
            return _claimed(row)
    return None


# An event's record id is text from outside; only one that has the form of an id is looked up. To an
# automation that is scoped to a database, a record of another one does not exist: else whoever may
# edit the automations of one database would reach every record by a webhook or a manual run.
_ID_FORM = "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"
_READ = prepared(
    f"""
    select r.id, r.automation_id, r.version, r.workspace_id, w.name as workspace_name, r.event_id,
        r.trigger_type, case when not scope.is_outside then r.record_id end as record_id, r.input,
        r.depth, r.root_run_id, r.parent_run_id, r.chain,
        r.retry_count, r.crash_count, r.generation, r.next_action, r.forced, r.cancelled_by,
        r.actor_id, r.deaths, r.created_at, coalesce(r.started_at, whenthen_now()) as started_at,
        r.status, r.lease_token,
        cast(coalesce(extract(epoch from whenthen_now() - r.started_at), 0) * 1000 as bigint)
            as elapsed_ms,
        extract(epoch from r.due_at - whenthen_now()) as due_in_s,
        v.schema as definition_schema, v.name as automation_name, v.actions, v.condition,
        a.status as automation_status, s.steps,
        case when not scope.is_outside then rec.database_id end as record_database_id,
        case when not scope.is_outside then rec.properties end as record_properties,
        coalesce(d.properties, '[]') as database_schema, sch.id as overlap_schedule_id,
        coalesce(sch.active_run_id = r.id, false) as is_active_run
    from automation_runs r
    join automation_versions v using (automation_id, version)
    join automations a on a.id = r.automation_id
    join workspaces w on w.id = r.workspace_id
    left join schedules sch on sch.id = r.schedule_id and sch.overlap = 'skip'
    left join records rec on rec.workspace_id = r.workspace_id
        and rec.id = case when r.record_id ~ '{_ID_FORM}'
            then cast(r.record_id as uuid) end
    left join databases d on d.workspace_id = r.workspace_id
        and d.id = case
            when r.input -> 'payload' ->> 'databaseId' ~ '{_ID_FORM}'
            then cast(r.input -> 'payload' ->> 'databaseId' as uuid) else rec.database_id end
    cross join lateral (
        select coalesce(rec.database_id <> v.database_id, false) as is_outside
    ) scope
    cross join lateral (
        select coalesce(jsonb_agg(jsonb_build_object('action_id', s.action_id, 'status', s.status,
            'attempts', s.attempts, 'output', s.output, 'ms', s.ms)), '[]') as steps
        from automation_run_steps s
        where s.run_id = r.id and s.generation = r.generation
    ) s
    where r.id = any(cast(:ids as uuid[]))
    order by r.id
    """  # noqa: S608  # only a constant of this module
)


# Columns that decide what a row is here, and are no part of a claimed run.
_ONLY_READ = frozenset({"status", "lease_token", "due_in_s"})


def _claimed(row: Mapping[str, Any]) -> ClaimedRun:
    facts = {key: value for key, value in row.items() if key not in _ONLY_READ}
    facts["automation_status"] = AutomationStatus(facts["automation_status"])
    facts["steps"] = [
        StepRow(
            action_id=UUID(step["action_id"]),
            status=StepStatus(step["status"]),
            attempts=step["attempts"],
            output=step["output"],
            ms=step["ms"],
        )
        for step in facts["steps"]
    ]
    return ClaimedRun(**facts)
