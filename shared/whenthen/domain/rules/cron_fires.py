"""When a cron expression fires, also where clocks are set.

Debian cron's rule. A job whose minute or hour field begins with `*` follows elapsed time: it runs
whenever the clock shows one of its times, so not at skipped ones and twice at repeated ones. Any
other has fixed times and runs once for each of its days' times: at the first instant after the
gap if the clock skips it, in the first pass if the clock shows it twice.

Source: cron(8) of Debian, "Local time changes of less than three hours". Here the rule has no
such bound: no change of three hours is known after 2023.
"""

from bisect import bisect_left
from datetime import UTC, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from whenthen.domain.limits import CRON_HORIZON_DAYS
from whenthen.domain.rules.clock_changes import first_change, first_instant, wall_time
from whenthen.domain.rules.cron_days import days_between
from whenthen.domain.rules.cron_grammar import Cron

_SECOND: Final = timedelta(seconds=1)


def next_cron_fire(cron: Cron, zone: ZoneInfo, after: datetime) -> datetime | None:
    """Return the first instant after `after` at which `cron` fires in `zone`, in UTC.

    Always later than `after`, whose fraction of a second counts. None when there is none within
    12 years.
    """
    now = after.astimezone(UTC).replace(microsecond=0)
    if cron.wildcard:
        return _by_elapsed_time(cron, zone, now + _SECOND)
    return _by_fixed_time(cron, zone, now)


def _by_elapsed_time(cron: Cron, zone: ZoneInfo, start: datetime) -> datetime | None:
    """Return the first instant from `start` on at which the clock shows one of the times."""
    until = _horizon(start)
    while match := _first_match(cron, wall := wall_time(zone, start), until):
        # The clock shows it so much later, unless it is set before.
        fire = start + (match - wall)
        change = first_change(zone, start, fire)
        if change is None:
            return fire
        start = change
    return None


def _by_fixed_time(cron: Cron, zone: ZoneInfo, after: datetime) -> datetime | None:
    wall, until = wall_time(zone, after) + _SECOND, _horizon(after)
    while match := _first_match(cron, wall, until):
        fire = first_instant(zone, match)
        # Else the clock shows it for the second time now.
        if fire > after:
            return fire
        wall = match + _SECOND
    return None


def _horizon(start: datetime) -> datetime:
    return start.replace(tzinfo=None) + timedelta(days=CRON_HORIZON_DAYS)


def _first_match(cron: Cron, start: datetime, until: datetime) -> datetime | None:
    """Return the first time on the clock's face from `start` to the day of `until`, or None."""
    earliest = start.time()
    for day in days_between(cron.days, start.date(), until.date()):
        found = _first_time(cron, earliest if day == start.date() else time.min)
        if found is not None:
            return datetime.combine(day, found)
    return None


def _first_time(cron: Cron, earliest: time) -> time | None:
    """Return the first time of a day that is not before `earliest`, or None."""
    for hour in cron.hours[bisect_left(cron.hours, earliest.hour) :]:
        if hour > earliest.hour:
            return time(hour, cron.minutes[0], cron.second)
        begin = earliest.minute + (cron.second < earliest.second)
        at = bisect_left(cron.minutes, begin)
        if at < len(cron.minutes):
            return time(hour, cron.minutes[at], cron.second)
    return None
