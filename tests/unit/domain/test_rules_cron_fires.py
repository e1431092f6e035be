"""When cron expressions fire: calendars, daylight saving, expressions that never do."""

from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise

import pytest

from tests.cpu_time import least_cpu_s
from whenthen.domain.rules.cron_fires import next_cron_fire
from whenthen.domain.rules.cron_grammar import parse_cron
from whenthen.domain.rules.time_zones import time_zone

NEW_YORK, BERLIN = "America/New_York", "Europe/Berlin"


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def fires(expression: str, zone: str, after: str, count: int) -> list[datetime]:
    cron, at = parse_cron(expression), instant(after)
    found: list[datetime] = []
    while len(found) < count and (following := next_cron_fire(cron, time_zone(zone), at)):
        assert following > at
        assert following.tzinfo is UTC
        found.append(following)
        at = following
    return found


def check(expression: str, zone: str, after: str, expected: str) -> None:
    """`expected`: the next instants, their common beginning left out where it is that of before."""
    texts = expected.split()
    whole = [texts[0]]
    for text in texts[1:]:
        whole.append(whole[-1][: -len(text)] + text)
    assert fires(expression, zone, after, len(texts)) == [instant(text) for text in whole]


CALENDAR = [
    pytest.param(
        *("0 4 1,15 * 5", "UTC", "2026-05-01T04:00Z"),
        "2026-05-08T04:00Z 15T04:00Z 22T04:00Z 29T04:00Z 06-01T04:00Z 05T04:00Z",
        id="case_009",
    ),
    pytest.param(
        *("0 16 */2 * 6", "UTC", "2026-05-01T00:00Z"),
        "2026-05-09T16:00Z 23T16:00Z 06-13T16:00Z 27T16:00Z",
        id="case_010",
    ),
    pytest.param(
        "0 9 * * 1", BERLIN, "2026-06-05T12:00+02:00", "2026-06-08T07:00Z", id="case_011-1"
    ),
    pytest.param(
        "0 8 * * 0", "UTC", "2026-06-05T12:00+02:00", "2026-06-07T08:00Z", id="case_011-0"
    ),
    pytest.param(
        "0 8 * * 7", "UTC", "2026-06-05T12:00+02:00", "2026-06-07T08:00Z", id="case_011-7"
    ),
    pytest.param(
        *("0 0 31 4,5 *", "UTC", "2026-01-01T00:00Z"),
        "2026-05-31T00:00Z 2027-05-31T00:00Z",
        id="case_012-control",
    ),
    pytest.param(
        *("0 5 * * * *", "UTC", "2026-06-01T10:50Z"),
        "2026-06-01T11:05Z 12:05Z 13:05Z",
        id="case_014-hourly",
    ),
    pytest.param(
        *("0 30 9 * * *", "UTC", "2026-06-01T10:50Z"),
        "2026-06-02T09:30Z 03T09:30Z 04T09:30Z",
        id="case_014-daily",
    ),
    pytest.param(
        *("0 9 * * *", "Etc/GMT+5", "2026-06-01T00:00Z"),
        "2026-06-01T14:00Z 02T14:00Z",
        id="case_026-inverted-sign",
    ),
    pytest.param("0 9 * * *", "EST", "2026-07-01T00:00Z", "2026-07-01T14:00Z", id="case_026-est"),
    pytest.param("0 9 * * *", "EST", "2026-01-01T00:00Z", "2026-01-01T14:00Z", id="case_026-est-2"),
    ("0 0 29 2 *", "UTC", "2026-01-01T00:00Z", "2028-02-29T00:00Z 2032-02-29T00:00Z"),
    # No leap year in 2100: eight years without a 29th of February.
    ("0 0 29 2 *", "UTC", "2096-02-29T00:00Z", "2104-02-29T00:00Z"),
    ("0 0 L 2 *", "UTC", "2027-01-01T00:00Z", "2027-02-28T00:00Z 2028-02-29T00:00Z"),
    ("0 0 * 2 1#5", "UTC", "2043-01-01T00:00Z", "2044-02-29T00:00Z"),
    (
        "59 59 23 31 12 *",
        "UTC",
        "2026-12-31T23:59:58Z",
        "2026-12-31T23:59:59Z 2027-12-31T23:59:59Z",
    ),
    ("15 0 0 * * *", "UTC", "2026-01-01T00:00:15Z", "2026-01-02T00:00:15Z"),
    ("15 0 0 * * *", "UTC", "2026-01-01T00:00:14Z", "2026-01-01T00:00:15Z"),
    ("20 10,40 5,7 * * *", "UTC", "2026-01-01T05:40:20Z", "2026-01-01T07:10:20Z 07:40:20Z"),
    ("20 10,40 5,7 * * *", "UTC", "2026-01-01T05:40:21Z", "2026-01-01T07:10:20Z 07:40:20Z"),
    ("20 10,40 5,7 * * *", "UTC", "2026-01-01T05:39:59Z", "2026-01-01T05:40:20Z 07:10:20Z"),
    ("20 10,40 5,7 * * *", "UTC", "2026-01-01T07:40:20Z", "2026-01-02T05:10:20Z 05:40:20Z"),
]


