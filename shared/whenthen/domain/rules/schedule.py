"""When a schedule fires: one function for its preview, its validation and its firing."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from whenthen.domain.rules.cron_fires import next_cron_fire
from whenthen.domain.rules.cron_grammar import Cron, parse_cron
from whenthen.domain.rules.schedule_error import CronError, ScheduleError
from whenthen.domain.rules.time_zones import time_zone


@dataclass(frozen=True, slots=True)
class CronSchedule:
    """Fires at the times of a cron expression, on the clocks of a zone."""

    cron: Cron
    zone: ZoneInfo


@dataclass(frozen=True, slots=True)
class IntervalSchedule:
    """Fires every `every_s` seconds, for the first time so long after `anchor_at` (UTC)."""

    every_s: int
    anchor_at: datetime


Schedule = CronSchedule | IntervalSchedule


def read_schedule(
    cron: str | None, run_every_s: int | None, zone_name: str, anchor_at: datetime
) -> Schedule:
    """Return the schedule of a trigger's config, which has either `cron` or `runEvery`.

    Raises:
        ScheduleError: the expression or the zone is not understood, or there is no clock.

    """
    if run_every_s is not None:
        return IntervalSchedule(run_every_s, anchor_at)
    if cron is None:
        raise CronError("must be given, or runEvery")
    return CronSchedule(parse_cron(cron), time_zone(zone_name))


def next_fire(schedule: Schedule, after: datetime) -> datetime | None:
    """Return the first instant later than `after` at which `schedule` fires, in UTC.

    None when a cron expression has none within 12 years.
    """
    if isinstance(schedule, CronSchedule):
        return next_cron_fire(schedule.cron, schedule.zone, after)
    every = timedelta(seconds=schedule.every_s)
    # From the anchor and not from the last fire: what came late or never shifts nothing.
    passed = max((after - schedule.anchor_at) // every, 0)
    return schedule.anchor_at + (passed + 1) * every


def next_fires(schedule: Schedule, after: datetime, count: int) -> list[datetime]:
    """Return the first `count` instants after `after`, fewer when there are no more."""
    return list(islice(_fires(schedule, after), count))


def faults_in(cron: str | None, zone_name: str, now: datetime) -> list[ScheduleError]:
    """Return why a schedule may not be saved at `now`; nothing when it may."""
    faults: list[ScheduleError] = []
    zone = rule = None
    try:
        zone = time_zone(zone_name)
    except ScheduleError as error:
        faults.append(error)
    try:
        rule = None if cron is None else parse_cron(cron)
    except ScheduleError as error:
        faults.append(error)
    if zone and rule and next_cron_fire(rule, zone, now) is None:
        faults.append(CronError("never fires within 12 years"))
    return faults


def _fires(schedule: Schedule, after: datetime) -> Iterator[datetime]:
    at = next_fire(schedule, after)
    while at is not None:
        yield at
        at = next_fire(schedule, at)
