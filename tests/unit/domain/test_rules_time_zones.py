"""Which zones there are, and when their clocks are set."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo, available_timezones

import pytest

from whenthen.domain.rules.clock_changes import first_change, first_instant, wall_time
from whenthen.domain.rules.schedule_error import TimeZoneError
from whenthen.domain.rules.time_zones import time_zone

HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    "name", ["UTC", "Etc/UTC", "Europe/Paris", "America/Argentina/Ushuaia", "EST", "Etc/GMT+5"]
)
def test_case_026_a_zone_has_the_iana_name_and_is_read_once(name: str) -> None:
    assert time_zone(name).key == name
    assert time_zone(name) is time_zone(name)


@pytest.mark.parametrize(
    "name",
    [
        *("europe/paris", "EUROPE/PARIS", "Europe/paris", "utc", "est"),
        *("GMT+2", "UTC+2", "+02:00", "CET-1CEST", "CEST", "Mars/Olympus", "Paris"),
        *("", " ", "UTC ", " UTC", "Europe", "Europe/", "/UTC", "Europe//Paris", "./UTC"),
        *("../../etc/passwd", "/etc/passwd", "Europe/../UTC", "zones", "__init__.py"),
        *("localtime", "posixrules", "posix/UTC", "right/UTC", "tzdata.zi"),
        *("UTC\x00", "UTC\n", "Europe/Par\u0131s", "x" * 1_000_000, "\ud800"),
    ],
    ids=lambda name: f"case_026-{name[:16]!a}",
)
def test_any_other_name_is_refused(name: str) -> None:
    with pytest.raises(TimeZoneError) as caught:
        time_zone(name)
    assert (caught.value.code, caught.value.key) == ("TIME_ZONE_INVALID", "timeZone")
    assert str(caught.value) == "is not the name of a time zone, such as Europe/Paris"


def test_every_name_of_the_database_is_a_zone_of_the_declared_package() -> None:
    names = available_timezones() - {"localtime"}
    assert len(names) > 590
    for name in names:
        assert time_zone(name).key == name


def test_the_hosts_database_is_not_asked() -> None:
    # ZoneInfo keeps its own copy for each name; ours is none of them.
    assert time_zone("Europe/Paris") is not ZoneInfo("Europe/Paris")


def all_changes(name: str, first: int, last: int) -> list[datetime]:
    at, end = datetime(first, 1, 1, tzinfo=UTC), datetime(last, 1, 1, tzinfo=UTC)
    found = []
    while change := first_change(time_zone(name), at, end):
        found.append(change)
        at = change
    return found


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("America/New_York", ["2026-03-08T07:00Z", "2026-11-01T06:00Z"]),
        ("Europe/Berlin", ["2026-03-29T01:00Z", "2026-10-25T01:00Z"]),
        ("Australia/Lord_Howe", ["2026-04-04T15:00Z", "2026-10-03T15:30Z"]),
        ("Africa/Cairo", ["2026-04-23T22:00Z", "2026-10-29T21:00Z"]),
        # Morocco's clocks go back for Ramadan.
        ("Africa/Casablanca", ["2024-03-10T02:00Z", "2024-04-14T02:00Z"]),
    ],
)
def test_the_clock_changes_of_a_year_are_found_to_the_second(name: str, changes: list[str]) -> None:
    expected = [datetime.fromisoformat(text) for text in changes]
    year = expected[0].year
    assert all_changes(name, year, year + 1) == expected


@pytest.mark.parametrize("name", ["EST", "Etc/GMT+5", "UTC", "Asia/Kathmandu"])
def test_some_zones_never_set_their_clocks(name: str) -> None:
    assert all_changes(name, 2024, 2036) == []


def test_a_change_counts_from_its_first_instant() -> None:
    zone, change = time_zone("Europe/Berlin"), datetime(2026, 3, 29, 1, tzinfo=UTC)
    second = timedelta(seconds=1)
    assert first_change(zone, change - second, change) == change
    assert first_change(zone, change - second, change - second) is None
    assert first_change(zone, change, change + 24 * HOUR) is None
    assert first_change(zone, change, change + 365 * 24 * HOUR) == datetime(
        2026, 10, 25, 1, tzinfo=UTC
    )


def test_a_change_on_new_years_eve_belongs_to_the_year_before() -> None:
    zone, year = time_zone("America/Danmarkshavn"), datetime(1996, 1, 1, tzinfo=UTC)
    assert all_changes("America/Danmarkshavn", 1996, 1997) == [year + 3 * HOUR]
    # Samoa was two days of the calendar ahead after one night.
    (change,) = all_changes("Pacific/Fakaofo", 2011, 2012)
    assert change == datetime(2011, 12, 30, 11, tzinfo=UTC)
    assert first_change(zone, year - HOUR, year + 3 * HOUR) == year + 3 * HOUR


def test_no_zone_sets_its_clocks_twice_within_six_days() -> None:
    # What the search for changes, a look at each midnight, relies on.
    for name in available_timezones() - {"localtime"}:
        for before, after in pairwise(all_changes(name, 2026, 2029)):
            assert after - before > timedelta(days=6), name


def test_no_change_hides_between_two_midnights() -> None:
    start = datetime(2024, 1, 1, tzinfo=UTC)
    hours = [start + n * 4 * HOUR for n in range((3 * 365 + 1) * 6)]
    for name in ("Africa/Casablanca", "Asia/Gaza", "Australia/Lord_Howe", "Antarctica/Troll"):
        zone = time_zone(name)
        offsets = [hour.astimezone(zone).utcoffset() for hour in hours]
        seen = sum(low != high for low, high in pairwise(offsets))
        assert seen == len(all_changes(name, 2024, 2027)), name


@pytest.mark.parametrize(
    ("name", "wall", "instant"),
    [
        ("America/New_York", "2026-03-08T01:59:59", "2026-03-08T06:59:59Z"),
        ("America/New_York", "2026-03-08T02:00:00", "2026-03-08T07:00:00Z"),
        ("America/New_York", "2026-03-08T02:59:59", "2026-03-08T07:00:00Z"),
        ("America/New_York", "2026-03-08T03:00:00", "2026-03-08T07:00:00Z"),
        ("America/New_York", "2026-03-08T03:00:01", "2026-03-08T07:00:01Z"),
        ("America/New_York", "2026-11-01T00:59:59", "2026-11-01T04:59:59Z"),
        ("America/New_York", "2026-11-01T01:00:00", "2026-11-01T05:00:00Z"),
        ("America/New_York", "2026-11-01T01:59:59", "2026-11-01T05:59:59Z"),
        ("America/New_York", "2026-11-01T02:00:00", "2026-11-01T07:00:00Z"),
        ("Australia/Lord_Howe", "2026-10-04T02:29:59", "2026-10-03T15:30:00Z"),
        ("Australia/Lord_Howe", "2026-10-04T02:30:00", "2026-10-03T15:30:00Z"),
        ("Pacific/Fakaofo", "2011-12-30T12:00:00", "2011-12-30T11:00:00Z"),
        ("UTC", "2026-03-08T02:30:00", "2026-03-08T02:30:00Z"),
    ],
)
def test_a_time_is_shown_first_at_one_instant_and_a_skipped_one_is_after_the_gap(
    name: str, wall: str, instant: str
) -> None:
    found = first_instant(time_zone(name), datetime.fromisoformat(wall))
    assert found == datetime.fromisoformat(instant)
    shown = wall_time(time_zone(name), found)
    assert shown >= datetime.fromisoformat(wall)
