"""Schedules: by cron or at intervals, one function for all of their instants."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whenthen.domain.limits import RUN_EVERY_MAX_S, RUN_EVERY_MIN_S
from whenthen.domain.rules.schedule import (
    CronSchedule,
    IntervalSchedule,
    faults_in,
    next_fire,
    next_fires,
    read_schedule,
)
from whenthen.domain.rules.schedule_error import CronError, TimeZoneError

NOW = datetime(2026, 6, 1, 12, 0, 55, tzinfo=UTC)
DAY = timedelta(days=1)


def test_a_schedule_is_read_from_a_config() -> None:
    assert read_schedule(None, 90, "UTC", NOW) == IntervalSchedule(90, NOW)
    found = read_schedule("0 9 * * *", None, "Europe/Berlin", NOW)
    assert isinstance(found, CronSchedule)
    assert (found.cron.hours, found.zone.key) == ((9,), "Europe/Berlin")
    with pytest.raises(CronError):
        read_schedule("x", None, "UTC", NOW)
    with pytest.raises(CronError, match="must be given, or runEvery"):
        read_schedule(None, None, "UTC", NOW)
    with pytest.raises(TimeZoneError):
        read_schedule("0 9 * * *", None, "utc", NOW)


def test_the_next_fires_follow_one_another() -> None:
    schedule = read_schedule("0 9 * * *", None, "UTC", NOW)
    assert next_fires(schedule, NOW, 2) == [
        datetime(2026, 6, 2, 9, tzinfo=UTC),
        datetime(2026, 6, 3, 9, tzinfo=UTC),
    ]
    assert next_fires(schedule, NOW, 0) == []
    assert next_fire(schedule, NOW) == next_fires(schedule, NOW, 1)[0]


def test_there_are_fewer_when_no_more_come_within_12_years() -> None:
    schedule = read_schedule("0 0 29 2 */7", None, "UTC", NOW)
    assert next_fires(schedule, NOW, 5) == [datetime(2032, 2, 29, tzinfo=UTC)]


def test_an_instant_of_any_offset_may_be_asked_about() -> None:
    schedule = read_schedule("0 9 * * *", None, "UTC", NOW)
    elsewhere = NOW.astimezone(timezone(timedelta(hours=-9)))
    assert next_fire(schedule, elsewhere) == datetime(2026, 6, 2, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (NOW - 30 * DAY, NOW + 2 * DAY),
        (NOW - timedelta(microseconds=1), NOW + 2 * DAY),
        (NOW, NOW + 2 * DAY),
        (NOW + 2 * DAY - timedelta(microseconds=1), NOW + 2 * DAY),
        (NOW + 2 * DAY, NOW + 4 * DAY),
        # The clock stood still over the slot and ten minutes more.
        (NOW + 2 * DAY + timedelta(minutes=10), NOW + 4 * DAY),
        (NOW + 401 * DAY, NOW + 402 * DAY),
    ],
)
def test_case_018_an_interval_counts_from_its_anchor_whatever_was_missed(
    after: datetime, expected: datetime
) -> None:
    assert next_fire(IntervalSchedule(2 * 86_400, NOW), after) == expected


@given(
    st.integers(RUN_EVERY_MIN_S, RUN_EVERY_MAX_S),
    st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1)),  # noqa: DTZ001
    st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1)),  # noqa: DTZ001
)
def test_an_interval_fires_on_its_grid_and_leaves_no_slot_out(
    every_s: int, anchor: datetime, after: datetime
) -> None:
    anchor, after, every = (
        anchor.replace(tzinfo=UTC),
        after.replace(tzinfo=UTC),
        timedelta(seconds=every_s),
    )
    found = next_fire(IntervalSchedule(every_s, anchor), after)
    assert found is not None
    assert found > after
    assert found > anchor
    assert (found - anchor) % every == timedelta(0)
    assert found - every <= max(after, anchor)


FAULTS = [
    (("0 9 * * *", "UTC"), []),
    ((None, "UTC"), []),
    pytest.param(("0 * * * * *", "UTC"), [], id="case_015-60s"),
    pytest.param(("*/30 * * * * *", "UTC"), ["CRON_TOO_FREQUENT"], id="case_015-30s"),
    pytest.param(("0,59 * * * * *", "UTC"), ["CRON_TOO_FREQUENT"], id="case_015-1s"),
    pytest.param(("*/10 0 12 * * *", "UTC"), ["CRON_TOO_FREQUENT"], id="case_015-10s"),
    pytest.param(("0 0 30 2 *", "UTC"), ["CRON_INVALID"], id="case_012-february"),
    pytest.param(("0 0 31 4 *", "UTC"), ["CRON_INVALID"], id="case_012-april"),
    pytest.param(("0 0 31 2,4,6 *", "UTC"), ["CRON_INVALID"], id="case_012-short-months"),
    pytest.param(("0 0 31 4,5 *", "UTC"), [], id="case_012-control"),
    (("*/5 2 * 3 0#2", "America/New_York"), ["CRON_INVALID"]),
    (("*/5 2 * 3 0#2", "America/Phoenix"), []),
    ((None, "utc"), ["TIME_ZONE_INVALID"]),
    (("0 9 * * *", "utc"), ["TIME_ZONE_INVALID"]),
    (("0 9 * *", "utc"), ["TIME_ZONE_INVALID", "CRON_INVALID"]),
]


@pytest.mark.parametrize(("clock", "codes"), FAULTS)
def test_what_is_wrong_with_a_schedule_is_told_whole(
    clock: tuple[str | None, str], codes: list[str]
) -> None:
    assert [fault.code for fault in faults_in(*clock, NOW)] == codes


def test_what_never_fires_is_refused_for_that_reason() -> None:
    (fault,) = faults_in("0 0 30 2 *", "UTC", NOW)
    assert (str(fault), fault.key) == ("never fires within 12 years", "cron")