@pytest.mark.parametrize(("expression", "zone", "after", "expected"), CALENDAR)
def test_an_expression_fires_by_the_calendar(
    expression: str, zone: str, after: str, expected: str
) -> None:
    check(expression, zone, after, expected)


GAPS = [
    pytest.param(
        *("30 2 * * *", NEW_YORK, "2026-03-07T12:00-05:00"),
        "2026-03-08T07:00Z 09T06:30Z 10T06:30Z",
        id="case_001",
    ),
    pytest.param(
        *("0 0 * * *", "Africa/Cairo", "2026-04-22T12:00+02:00"),
        "2026-04-22T22:00Z 23T22:00Z 24T21:00Z",
        id="case_005-cairo",
    ),
    pytest.param(
        *("0 0 * * *", "America/Santiago", "2026-09-04T12:00-04:00"),
        "2026-09-05T04:00Z 06T04:00Z 07T03:00Z",
        id="case_005-santiago",
    ),
    # Seconds do not come on top of the first instant after the gap.
    ("15 30 2 * * *", NEW_YORK, "2026-03-07T12:00Z", "2026-03-08T07:00:00Z 09T06:30:15Z"),
    # Several of its times are skipped, and the gap's end is one of its times too: one run.
    ("0,20,40 2 * * *", NEW_YORK, "2026-03-08T06:00Z", "2026-03-08T07:00Z 09T06:00Z"),
    ("0 2,3 * * *", NEW_YORK, "2026-03-08T06:00Z", "2026-03-08T07:00Z 09T06:00Z 07:00Z"),
    ("0,30 2,3 * * *", NEW_YORK, "2026-03-08T06:00Z", "2026-03-08T07:00Z 07:30Z 09T06:00Z"),
    # A range is not a wildcard, whatever it covers.
    ("30 0-23 * * *", NEW_YORK, "2026-03-08T06:00Z", "2026-03-08T06:30Z 07:00Z 07:30Z 08:30Z"),
    # Asked right before the gap's end, at it, and after it.
    ("30 2 * * *", NEW_YORK, "2026-03-08T06:59:59.999999Z", "2026-03-08T07:00Z"),
    ("30 2 * * *", NEW_YORK, "2026-03-08T07:00Z", "2026-03-09T06:30Z"),
    ("30 2 * * *", NEW_YORK, "2026-03-08T07:00:01Z", "2026-03-09T06:30Z"),
    # Wildcards: what the clock never shows does not run.
    ("*/30 2 * * *", NEW_YORK, "2026-03-07T12:00Z", "2026-03-09T06:00Z 06:30Z"),
    ("30 * * * *", NEW_YORK, "2026-03-08T05:45Z", "2026-03-08T06:30Z 07:30Z"),
    ("30 */2 * * *", NEW_YORK, "2026-03-08T05:45Z", "2026-03-08T08:30Z"),
    ("*/7 * * * *", NEW_YORK, "2026-03-08T06:45Z", "2026-03-08T06:49Z 06:56Z 07:00Z 07:07Z"),
    ("15 */20 * * * *", NEW_YORK, "2026-03-08T06:30Z", "2026-03-08T06:40:15Z 07:00:15Z"),
    # Half an hour, two hours, a change that is not on the hour.
    ("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00Z", "2026-10-03T15:30Z 04T15:15Z"),
    ("45 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00Z", "2026-10-03T15:45Z 04T15:45Z"),
    (
        "*/15 2 * * *",
        "Australia/Lord_Howe",
        "2026-10-03T15:00Z",
        "2026-10-03T15:30Z 15:45Z 04T15:00Z",
    ),
    ("30 1,2 * * *", "Antarctica/Troll", "2026-03-29T00:00Z", "2026-03-29T01:00Z 23:30Z 30T00:30Z"),
    ("0 3 * * *", "Pacific/Chatham", "2026-09-26T12:00Z", "2026-09-26T14:00Z 27T13:15Z"),
    # Samoa skipped a whole day.
    ("0 9 * * *", "Pacific/Apia", "2011-12-29T20:00Z", "2011-12-30T10:00Z 19:00Z"),
]


