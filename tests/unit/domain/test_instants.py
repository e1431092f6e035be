"""Instants: ISO 8601 in, one form out."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from whenthen.domain.instants import has_offset, parse_instant, to_text


@pytest.mark.parametrize(
    ("instant", "text"),
    [
        (datetime(2026, 1, 1, tzinfo=UTC), "2026-01-01T00:00:00.000Z"),
        (datetime(2026, 1, 1, 0, 0, 0, 999_999, tzinfo=UTC), "2026-01-01T00:00:00.999Z"),
        (datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=2))), "2025-12-31T22:00:00.000Z"),
        (datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00.000Z"),
    ],
)
def test_an_instant_is_written_in_utc_cut_to_milliseconds(instant: datetime, text: str) -> None:
    assert to_text(instant) == text


def test_a_naive_instant_is_not_written() -> None:
    with pytest.raises(ValueError, match="offset"):
        to_text(datetime(2026, 1, 1))  # noqa: DTZ001  # that is the point


@pytest.mark.parametrize(
    ("text", "written", "offset"),
    [
        ("2026-01-01", "2026-01-01T00:00:00.000Z", False),
        ("2026-01-01T10:20", "2026-01-01T10:20:00.000Z", False),
        ("2026-01-01 10:20:30", "2026-01-01T10:20:30.000Z", False),
        ("2026-01-01T10:20:30.5", "2026-01-01T10:20:30.500Z", False),
        ("2026-01-01T10:20:30,25Z", "2026-01-01T10:20:30.250Z", True),
        ("2026-01-01t10:20:30z", "2026-01-01T10:20:30.000Z", True),
        ("2026-01-01T10:20:30.123456789Z", "2026-01-01T10:20:30.123Z", True),
        ("2026-01-01T10:20:30+02:00", "2026-01-01T08:20:30.000Z", True),
        ("2026-01-01T10:20:30-0530", "2026-01-01T15:50:30.000Z", True),
        ("2026-01-01T10:20+02", "2026-01-01T08:20:00.000Z", True),
        ("2024-02-29", "2024-02-29T00:00:00.000Z", False),
    ],
)
def test_iso_8601_is_read_and_without_offset_utc_is_meant(
    text: str, written: str, offset: object
) -> None:
    found = parse_instant(text)
    assert found is not None
    assert found.tzinfo is UTC
    assert to_text(found) == written
    assert has_offset(text) is offset


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2026",
        "20260101",
        "2026-1-1",
        "2026-W01-1",
        "2026-01-01T",
        "2026-01-01T10",
        "2026-01-01T10:20:30.",
        "2026-01-01T10:20:30.1234567890Z",
        "2026-01-01T10:20:30 Z",
        "2026-01-01Z",
        " 2026-01-01",
        "2026-01-01\n",
        "٢٠٢٦-01-01",
    ],
)
def test_other_text_is_no_instant(text: str) -> None:
    assert parse_instant(text) is None
    assert has_offset(text) is False


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-29",
        "2026-13-01",
        "2026-01-01T24:00Z",
        "2026-01-01T10:20:60Z",
        "0000-01-01",
        "0001-01-01T00:00+23:00",
        "9999-12-31T23:59:59-01:00",
        "2026-01-01T10:20+24:00",
    ],
)
def test_a_day_or_hour_that_does_not_exist_is_no_instant(text: str) -> None:
    assert parse_instant(text) is None
