"""Until when a DELAY waits."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from whenthen.domain.errors import FatalError
from whenthen.domain.rules.delay import resume_at

NOW = datetime(2026, 6, 1, 12, 0, 0, tzinfo=UTC)
MONTH_S = 2_592_000


@pytest.mark.parametrize(
    ("seconds", "waits_s"),
    [
        (1, 1),
        (60, 60),
        (MONTH_S, MONTH_S),
        (Decimal(60), 60),
        (Decimal("60.0"), 60),
        (60.0, 60),
        ("60", 60),
        ("60.0", 60),
    ],
)
def test_seconds_count_from_now(seconds: Any, waits_s: int) -> None:
    assert resume_at({"seconds": seconds}, NOW) == NOW + timedelta(seconds=waits_s)


@pytest.mark.parametrize(
    "seconds",
    [
        *(0, -1, MONTH_S + 1, 0.5, Decimal("1.5"), 10**400, float("inf"), float("nan")),
        *("", "0", " 60", "060", "1e3", "1_000", "٦٠", "sixty", "2592001"),
        *(True, None, [], [60], {}, {"seconds": 60}),
    ],
)
def test_seconds_that_are_no_whole_number_of_the_range_are_refused(seconds: Any) -> None:
    assert refusal({"seconds": seconds}) == "seconds is not a whole number from 1 to 2592000"


@pytest.mark.parametrize(
    ("until", "expected"),
    [
        ("2026-06-01T12:00:00.001Z", NOW + timedelta(milliseconds=1)),
        ("2026-06-01T14:00:00+02:00", NOW),
        ("2026-06-01T12:00:00", NOW),
        ("2026-06-02", datetime(2026, 6, 2, tzinfo=UTC)),
        ("1970-01-01", datetime(1970, 1, 1, tzinfo=UTC)),
        ("2026-07-01T12:00:00.000000Z", NOW + timedelta(days=30)),
    ],
)
def test_until_is_an_instant_which_may_have_passed(until: str, expected: datetime) -> None:
    assert resume_at({"until": until}, NOW) == expected


@pytest.mark.parametrize("until", ["2026-07-01T12:00:00.000001Z", "2026-07-02", "9999-12-31"])
def test_until_is_at_most_30_days_ahead(until: str) -> None:
    assert refusal({"until": until}) == "until is more than 30 days ahead"


@pytest.mark.parametrize(
    "until", ["", "tomorrow", "20260602", "2026-02-30", 1_780_000_000, None, True, ["2026-06-02"]]
)
def test_an_unreadable_until_is_refused(until: Any) -> None:
    assert refusal({"until": until}) == "until is not an ISO 8601 instant"


def refusal(config: dict[str, Any]) -> str:
    with pytest.raises(FatalError) as caught:
        resume_at(config, NOW)
    assert caught.value.code == "DELAY_INVALID"
    return caught.value.message
