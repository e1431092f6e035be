"""The rows of schedules: what definitions want of them, what is there, and how they are written.

Whoever writes here holds the automation's row, and then locks the schedules' rows, which a tick may
hold: so there is one writer for each automation, and what a tick has done is seen.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.domain import json_text, limits
from whenthen.domain.rules.schedule_diff import ScheduleRow, WantedSchedule

_WANTED_KEYS = tuple(WantedSchedule.__dataclass_fields__)


def wanted(connection: Connection, automation_ids: Sequence[UUID]) -> list[WantedSchedule]:
    """Return the SCHEDULE triggers of those of `automation_ids` that are ACTIVE."""
    values = {"ids": list(automation_ids), "window_s": limits.CATCH_UP_WINDOW_DEFAULT_S}
    return [WantedSchedule(**row) for row in connection.execute(_WANTED, values).mappings()]


_WANTED = text(
    """
    select t.id, a.id as automation_id, a.version, t.config ->> 'cron' as cron,
        cast(t.config ->> 'runEvery' as integer) as run_every_s,
        coalesce(t.config ->> 'timeZone', 'UTC') as time_zone,
        coalesce(t.config ->> 'catchUp', 'none') as catch_up,
        coalesce(cast(t.config ->> 'catchUpWindow' as integer), cast(:window_s as integer))
            as catch_up_window_s,
        coalesce(t.config ->> 'overlap', 'allow') as overlap
    from automations a join automation_triggers t on t.automation_id = a.id
    where a.id = any(cast(:ids as uuid[])) and a.status = 'ACTIVE' and t.type = 'SCHEDULE'
    order by t.id
    """
)


def lock(connection: Connection, automation_ids: Sequence[UUID]) -> list[ScheduleRow]:
    """Return the schedules of `automation_ids`, locked until commit; waits for a tick at them."""
    rows = connection.execute(_LOCK, {"ids": list(automation_ids)}).mappings()
    return [_row_of(row) for row in rows]


_LOCK = text(
    """
    select id, automation_id, version, cron, run_every_s, time_zone, catch_up, catch_up_window_s,
        overlap, anchor_at, next_at
    from schedules where automation_id = any(cast(:ids as uuid[]))
    order by id
    for update
    """
)


def _row_of(row: Any) -> ScheduleRow:
    config = WantedSchedule(**{key: row[key] for key in _WANTED_KEYS})
    next_at: datetime | None = row["next_at"]
    return ScheduleRow(
        config, row["anchor_at"].astimezone(UTC), next_at and next_at.astimezone(UTC)
    )


def insert(connection: Connection, rows: Sequence[ScheduleRow], now: datetime) -> None:
    """Insert schedules that begin at `now`.

    Occurrences of the same version that lie ahead were withdrawn when it was paused; those whose
    instants come again make room. A run of before the pause that is still at work stays the
    active one, where runs may not overlap.
    """
    if rows:
        connection.execute(_INSERT, {"rows": _as_json(rows), "now": now})


# Of a schedule whose runs may not overlap, all but a few of the newest occurrences were skipped.
_ROWS = """
    jsonb_to_recordset(cast(:rows as jsonb)) as n(id uuid, automation_id uuid, version integer,
        cron text, run_every_s integer, time_zone text, catch_up text, catch_up_window_s integer,
        overlap text, anchor_at timestamptz, next_at timestamptz)