@pytest.mark.parametrize(("expression", "zone", "after", "expected"), GAPS)
def test_a_skipped_time_runs_right_after_the_gap_and_a_wildcard_not(
    expression: str, zone: str, after: str, expected: str
) -> None:
    check(expression, zone, after, expected)


OVERLAPS = [
    pytest.param(
        *("30 1 * * *", NEW_YORK, "2026-10-31T12:00-04:00"),
        "2026-11-01T05:30Z 02T06:30Z 03T06:30Z",
        id="case_002",
    ),
    # Asked in the first pass, at its fire, and in the second pass.
    ("30 1 * * *", NEW_YORK, "2026-11-01T05:29:59Z", "2026-11-01T05:30Z"),
    ("30 1 * * *", NEW_YORK, "2026-11-01T05:30Z", "2026-11-02T06:30Z"),
    ("30 1 * * *", NEW_YORK, "2026-11-01T06:15Z", "2026-11-02T06:30Z"),
    ("0-59 1 * * *", NEW_YORK, "2026-11-01T05:58:30Z", "2026-11-01T05:59Z 02T06:00Z"),
    # A range is not a wildcard: two hours without a run.
    ("0 0-23 * * *", NEW_YORK, "2026-11-01T04:30Z", "2026-11-01T05:00Z 07:00Z 08:00Z"),
    ("0 2 * * *", NEW_YORK, "2026-11-01T05:30Z", "2026-11-01T07:00Z"),
    # Wildcards run in both passes.
    ("30 * * * *", NEW_YORK, "2026-11-01T05:00Z", "2026-11-01T05:30Z 06:30Z 07:30Z"),
    (
        "*/30 1 * * *",
        NEW_YORK,
        "2026-11-01T04:00Z",
        "2026-11-01T05:00Z 05:30Z 06:00Z 06:30Z 02T06:00Z",
    ),
    ("0 */2 * * *", NEW_YORK, "2026-11-01T03:00Z", "2026-11-01T04:00Z 07:00Z"),
    ("0 */2 * * *", BERLIN, "2026-10-24T23:00Z", "2026-10-25T00:00Z 01:00Z 03:00Z"),
    ("*/7 * * * *", NEW_YORK, "2026-11-01T05:50Z", "2026-11-01T05:56Z 06:00Z 06:07Z"),
    # A yearly job meets its second pass before its next year.
    ("*/30 1 1 11 *", NEW_YORK, "2026-11-01T05:30Z", "2026-11-01T06:00Z 06:30Z 2027-11-01T05:00Z"),
    # Half an hour, two hours, an overlap across midnight.
    ("45 1 * * *", "Australia/Lord_Howe", "2026-04-04T14:00Z", "2026-04-04T14:45Z 05T15:15Z"),
    ("40 * * * *", "Australia/Lord_Howe", "2026-04-04T14:50Z", "2026-04-04T15:10Z 16:10Z"),
    (
        "30 1,2 * * *",
        "Antarctica/Troll",
        "2026-10-24T23:00Z",
        "2026-10-24T23:30Z 25T00:30Z 26T01:30Z",
    ),
    ("30 23 * * *", "Africa/Cairo", "2026-10-29T20:00Z", "2026-10-29T20:30Z 30T21:30Z"),
    ("30 */23 * * *", "Africa/Cairo", "2026-10-29T20:00Z", "2026-10-29T20:30Z 21:30Z 22:30Z"),
    ("30 0 30 * *", "Africa/Cairo", "2026-10-29T20:00Z", "2026-10-29T22:30Z"),
]


