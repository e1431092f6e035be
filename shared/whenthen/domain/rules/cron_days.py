"""Which days a cron expression names, by its two day fields and its months."""

from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class CronDays:
    """The months, days of the month and weekdays of an expression; Sunday is 0.

    `last_weekdays` are those of `5L` (the last Friday), `nth_weekdays` those of `1#2` (the second
    Monday). `both` says that a day must fit both day fields: one of them begins with `*`.
    Without it a day that fits one of them is enough.

    Source: crontab(5) of Debian, "the day of a command's execution".
    """

    months: frozenset[int]
    month_days: frozenset[int]
    last_day: bool
    weekdays: frozenset[int]
    last_weekdays: frozenset[int]
    nth_weekdays: frozenset[tuple[int, int]]
    both: bool


def days_between(days: CronDays, first: date, last: date) -> Iterator[date]:
    """Yield the days from `first` to `last` that `days` names, in order."""
    for year in range(first.year, last.year + 1):
        for month in range(first.month if year == first.year else 1, 13):
            if month in days.months:
                begin = first.day if (year, month) == (first.year, first.month) else 1
                yield from (found for found in _in_month(days, year, month, begin) if found <= last)


def _in_month(days: CronDays, year: int, month: int, begin: int) -> Iterator[date]:
    # Python's weeks begin with Monday as 0.
    first_weekday, length = monthrange(year, month)
    for day in range(begin, length + 1):
        weekday = (first_weekday + day) % 7
        by_date = day in days.month_days or (days.last_day and day == length)
        by_weekday = (
            weekday in days.weekdays
            or (weekday, (day + 6) // 7) in days.nth_weekdays
            or (weekday in days.last_weekdays and day + 7 > length)
        )
        if (by_date and by_weekday) if days.both else (by_date or by_weekday):
            yield date(year, month, day)
