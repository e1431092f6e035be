"""The body of a preview."""

from datetime import UTC, datetime
from typing import Any

import pytest

from whenthen.domain.errors import InvalidError
from whenthen.domain.schemas.problems import read
from whenthen.domain.schemas.schedules import PreviewSchedule


def test_a_preview_has_a_clock_a_beginning_and_a_count() -> None:
    body = read(PreviewSchedule, {"cron": "0 9 * * *", "after": "2026-06-01T02:00:00+02:00"})
    assert body.after == datetime(2026, 6, 1, tzinfo=UTC)
    assert (body.run_every, body.time_zone, body.count) == (None, "UTC", 5)
    assert body.to_json() == {
        "cron": "0 9 * * *",
        "timeZone": "UTC",
        "after": "2026-06-01T00:00:00.000Z",
        "count": 5,
    }
    assert read(PreviewSchedule, {"runEvery": 60, "after": None}).after is None


@pytest.mark.parametrize(
    "after", ["1970-01-01T00:00:00Z", "2200-12-31T23:59:59.999Z", "2026-06-01"]
)
def test_a_preview_begins_in_any_year_that_has_rules(after: str) -> None:
    assert read(PreviewSchedule, {"runEvery": 60, "after": after}).after is not None


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"after": "1969-12-31T23:59:59.999Z"}, "after"),
        ({"after": "2201-01-01T00:00:00Z"}, "after"),
        ({"after": "0001-01-01T00:00:00Z"}, "after"),
        ({"after": "now"}, "after"),
        ({"after": 1_780_000_000}, "after"),
        ({"count": 0}, "count"),
        ({"count": 51}, "count"),
        ({"count": 5.0}, "count"),
        ({"catchUp": "all"}, "catchUp"),
        ({"cron": "* * * * *"}, ""),
    ],
)
def test_other_previews_are_refused(body: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidError) as caught:
        read(PreviewSchedule, {"runEvery": 60, **body})
    assert caught.value.details is not None
    assert [one["path"] for one in caught.value.details] == [path]  # type: ignore[index]