@pytest.mark.parametrize(("expression", "zone", "after", "expected"), OVERLAPS)
def test_a_repeated_time_runs_in_its_first_pass_and_a_wildcard_in_both(
    expression: str, zone: str, after: str, expected: str
) -> None:
    check(expression, zone, after, expected)


def test_a_zero_in_the_seconds_field_changes_nothing() -> None:
    for expression in ("30 2 * * *", "30 1 * * *", "*/20 1-3 * * *", "0 */2 * * 0"):
        for after in ("2026-03-08T05:00Z", "2026-11-01T04:00Z"):
            five = fires(expression, NEW_YORK, after, 5)
            assert fires(f"0 {expression}", NEW_YORK, after, 5) == five


NEVER = [
    pytest.param("0 0 30 2 *", "UTC", id="case_012-30-february"),
    pytest.param("0 0 31 4 *", "UTC", id="case_012-31-april"),
    pytest.param("0 0 31 2,4,6 *", "UTC", id="case_012-three-short-months"),
    pytest.param("* * 30 2 *", NEW_YORK, id="case_012-wildcard"),
    # The second Sunday of March has no 02:00 to 02:59, and a wildcard does not run for it.
    ("*/5 2 * 3 0#2", NEW_YORK),
]


@pytest.mark.parametrize(("expression", "zone"), NEVER)
def test_what_never_fires_is_found_out_at_once(expression: str, zone: str) -> None:
    for after in ("2026-01-01T00:00Z", "2026-11-01T05:30Z"):
        assert fires(expression, zone, after, 1) == []
        assert least_cpu_s(partial(fires, expression, zone, after, 1)) < 0.1


def test_the_same_time_in_that_gap_as_a_fixed_one_runs_each_year() -> None:
    check("5 2 * 3 0#2", NEW_YORK, "2026-01-01T00:00Z", "2026-03-08T07:00Z 2027-03-14T07:00Z")


def test_what_fires_after_more_than_12_years_counts_as_never() -> None:
    # Leap days that are Sundays: 2032, 2060.
    sundays = ("0 0 29 2 */7", "UTC")
    assert fires(*sundays, "2026-01-01T00:00Z", 1) == [instant("2032-02-29T00:00Z")]
    assert fires(*sundays, "2032-02-29T00:00Z", 1) == []
    assert fires(*sundays, "2048-02-28T00:00Z", 1) == []
    assert fires(*sundays, "2048-02-29T00:00Z", 1) == [instant("2060-02-29T00:00Z")]


@pytest.mark.parametrize(
    ("expression", "zone"),
    [
        ("0 0 29 2 */7", "UTC"),
        ("*/7 1 29 2 *", NEW_YORK),
        ("*/7 1 29 2 */7", "Africa/Casablanca"),
        ("0-59 0-23 1-31 * 0-7", BERLIN),
        ("* * L 2 */7", "Australia/Lord_Howe"),
        ("0 0 * 2 1#5", "Antarctica/Troll"),
        ("59 59 23 31 12 0", "Pacific/Chatham"),
    ],
)
def test_no_question_takes_more_than_a_tenth_of_a_second(expression: str, zone: str) -> None:
    for year in (1970, 2026, 2105, 2188):
        assert least_cpu_s(partial(fires, expression, zone, f"{year}-03-01T00:00Z", 1)) < 0.1


@pytest.mark.parametrize("zone", [NEW_YORK, "Australia/Lord_Howe", "Africa/Cairo", "UTC"])
@pytest.mark.parametrize("expression", ["0-59 0-23 * * *", "* * * * *", "0,59 0,1,2,23 * * *"])
def test_the_next_instant_is_always_later_and_none_is_left_out_by_asking_between(
    zone: str, expression: str
) -> None:
    for start in (
        "2026-03-07T22:00Z",
        "2026-04-04T13:00Z",
        "2026-10-29T19:00Z",
        "2026-11-01T04:00Z",
    ):
        found = fires(expression, zone, start, 150)
        assert all(low < high for low, high in pairwise(found))
        cron = parse_cron(expression)
        for low, high in pairwise(found):
            for after in (low + timedelta(microseconds=1), high - timedelta(microseconds=1)):
                assert next_cron_fire(cron, time_zone(zone), after) == high
