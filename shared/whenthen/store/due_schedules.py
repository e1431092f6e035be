"""Schedules whose next instant has come: claimed, and moved on with what became of each instant.

Who writes definitions meets this in two places:

- `claim` holds the rows of `schedules` FOR UPDATE until commit and takes each row as it stands once
  it is locked. So lock or delete a schedule's row first, and end the runs that it started ahead of
  time in a later statement: only that one sees what a claim has committed meanwhile.
- A run is pinned to `schedules.version`, which is also part of its event id. Each new version of a
  definition has to write its number there, whatever part of it changed.

A claimed row whose automation is not ACTIVE fires nothing and loses its `next_at`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.domain import json_text
from whenthen.domain.kinds import SCHEDULE_RUN, AutomationStatus
from whenthen.domain.limits import FIRE_AHEAD_S
from whenthen.domain.rules.wake_up import pending_wake

Outcome = Literal["fired", "missed", "deduped"]


@dataclass(frozen=True, slots=True)
class DueSchedule:
    """A schedule that is due, its row locked until commit; `now` is the tick's clock."""

    id: UUID
    automation_id: UUID
    workspace_id: UUID
    status: AutomationStatus
    trigger_id: UUID
    version: int
    cron: str | None
    run_every_s: int | None
    time_zone: str
    anchor_at: datetime
    next_at: datetime
    catch_up: Literal["none", "last", "all"]
    catch_up_window_s: int
    now: datetime


def claim(
    connection: Connection, limit: int, ahead_s: float, automation_id: UUID | None = None
) -> list[DueSchedule]:
    """Return up to `limit` schedules that fire within a minute, the most overdue first.

    Rows held elsewhere are left, so two ticks at once take different ones. The tick's clock is
    `ahead_s` ahead of the database's. With `automation_id` only that automation's are looked at.
    """
    values = {
        "limit": limit,
        "clock_s": ahead_s,
        "horizon_s": ahead_s + FIRE_AHEAD_S,
        "automation_id": automation_id,
    }
    return [_due(row) for row in connection.execute(_CLAIM, values).mappings()]


# Ordered by the indexed column alone: a second one would sort all that is due for every batch.
_CLAIM = text(
    """
    with due as (
        select * from schedules
        where next_at <= whenthen_now() + interval '1 second' * cast(:horizon_s as float8)
            and (cast(:automation_id as uuid) is null
                or automation_id = cast(:automation_id as uuid))
        order by next_at limit cast(:limit as integer)
        for update skip locked
    )
    select due.id, due.automation_id, a.workspace_id, a.status, due.trigger_id, due.version,
        due.cron, due.run_every_s, due.time_zone, due.anchor_at, due.next_at, due.catch_up,
        due.catch_up_window_s,
        whenthen_now() + interval '1 second' * cast(:clock_s as float8) as now
    from due join automations a on a.id = due.automation_id
    order by due.next_at
    """
)


def _due(row: Any) -> DueSchedule:
    due = DueSchedule(**{**row, "status": AutomationStatus(row["status"])})
    # Zones of a session are Postgres's affair; every rule here reckons in UTC.
    return replace(
        due,
        anchor_at=due.anchor_at.astimezone(UTC),
        next_at=due.next_at.astimezone(UTC),
        now=due.now.astimezone(UTC),
    )


@dataclass(frozen=True, slots=True)
class NewRun:
    """The run of an instant that fires; `due_in_s` is negative if it is late."""

    id: UUID
    event_id: str
    input: Mapping[str, Any]
    due_at: datetime
    due_in_s: float


@dataclass(frozen=True, slots=True)
class NewOccurrence:
    """What becomes of one instant of a schedule; without a run it was missed."""

    schedule: DueSchedule
    scheduled_for: datetime
    reason: str | None
    run: NewRun | None


@dataclass(frozen=True, slots=True)
class Written:
    """One occurrence that is now a row; `run_id` is that of its run, if it fired."""

    outcome: Outcome
    run_id: UUID | None


def move_on(
    connection: Connection,
    next_ats: Sequence[tuple[DueSchedule, datetime | None]],
    occurrences: Sequence[NewOccurrence],
) -> list[Written]:
    """Write occurrences with their PENDING runs, and when each schedule is due again, as one.

    The schedules are ones that this transaction has claimed. An instant that has its row already
    is left out of the answer and starts no run; one whose run is there already is `deduped`.
    """
    rows = connection.execute(
        _MOVE_ON,
        {
            "schedules": json_text.dumps([_schedule_row(*moved) for moved in next_ats]),
            "occurrences": json_text.dumps([_occurrence_row(new) for new in occurrences]),
            "trigger_type": SCHEDULE_RUN,
        },
    )
    return [Written(row.outcome, row.run_id) for row in rows]


_MOVE_ON = text(
    """
    with moved as (
        update schedules s set next_at = m.next_at
        from jsonb_to_recordset(cast(:schedules as jsonb))
            as m(id uuid, version integer, next_at timestamptz)
        where s.id = m.id and s.version = m.version
    ),
    new as (
        select * from jsonb_to_recordset(cast(:occurrences as jsonb)) as n(
            schedule_id uuid, version integer, scheduled_for timestamptz, reason text, run_id uuid,
            automation_id uuid, workspace_id uuid, event_id text, input jsonb, due_at timestamptz,
            wake_in_s float8)
        where not exists (
            select from schedule_occurrences o
            where o.schedule_id = n.schedule_id and o.version = n.version
                and o.scheduled_for = n.scheduled_for)
    ),
    run as (
        insert into automation_runs (id, automation_id, version, workspace_id, event_id,
            trigger_type, status, input, root_run_id, schedule_id, due_at, enqueue_after)
        select run_id, automation_id, version, workspace_id, event_id, :trigger_type, 'PENDING',
            input, run_id, schedule_id, due_at,
            whenthen_now() + interval '1 second' * wake_in_s
        from new where run_id is not null
        order by automation_id, event_id
        on conflict (automation_id, event_id) do nothing
        returning id, event_id
    ),
    line as (
        insert into automation_logs (run_id, level, message, data)
        select id, 'info', 'run created', jsonb_build_object('eventId', event_id) from run
    )
    insert into schedule_occurrences
        (schedule_id, version, scheduled_for, outcome, reason, run_id)
    select new.schedule_id, new.version, new.scheduled_for,
        case when new.run_id is null then 'missed' when run.id is null then 'deduped'
            else 'fired' end,
        new.reason, run.id
    from new left join run on run.id = new.run_id
    returning outcome, run_id
    """
)


def _schedule_row(schedule: DueSchedule, next_at: datetime | None) -> dict[str, Any]:
    return {
        "id": str(schedule.id),
        "version": schedule.version,
        "next_at": next_at.isoformat() if next_at else None,
    }


def _occurrence_row(new: NewOccurrence) -> dict[str, Any]:
    row = {
        "schedule_id": str(new.schedule.id),
        "version": new.schedule.version,
        "scheduled_for": new.scheduled_for.isoformat(),
        "reason": new.reason,
    }
    return row if new.run is None else row | _run_row(new.schedule, new.run)


def _run_row(schedule: DueSchedule, run: NewRun) -> dict[str, Any]:
    return {
        "run_id": str(run.id),
        "automation_id": str(schedule.automation_id),
        "workspace_id": str(schedule.workspace_id),
        "event_id": run.event_id,
        "input": run.input,
        "due_at": run.due_at.isoformat(),
        "wake_in_s": pending_wake(run.due_in_s).wake_in_s,
    }