"""
_INSERT = text(
    f"""
    with n as (select * from {_ROWS}),
    forgotten as (
        delete from schedule_occurrences o using n
        where o.schedule_id = n.id and o.version = n.version
            and o.scheduled_for > cast(:now as timestamptz) and o.reason = 'superseded'
            and (n.cron is not null or mod(cast(extract(epoch from o.scheduled_for - n.anchor_at)
                * 1000 as bigint), cast(n.run_every_s as bigint) * 1000) = 0)
    )
    insert into schedules (id, automation_id, trigger_id, version, cron, run_every_s, time_zone,
        catch_up, catch_up_window_s, overlap, anchor_at, next_at, active_run_id)
    select id, automation_id, id, version, cron, run_every_s, time_zone, catch_up,
        catch_up_window_s, overlap, anchor_at, next_at,
        case when overlap = 'skip' then (
            select r.id
            from (select run_id from schedule_occurrences o
                where o.schedule_id = n.id and o.outcome = 'fired'
                order by o.version desc, o.scheduled_for desc limit 10) fired
            join automation_runs r on r.id = fired.run_id
            where r.status in ('PENDING', 'RUNNING') and r.started_at is not null
            order by r.started_at limit 1) end
    from n
    order by id
    """  # noqa: S608  # only a constant of this module
)


def update(connection: Connection, rows: Sequence[ScheduleRow]) -> None:
    """Write schedules that are there and locked; which run is active is left as it is."""
    if rows:
        connection.execute(_UPDATE, {"rows": _as_json(rows)})


_UPDATE = text(
    f"""
    update schedules s
    set version = n.version, cron = n.cron, run_every_s = n.run_every_s,
        time_zone = n.time_zone, catch_up = n.catch_up, catch_up_window_s = n.catch_up_window_s,
        overlap = n.overlap, anchor_at = n.anchor_at, next_at = n.next_at
    from {_ROWS}
    where s.id = n.id
    """  # noqa: S608  # only a constant of this module
)


def delete(connection: Connection, schedule_ids: Sequence[UUID]) -> None:
    """Delete schedules that are locked; their occurrences stay."""
    if schedule_ids:
        connection.execute(_DELETE, {"ids": list(schedule_ids)})


_DELETE = text("delete from schedules where id = any(cast(:ids as uuid[]))")


def drifted(connection: Connection, limit: int) -> list[UUID]:
    """Return up to `limit` automations whose schedules are not what they should be.

    Only a hint, which takes no lock: who acts on it reads again under the automation's lock. The
    version stands for all that it holds, since every change of a definition makes one.
    """
    return [row.id for row in connection.execute(_DRIFTED, {"limit": limit})]


_DRIFTED = text(
    """
    select a.id
    from automations a
    join automation_triggers t on t.automation_id = a.id and t.type = 'SCHEDULE'
    left join schedules s on s.id = t.id
    where a.status = 'ACTIVE' and s.version is distinct from a.version
    union
    select s.automation_id
    from schedules s
    left join automations a on a.id = s.automation_id and a.status = 'ACTIVE'
    left join automation_triggers t
        on t.id = s.id and t.automation_id = s.automation_id and t.type = 'SCHEDULE'
    where a.id is null or t.id is null
    order by id limit cast(:limit as integer)
    """
)


def lock_free(connection: Connection, automation_ids: Sequence[UUID]) -> list[UUID]:
    """Lock those of `automation_ids` that nobody holds, as a definition write does; return them.

    Who holds one is writing its schedules too.
    """
    return [row.id for row in connection.execute(_LOCK_FREE, {"ids": list(automation_ids)})]


_LOCK_FREE = text(
    """
    select id from automations where id = any(cast(:ids as uuid[]))
    order by id
    for no key update skip locked
    """
)


def delete_orphans(connection: Connection) -> int:
    """Delete schedules whose automation does not exist; return how many."""
    return int(connection.execute(_DELETE_ORPHANS).rowcount)


# A row that this statement sees was written after its automation: it cannot miss a new one.
_DELETE_ORPHANS = text(
    """
    delete from schedules s
    where not exists (select 1 from automations a where a.id = s.automation_id)
    """
)


@dataclass(frozen=True, slots=True)
class AheadRun:
    """A run that was made ahead of its instant, now held by whoever asked."""

    id: UUID
    schedule_id: UUID
    scheduled_for: datetime


def hold_ahead(
    connection: Connection, rows: Sequence[ScheduleRow], now: datetime, lease: UUID
) -> list[AheadRun]:
    """Hold the runs of `rows` whose instant is after `now` under `lease`, to end them.

    Only runs that were never claimed: what waits for another try or was brought back by a person
    stays. Rows that somebody has at hand are passed over; they are being claimed. A held run gives
    its event id back, so that the same version can fire the instant anew after a resume.
    """
    schedules = [{"id": str(row.wanted.id), "version": row.wanted.version} for row in rows]
    found = connection.execute(
        _HOLD_AHEAD,
        {
            "schedules": json_text.dumps(schedules),
            "now": now,
            "lease": lease,
            "lease_s": limits.LEASE_RENEWAL_S,
        },
    )
    return [AheadRun(row.id, row.schedule_id, row.scheduled_for.astimezone(UTC)) for row in found]


_HOLD_AHEAD = text(
    """
    with ahead as (
        select r.id, o.scheduled_for
        from jsonb_to_recordset(cast(:schedules as jsonb)) as s(id uuid, version integer)
        join schedule_occurrences o on o.schedule_id = s.id and o.version = s.version
            and o.scheduled_for > cast(:now as timestamptz) and o.outcome = 'fired'
        join automation_runs r on r.id = o.run_id
        where r.status = 'PENDING' and r.started_at is null and not r.forced
        order by r.id
        for update of r skip locked
    )
    update automation_runs r
    set status = 'RUNNING', event_id = r.event_id || ':' || r.id,
        lease_token = cast(:lease as uuid),
        lease_expires_at = whenthen_now() + interval '1 second' * cast(:lease_s as integer)
    from ahead where r.id = ahead.id
    returning r.id, r.schedule_id, ahead.scheduled_for
    """
)


def _as_json(rows: Sequence[ScheduleRow]) -> str:
    return json_text.dumps([_json_row(row) for row in rows])


def _json_row(row: ScheduleRow) -> dict[str, Any]:
    config = {key: getattr(row.wanted, key) for key in _WANTED_KEYS}
    return config | {
        "id": str(row.wanted.id),
        "automation_id": str(row.wanted.automation_id),
        "anchor_at": row.anchor_at.isoformat(),
        "next_at": row.next_at.isoformat() if row.next_at else None,
    }
