"""The hours of a workspace's statistics."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from http_api.stats_body import stats
from whenthen.domain.instants import parse_instant
from whenthen.engine.read_stats import Window
from whenthen.store.run_stats import RunStats

NOTHING = RunStats(runs={}, dead_lettered=0, p50_ms=None, p95_ms=None)


@pytest.mark.parametrize(
    ("since", "until", "hours"),
    [
        ("2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z", ["00"]),
        ("2026-01-01T00:00:00Z", "2026-01-01T01:00:00.001Z", ["00", "01"]),
        ("2026-01-01T00:59:59.999Z", "2026-01-01T01:00:00Z", ["00"]),
        ("2026-01-01T00:30:00Z", "2026-01-01T02:30:00Z", ["00", "01", "02"]),
        ("2026-01-01T00:30:00Z", "2026-01-01T00:30:00.001Z", ["00"]),
        ("9999-12-31T23:30:00Z", "9999-12-31T23:59:59.999Z", ["23"]),
        ("0001-01-01T00:30:00Z", "0001-01-01T00:40:00Z", ["00"]),
    ],
)
def test_every_hour_that_the_window_touches_is_there(
    since: str, until: str, hours: list[str]
) -> None:
    first, last = parse_instant(since), parse_instant(until)
    assert first is not None
    assert last is not None
    shown = stats(Window(first, last), NOTHING)["perHour"]
    assert [one["hour"][11:13] for one in shown] == hours
    assert all(set(one["runs"].values()) == {0} for one in shown)


def test_an_hour_is_found_whatever_the_offset_it_came_with() -> None:
    hour = datetime(2026, 1, 1, 5, tzinfo=UTC)
    found = RunStats({}, 0, None, None, per_hour={hour: {"FAILED": 1}})
    since = hour.astimezone(timezone(timedelta(hours=5, minutes=30)))
    shown = stats(Window(since, since + timedelta(minutes=1)), found)["perHour"]
    assert shown == [{"hour": "2026-01-01T05:00:00.000Z", "runs": {"FAILED": 1}}]
