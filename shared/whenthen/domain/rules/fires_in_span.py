"""Which instants of a schedule lie in a span, and how many: also of a span that is very long."""

from collections import deque
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from itertools import chain, islice, pairwise
from typing import Final
from zoneinfo import ZoneInfo

from whenthen.domain.rules.clock_changes import first_change, first_instant, wall_time
from whenthen.domain.rules.cron_days import days_between
from whenthen.domain.rules.schedule import CronSchedule, IntervalSchedule, Schedule, next_fire

_DAY: Final = timedelta(days=1)
_SECOND: Final = timedelta(seconds=1)


def newest_fires(
    schedule: Schedule, first: datetime, until: datetime, most: int
) -> tuple[Sequence[datetime], int]:
    """Return the newest instants from `first` to `until`, at most `most`, and how many are older.

    `first` is itself an instant of the schedule. A year of minutes takes no longer than a day.
    """
    fires = list(islice(chain([first], fires_in(schedule, first, until)), most + 1))
    if len(fires) <= most:
        return fires, 0
    span = _DAY
    while count_fires(schedule, until - span, until) < most:
        span *= 2
    newest = deque(fires_in(schedule, until - span, until), maxlen=most)
    return list(newest), 1 + count_fires(schedule, first, until) - most


def fires_in(schedule: Schedule, after: datetime, until: datetime) -> Iterator[datetime]:
    """Yield the instants in (after, until] at which `schedule` fires, in UTC."""
    at = next_fire(schedule, after)
    while at is not None and at <= until:
        yield at
        at = next_fire(schedule, at)


def count_fires(schedule: Schedule, after: datetime, until: datetime) -> int:
    """Return at how many instants in (after, until] `schedule` fires.

    Whole days on which no clock is set are counted, the others gone through.
    """
    if isinstance(schedule, IntervalSchedule):
        return _intervals(schedule, until) - _intervals(schedule, after)
    first, last = (wall_time(schedule.zone, at).date() for at in (after, until))
    if first == last:
        return _gone_through(schedule, after, until)
    days = [first + n * _DAY for n in range(1, (last - first).days)]
    begins = [_begin(schedule.zone, day) for day in [*days, last]]
    edges = _gone_through(schedule, after, begins[0] - _SECOND)
    edges += _gone_through(schedule, max(after, begins[-1] - _SECOND), until)
    return edges + sum(
        _of_day(schedule, day, after, begin, end)
        for day, (begin, end) in zip(days, pairwise(begins), strict=True)
    )


def _of_day(
    schedule: CronSchedule, day: date, after: datetime, begin: datetime, end: datetime
) -> int:
    """Count the instants of a day that lies within [begin, end), and after `after`."""
    before = begin - _SECOND
    # A day whose clock goes back over midnight has begun before the evening was over.
    if after >= begin or first_change(schedule.zone, before, end) is not None:
        return _gone_through(schedule, max(after, before), end - _SECOND)
    named = any(days_between(schedule.cron.days, day, day))
    return len(schedule.cron.hours) * len(schedule.cron.minutes) if named else 0


def _gone_through(schedule: Schedule, after: datetime, until: datetime) -> int:
    return sum(1 for _ in fires_in(schedule, after, until))


def _begin(zone: ZoneInfo, day: date) -> datetime:
    return first_instant(zone, datetime.combine(day, time.min))


def _intervals(schedule: IntervalSchedule, until: datetime) -> int:
    return max((until - schedule.anchor_at) // timedelta(seconds=schedule.every_s), 0)
