"""The schedules of an automation as people read them, with their newest occurrences."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

OCCURRENCES_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One instant with what became of it."""

    scheduled_for: datetime
    outcome: str
    reason: str | None
    run_id: UUID | None


@dataclass(frozen=True, slots=True)
class ScheduleTrigger:
    """A SCHEDULE trigger of the present version; newest occurrences first.

    `anchor_at` is null while no schedule runs: the automation is not ACTIVE.
    """

    position: int
    cron: str | None
    run_every_s: int | None
    time_zone: str
    anchor_at: datetime | None
    occurrences: Sequence[Occurrence]


def triggers(connection: Connection, automation_id: UUID) -> list[ScheduleTrigger]:
    """Return the SCHEDULE triggers of an automation, in its order."""
    values = {"automation": automation_id, "most": OCCURRENCES_SHOWN}
    return [_trigger(row) for row in connection.execute(_TRIGGERS, values).mappings()]


# By version first, as the key has them: an index of the instants alone is not worth its upkeep.
# Nearly always that is the order of the instants too, and the page is sorted by them.
_TRIGGERS = text(
    """
    select t.position, t.config ->> 'cron' as cron,
        cast(t.config ->> 'runEvery' as integer) as run_every_s,
        coalesce(t.config ->> 'timeZone', 'UTC') as time_zone,
        case when a.status = 'ACTIVE' then s.anchor_at end as anchor_at, o.occurrences
    from automations a
    join automation_triggers t on t.automation_id = a.id and t.type = 'SCHEDULE'
    left join schedules s on s.id = t.id
    cross join lateral (
        select coalesce(jsonb_agg(jsonb_build_object('at', extract(epoch from scheduled_for),
            'outcome', outcome, 'reason', reason, 'run_id', run_id)
            order by scheduled_for desc, version desc), '[]') as occurrences
        from (select * from schedule_occurrences o where o.schedule_id = t.id
            order by version desc, scheduled_for desc limit cast(:most as integer)) newest
    ) o
    where a.id = cast(:automation as uuid)
    order by t.position
    """
)


def _trigger(row: Any) -> ScheduleTrigger:
    anchor_at: datetime | None = row["anchor_at"]
    return ScheduleTrigger(
        position=row["position"],
        cron=row["cron"],
        run_every_s=row["run_every_s"],
        time_zone=row["time_zone"],
        anchor_at=anchor_at and anchor_at.astimezone(UTC),
        occurrences=[
            Occurrence(
                scheduled_for=datetime.fromtimestamp(float(one["at"]), UTC),
                outcome=one["outcome"],
                reason=one["reason"],
                run_id=UUID(one["run_id"]) if one["run_id"] else None,
            )
            for one in row["occurrences"]
        ],
    )
