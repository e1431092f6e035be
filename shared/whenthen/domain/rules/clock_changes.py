"""When a zone's clocks are set, and which instant a time on their face stands for."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Final
from zoneinfo import ZoneInfo

_DAY: Final = timedelta(days=1)
_SECOND: Final = timedelta(seconds=1)


def first_change(zone: ZoneInfo, after: datetime, until: datetime) -> datetime | None:
    """Return the first instant in (after, until] from which the zone has another offset.

    Both bounds and the answer are UTC; None when the offset stays the same.
    """
    return next(
        (
            change
            for year in range(after.year, until.year + 1)
            for change in _changes_in(zone, year)
            if after < change <= until
        ),
        None,
    )


def wall_time(zone: ZoneInfo, instant: datetime) -> datetime:
    """Return what the zone's clocks show at `instant`, as a datetime without an offset."""
    return instant.astimezone(zone).replace(tzinfo=None)


def first_instant(zone: ZoneInfo, wall: datetime) -> datetime:
    """Return the instant, in UTC, at which the zone's clocks show `wall` for the first time.

    If they skip it: the first instant after the gap.
    """
    before, after = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    # With the offset from before and from after the change. Of a repeated time the first is the
    # earlier one; only of a skipped time it is the later.
    return before if before <= after else _bisect(zone, after, before)


# A year of a zone costs about 0.2 ms to look through.
@lru_cache(maxsize=4096)
def _changes_in(zone: ZoneInfo, year: int) -> tuple[datetime, ...]:
    """Return the changes of a year, found by asking for the offset of each day.

    zoneinfo does not tell its transitions. No zone has had two within six days since 1970, and no
    rule for the future has (measured over tzdata 2026).
    """
    start = datetime(year, 1, 1, tzinfo=UTC)
    midnights = [start + n * _DAY for n in range(367)]
    return tuple(
        _bisect(zone, low, high)
        for low, high in pairwise(midnights)
        if _offset(zone, low) != _offset(zone, high)
    )


def _bisect(zone: ZoneInfo, low: datetime, high: datetime) -> datetime:
    """Return the first instant in (low, high] that has the offset of `high`."""
    offset = _offset(zone, high)
    while high - low > _SECOND:
        middle = low + (high - low) // _SECOND // 2 * _SECOND
        low, high = (low, middle) if _offset(zone, middle) == offset else (middle, high)
    return high


def _offset(zone: ZoneInfo, instant: datetime) -> timedelta | None:
    return instant.astimezone(zone).utcoffset()
