"""The schedules of an automation: when they fire next, and what became of their instants."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from whenthen.domain.rules.schedule import next_fires, read_schedule
from whenthen.domain.rules.schedule_error import ScheduleError
from whenthen.store import clock, schedule_reads
from whenthen.store.schedule_reads import ScheduleTrigger

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.engine import Connection

NEXT_SHOWN = 5


@dataclass(frozen=True, slots=True)
class ShownSchedule:
    """A SCHEDULE trigger, and its next instants; none while it is not ACTIVE."""

    trigger: ScheduleTrigger
    next: "Sequence[datetime]"


def schedules_of(connection: "Connection", automation_id: UUID) -> list[ShownSchedule]:
    """Return the schedules of an automation that the caller may see."""
    now = clock.now(connection)
    found = schedule_reads.triggers(connection, automation_id)
    return [ShownSchedule(one, _next(one, now)) for one in found]


def _next(trigger: ScheduleTrigger, now: "datetime") -> "Sequence[datetime]":
    if trigger.anchor_at is None:
        return []
    try:
        schedule = read_schedule(
            trigger.cron, trigger.run_every_s, trigger.time_zone, trigger.anchor_at
        )
    except ScheduleError:
        # Such as a zone that the database of zones has lost: it does not fire.
        return []
    return next_fires(schedule, now, NEXT_SHOWN)
