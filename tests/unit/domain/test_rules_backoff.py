"""Waits between tries."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whenthen.domain.rules.backoff import backoff_s, parse_retry_after, retry_delay_s

NOW = datetime(2026, 6, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("attempt", "expected_s"),
    [
        (-1, 1),
        (0, 1),
        (1, 1),
        (2, 2),
        (3, 4),
        (4, 8),
        (5, 16),
        (6, 32),
        (7, 64),
        (8, 128),
        (9, 256),
        (10, 512),
        (11, 600),
        (12, 600),
        (47, 600),
        (1100, 600),
        (2000, 600),
        (5000, 600),
        (10**30, 600),
    ],
)
def test_case_029_backoff_doubles_up_to_its_cap_and_never_overflows(
    attempt: int, expected_s: int
) -> None:
    assert backoff_s(attempt) == expected_s


@pytest.mark.parametrize(
    ("attempt", "retry_after_s", "expected_s"),
    [
        (1, None, 1),
        (8, None, 128),
        (1, 0.0, 1),
        (4, 7.9, 8),
        (4, 8.0, 8),
        (4, 8.1, 9),
        (1, 899.0, 899),
        (1, 900.0, 900),
        (1, 901.0, 900),
        (1, 3600.0, 900),
        (1, float("inf"), 900),
        (11, 599.0, 600),
        (11, 601.0, 601),
    ],
)
def test_case_030_the_longer_of_backoff_and_the_capped_wish_counts(
    attempt: int, retry_after_s: float | None, expected_s: int
) -> None:
    assert retry_delay_s(attempt, retry_after_s) == expected_s


@pytest.mark.parametrize(
    ("header", "expected_s"),
    [
        ("0", 0.0),
        ("120", 120.0),
        (" 120\t", 120.0),
        ("3600", 3600.0),
        ("999999999", 999_999_999.0),
        ("Mon, 01 Jun 2026 12:00:00 GMT", 0.0),
        ("Mon, 01 Jun 2026 12:00:30 GMT", 30.0),
        ("Monday, 01-Jun-26 12:00:30 GMT", 30.0),
        ("Mon Jun  1 12:00:30 2026", 30.0),
        ("Mon, 01 Jun 2026 14:00:30 +0200", 30.0),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(header: str, expected_s: float) -> None:
    assert parse_retry_after(header, NOW) == expected_s


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        " ",
        "-1",
        "+5",
        "1.5",
        "1e3",
        "1_0",
        "٣",
        "²",
        "soon",
        "NaN",
        "9999999999",
        "9" * 5000,
        "Mon, 01 Jun 2026 11:59:59 GMT",
        "Mon, 31 Feb 2026 11:59:59 GMT",
        "Mon, 01 Jun 2026 12:00:30 +99999999999999999999",
        "Mon, 01 Jun 99999999999999999999 12:00:30 GMT",
        "Mon, 01 Jun 2026 99:00:30 GMT",
        "\x00",
    ],
)
def test_a_retry_after_that_makes_no_sense_is_ignored(header: str | None) -> None:
    assert parse_retry_after(header, NOW) is None


@given(st.text(max_size=60) | st.from_regex(r"\A\w{0,4},? ?\d* \w* \d* \d*:\d*:\d* [+-]?\w*\Z"))
def test_no_header_at_all_raises(header: str) -> None:
    wait_s = parse_retry_after(header, NOW)
    assert wait_s is None or wait_s >= 0


@given(st.integers(min_value=0, max_value=10**8))
def test_a_date_ahead_is_the_distance_to_it(ahead_s: int) -> None:
    header = (NOW + timedelta(seconds=ahead_s)).strftime("%a, %d %b %Y %H:%M:%S GMT")
    assert parse_retry_after(header, NOW) == ahead_s
