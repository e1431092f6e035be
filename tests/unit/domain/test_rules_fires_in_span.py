"""Counting the instants of a span comes to what going through them comes to."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whenthen.domain.rules import fires_in_span
from whenthen.domain.rules.fires_in_span import count_fires, fires_in, newest_fires
from whenthen.domain.rules.schedule import Schedule, next_fire, next_fires, read_schedule

ANCHOR = datetime(2026, 1, 1, 0, 0, 0, 1000, tzinfo=UTC)
DAY = timedelta(days=1)
CRONS = (
    "*/7 * * * *",
    "0,30 2 * * *",
    "30 1 * * *",
    "*/20 0-3 * * 0",
    "5 0,23 1,15 * 5",
    "0 0 29 2 *",
)
# A gap and a repeated hour; half an hour; clocks that are set at midnight, and at 00:01.
ZONES = ("UTC", "America/New_York", "Australia/Lord_Howe", "America/Havana", "Asia/Beirut")
ST_JOHNS_2011 = "America/St_Johns"


def cron(text: str, zone: str = "UTC") -> Schedule:
    return read_schedule(text, None, zone, ANCHOR)


def every(seconds: int) -> Schedule:
    return read_schedule(None, seconds, "UTC", ANCHOR)


def walked(schedule: Schedule, after: datetime, until: datetime) -> int:
    found, at = 0, next_fire(schedule, after)
    while at is not None and at <= until:
        found, at = found + 1, next_fire(schedule, at)
    return found


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(CRONS),
    st.sampled_from(ZONES),
    st.timedeltas(timedelta(0), 365 * DAY),
    st.timedeltas(timedelta(0), 25 * DAY),
)
def test_a_count_is_what_going_through_finds(
    text: str, zone: str, after: timedelta, span: timedelta
) -> None:
    schedule, begin = cron(text, zone), ANCHOR + after
    assert count_fires(schedule, begin, begin + span) == walked(schedule, begin, begin + span)


@pytest.mark.parametrize("text", CRONS)
@pytest.mark.parametrize(
    ("zone", "change"),
    [
        ("America/New_York", datetime(2026, 3, 8, 7, tzinfo=UTC)),
        ("America/New_York", datetime(2026, 11, 1, 6, tzinfo=UTC)),
        ("Australia/Lord_Howe", datetime(2026, 10, 3, 15, 30, tzinfo=UTC)),
        ("America/Havana", datetime(2026, 11, 1, 5, tzinfo=UTC)),
        ("Asia/Beirut", datetime(2026, 3, 28, 22, tzinfo=UTC)),
        # At 00:01 the clock went back to 23:01 of the day before.
        (ST_JOHNS_2011, datetime(2010, 11, 7, 2, 31, tzinfo=UTC)),
    ],
)
def test_a_count_from_every_half_hour_around_a_change_is_right(
    text: str, zone: str, change: datetime
) -> None:
    schedule = cron(text, zone)
    for n in range(-60, 61, 3):
        begin = change + n * timedelta(minutes=30)
        end = begin + timedelta(hours=40)
        assert count_fires(schedule, begin, end) == walked(schedule, begin, end), (begin, end)


@given(
    st.integers(60, 100_000),
    st.timedeltas(-7 * DAY, 30 * DAY),
    st.timedeltas(timedelta(0), 2 * DAY),
)
def test_intervals_are_counted_from_their_anchor(
    seconds: int, after: timedelta, span: timedelta
) -> None:
    schedule, begin = every(seconds), ANCHOR + after
    assert count_fires(schedule, begin, begin + span) == walked(schedule, begin, begin + span)


def test_the_bounds_of_a_span_are_open_and_closed() -> None:
    schedule, ten = cron("*/10 * * * *"), datetime(2026, 6, 1, 10, tzinfo=UTC)
    bounds = ten, ten + timedelta(minutes=10)
    assert list(fires_in(schedule, *bounds)) == [bounds[1]]
    assert count_fires(schedule, *bounds) == 1
    assert count_fires(schedule, ten, ten + timedelta(minutes=9, seconds=59)) == 0
    assert count_fires(schedule, ten, ten) == 0


@pytest.mark.parametrize("schedule", [cron("*/30 * * * *", "America/New_York"), every(1_800)])
@pytest.mark.parametrize("fires", [1, 9, 10, 11, 100])
def test_of_a_long_gap_the_newest_are_returned_and_the_others_counted(
    schedule: Schedule, fires: int
) -> None:
    gap = next_fires(schedule, datetime(2026, 3, 6, tzinfo=UTC), fires)
    newest, older = newest_fires(schedule, gap[0], gap[-1] + timedelta(seconds=1), 10)
    assert list(newest) == gap[-10:]
    assert older == max(fires - 10, 0)


def test_a_rare_schedule_is_looked_for_as_far_back_as_it_takes() -> None:
    schedule = cron("0 0 1 1 *")
    years = next_fires(schedule, datetime(2000, 6, 1, tzinfo=UTC), 30)
    newest, older = newest_fires(schedule, years[0], years[-1], 3)
    assert (list(newest), older) == (years[-3:], 27)


def test_a_year_of_minutes_is_not_gone_through(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counting(schedule: Schedule, after: datetime) -> datetime | None:
        calls.append(after)
        return next_fire(schedule, after)

    monkeypatch.setattr(fires_in_span, "next_fire", counting)
    schedule, first = cron("* * * * *", "America/New_York"), datetime(2026, 1, 1, tzinfo=UTC)
    until = first + 365 * DAY
    newest, older = newest_fires(schedule, first, until, 1_000)
    assert (newest[-1], len(newest)) == (until, 1_000)
    assert len(newest) + older == 365 * 24 * 60 + 1
    # First and last days and those with a change, a few times over; all of it would be 525,600.
    assert len(calls) < 20_000
