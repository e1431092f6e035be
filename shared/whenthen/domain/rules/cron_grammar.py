"""What a cron expression may say: five fields, or six with the seconds first.

::

           minute hour day-of-month month day-of-week      30 2 * * MON-FRI
    second minute hour day-of-month month day-of-week      0 */15 9-17 L JAN,JUL *

Each field is a list of `*`, values and ranges, all but the bare `*` in their field's bounds:

    *   5   1-5   */10   1-30/5   7/20 (from 7 to the field's end)   1,15,30-40

Months and weekdays have names of three letters, in any case; 0 and 7 are Sunday. `L` is the last
day of the month, `5L` its last Friday, `1#2` its second Monday. What is not written here is
refused, above all what other programs read each in their own way: `@daily`, `?`, `R`, `H`, `LW`,
ranges that run backwards, steps such as `*/60` that are larger than their field and so never come
to a second value.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from whenthen.domain.limits import CRON_MAX_CHARS
from whenthen.domain.rules.cron_days import CronDays
from whenthen.domain.rules.schedule_error import CronError, CronTooFrequentError


@dataclass(frozen=True, slots=True)
class Cron:
    """A cron expression; `minutes` and `hours` ascend.

    `wildcard` says that its minute or hour field begins with `*`, so that it follows elapsed time
    when clocks are set.
    """

    second: int
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: CronDays
    wildcard: bool


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    low: int
    high: int
    words: tuple[str, ...] = ()

    def number(self, text: str) -> int:
        """Return the value that a number or a name stands for."""
        if text in self.words:
            return self.words.index(text) + self.low
        if not text.isdigit():
            raise CronError(f"{self.name}: does not know such a name")
        number = int(text)
        if not self.low <= number <= self.high:
            raise CronError(f"{self.name}: must be within {self.low}..{self.high}")
        return number


_MONTHS: Final = (
    *("JAN", "FEB", "MAR", "APR", "MAY", "JUN"),
    *("JUL", "AUG", "SEP", "OCT", "NOV", "DEC"),
)
_WEEKDAYS: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_SECOND: Final = _Field("second", 0, 59)
_MINUTE: Final = _Field("minute", 0, 59)
_HOUR: Final = _Field("hour", 0, 23)
_DAY: Final = _Field("day of month", 1, 31)
_MONTH: Final = _Field("month", 1, 12, _MONTHS)
_WEEKDAY: Final = _Field("day of week", 0, 7, _WEEKDAYS)

_VALUE: Final = r"([A-Z]{3}|[0-9]{1,2})"
_ITEM: Final = re.compile(rf"(?:\*|{_VALUE}(?:-{_VALUE})?)(/[0-9]{{1,2}})?")
_LAST_WEEKDAY: Final = re.compile(rf"{_VALUE}L")
_NTH_WEEKDAY: Final = re.compile(rf"{_VALUE}#(0?[1-5])")


# A tick reads the same few expressions for thousands of schedules.
@lru_cache(maxsize=4096)
def parse_cron(text: str) -> Cron:
    """Return what the expression `text` says.

    Raises:
        CronError: it is refused.
        CronTooFrequentError: more than one value in the seconds field.

    """
    seconds, minutes, hours, month_days, months, weekdays = _fields(text)
    second, *more = _numbers(_SECOND, seconds.split(","))
    cron = Cron(
        second=second,
        minutes=tuple(sorted(_numbers(_MINUTE, minutes.split(",")))),
        hours=tuple(sorted(_numbers(_HOUR, hours.split(",")))),
        days=_days(months, month_days, weekdays),
        wildcard=minutes.startswith("*") or hours.startswith("*"),
    )
    # Exactly then two fires are less than 60 s apart, whatever the other fields say.
    if more:
        raise CronTooFrequentError("must not fire more than once a minute")
    return cron


def _fields(text: str) -> list[str]:
    # First of all, so that nothing below walks through a hostile text.
    if len(text) > CRON_MAX_CHARS:
        raise CronError(f"must have at most {CRON_MAX_CHARS} characters")
    if not text.isascii():
        raise CronError("must be plain ASCII")
    fields = re.split("[ \t]+", text.strip(" \t").upper())
    if len(fields) == 5:
        fields.insert(0, "0")
    if len(fields) != 6:
        raise CronError("must have five fields, or six with the seconds first")
    return fields


def _numbers(field: _Field, items: list[str]) -> frozenset[int]:
    return frozenset(number for item in items for number in _range_of(field, item))


def _range_of(field: _Field, item: str) -> range:
    found = _ITEM.fullmatch(item)
    if found is None:
        raise CronError(f"{field.name}: is not a list of values, ranges and steps")
    first, last, step = found.groups()
    low = field.low if first is None else field.number(first)
    high = field.high if first is None or (step and not last) else field.number(last or first)
    if high < low:
        raise CronError(f"{field.name}: a range must not run backwards")
    width = 1 if step is None else int(step[1:])
    if not 1 <= width <= field.high - field.low:
        raise CronError(f"{field.name}: a step must be within 1..{field.high - field.low}")
    return range(low, high + 1, width)


def _days(months: str, month_days: str, weekdays: str) -> CronDays:
    dates = month_days.split(",")
    plain: list[str] = []
    last: set[int] = set()
    nth: set[tuple[int, int]] = set()
    for item in weekdays.split(","):
        if found := _LAST_WEEKDAY.fullmatch(item):
            last.add(_WEEKDAY.number(found[1]) % 7)
        elif found := _NTH_WEEKDAY.fullmatch(item):
            nth.add((_WEEKDAY.number(found[1]) % 7, int(found[2])))
        else:
            plain.append(item)
    return CronDays(
        months=_numbers(_MONTH, months.split(",")),
        month_days=_numbers(_DAY, [item for item in dates if item != "L"]),
        last_day="L" in dates,
        weekdays=frozenset(number % 7 for number in _numbers(_WEEKDAY, plain)),
        last_weekdays=frozenset(last),
        nth_weekdays=frozenset(nth),
        both=month_days.startswith("*") or weekdays.startswith("*"),
    )
