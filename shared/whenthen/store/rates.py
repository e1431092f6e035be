"""Counters of the runs that automations start in each other, by minute and by day."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.domain import json_text
from whenthen.domain.rules.rate import Counts
from whenthen.store.prepared import prepared


@dataclass(frozen=True, slots=True)
class Counted:
    """Which runs (automation, event id) were new, and what was counted before them."""

    new: frozenset[tuple[UUID, str]]
    before: Mapping[UUID, Counts]


def count_new(connection: Connection, runs: Sequence[tuple[UUID, str]]) -> Counted:
    """Count those of `runs` (automation, event id) that do not exist yet.

    A second delivery counts nothing: its runs exist. Counters are taken in the order of their
    automations, so two matchers cannot deadlock.
    """
    if not runs:
        return Counted(frozenset(), {})
    values = [{"automation_id": str(automation_id), "event_id": key} for automation_id, key in runs]
    rows = _COUNT.rows(connection, {"runs": json_text.dumps(values)})
    return Counted(
        new=frozenset((row["automation_id"], key) for row in rows for key in row["event_ids"]),
        before={row["automation_id"]: Counts(row["this_minute"], row["this_day"]) for row in rows},
    )


_COUNT = prepared(
    """
    with new as (
        select w.automation_id, count(distinct w.event_id) as n,
            jsonb_agg(distinct w.event_id) as event_ids
        from jsonb_to_recordset(cast(:runs as jsonb)) as w(automation_id uuid, event_id text)
        where not exists (select 1 from automation_runs r
            where r.automation_id = w.automation_id and r.event_id = w.event_id)
        group by w.automation_id
    ),
    counted as (
        insert into automation_rate as c (automation_id, span, bucket, n)
        select new.automation_id, s.span, date_trunc(s.span, whenthen_now(), 'UTC'), new.n
        from new cross join (values ('day'), ('minute')) as s(span)
        order by new.automation_id, s.span
        on conflict (automation_id, span, bucket) do update set n = c.n + excluded.n
        returning automation_id, span, n
    )
    select new.automation_id, new.event_ids,
        cast(sum(counted.n - new.n) filter (where counted.span = 'minute') as integer)
            as this_minute,
        cast(sum(counted.n - new.n) filter (where counted.span = 'day') as integer) as this_day
    from new join counted using (automation_id)
    group by new.automation_id, new.event_ids
    """
)


@dataclass(frozen=True, slots=True)
class Paused:
    """An automation that was ACTIVE until now."""

    id: UUID
    workspace_id: UUID
    name: str


def pause(connection: Connection, automation_ids: Sequence[UUID]) -> list[Paused]:
    """Make those of `automation_ids` that are ACTIVE PAUSED; return them."""
    rows = connection.execute(_PAUSE, {"ids": list(automation_ids)})
    return [Paused(row.id, row.workspace_id, row.name) for row in rows]


_PAUSE = text(
    """
    with active as (
        select id from automations
        where id = any(cast(:ids as uuid[])) and status = 'ACTIVE'
        order by id
        for no key update
    )
    update automations a set status = 'PAUSED', updated_at = whenthen_now()
    from active where a.id = active.id
    returning a.id, a.workspace_id, a.name
    """
)
