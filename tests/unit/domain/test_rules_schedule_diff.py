"""How the rows of schedules follow the triggers."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whenthen.domain.limits import GAP_ROWS_MAX
from whenthen.domain.rules.schedule_diff import (
    Difference,
    PassedOver,
    ScheduleRow,
    WantedSchedule,
    as_changed,
    difference,
    from_now,
    passed_over,
)

AUTOMATION = UUID("01970000-0000-7000-8000-00000000000a")
NOW = datetime(2026, 6, 1, 12, 0, 30, 123_456, tzinfo=UTC)
NINE = datetime(2026, 6, 2, 9, tzinfo=UTC)
SECOND, MINUTE, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(days=1)


def wanted(number: int = 1, **changes: Any) -> WantedSchedule:
    facts: dict[str, Any] = {
        "id": UUID(int=number),
        "automation_id": AUTOMATION,
        "version": 1,
        "cron": "0 9 * * *",
        "run_every_s": None,
        "time_zone": "UTC",
        "catch_up": "none",
        "catch_up_window_s": 3600,
        "overlap": "allow",
    }
    return WantedSchedule(**{**facts, **changes})


def row(one: WantedSchedule, next_at: datetime | None = NINE) -> ScheduleRow:
    return ScheduleRow(one, NOW - DAY, next_at)


EVERY: dict[str, Any] = {"cron": None, "run_every_s": 90}
# What changes in a trigger, and whether its clock does.
CHANGES: list[tuple[dict[str, Any], bool]] = [
    ({"version": 2}, False),
    ({"catch_up": "all"}, False),
    ({"catch_up_window_s": 60}, False),
    ({"overlap": "skip"}, False),
    ({"cron": "0 10 * * *"}, True),
    ({"time_zone": "Europe/Berlin"}, True),
    (EVERY, True),
]


def test_what_is_the_same_is_left_alone() -> None:
    one = wanted()
    plan = difference([one], [row(one)])
    assert (plan, plan.count, plan.left, plan.stopped) == (Difference([], [], []), 0, [], [])


@pytest.mark.parametrize(("change", "is_clock"), CHANGES)
def test_any_change_is_written_and_another_clock_stops_the_one_before(
    change: dict[str, Any],
    is_clock: bool,  # noqa: FBT001
) -> None:
    before, after = row(wanted()), wanted(**change)
    plan = difference([after], [before])
    assert plan == Difference([], [(before, after)], [])
    assert (plan.count, plan.left, plan.stopped) == (1, [before], [before] if is_clock else [])


def test_a_trigger_without_a_row_is_new_and_a_row_without_a_trigger_is_gone() -> None:
    stays, comes, goes = wanted(1), wanted(2), row(wanted(3))
    plan = difference([stays, comes], [row(stays), goes])
    assert plan == Difference([comes], [], [goes])
    assert (plan.count, plan.left, plan.stopped) == (2, [goes], [goes])


def test_what_is_activated_begins_again_though_its_row_was_there() -> None:
    one = wanted()
    assert difference([one], [row(one)], anew=True) == Difference([one], [], [row(one)])


@given(
    st.dictionaries(st.integers(1, 6), st.integers(1, 3)),
    st.dictionaries(st.integers(1, 6), st.integers(1, 3)),
    st.booleans(),
)
def test_carrying_out_the_difference_gives_what_was_wanted(
    after: dict[int, int],
    before: dict[int, int],
    anew: bool,  # noqa: FBT001
) -> None:
    wish = [wanted(number, version=version) for number, version in after.items()]
    present = [row(wanted(number, version=version)) for number, version in before.items()]
    plan = difference(wish, present, anew=anew)
    there = {one.wanted.id: one.wanted for one in present}
    for gone in plan.gone:
        del there[gone.wanted.id]
    for old, follower in plan.changed:
        assert there[old.wanted.id] == old.wanted
        there[follower.id] = follower
    for one in plan.new:
        assert one.id not in there
        there[one.id] = one
    assert there == {one.id: one for one in wish}


@pytest.mark.parametrize(
    ("now", "first"),
    [
        (NINE - SECOND, NINE),
        (NINE - timedelta(microseconds=1), NINE),
        (NINE, NINE + DAY),
        (NINE + SECOND, NINE + DAY),
    ],
)
def test_a_schedule_that_begins_fires_later_than_now(now: datetime, first: datetime) -> None:
    assert from_now(wanted(), now).next_at == first


def test_an_interval_is_anchored_at_whole_milliseconds() -> None:
    made = from_now(wanted(**EVERY), NOW)
    assert made.anchor_at == NOW.replace(microsecond=123_000)
    assert made.next_at == made.anchor_at + 90 * SECOND


def test_what_can_no_longer_be_read_never_fires() -> None:
    one = wanted(time_zone="Atlantis/Poseidonis")
    assert from_now(one, NOW).next_at is None
    assert passed_over(row(one, NOW - DAY), NOW) == PassedOver((), 0)


AHEAD, LATER = NINE - DAY, NINE + DAY


@pytest.mark.parametrize(
    ("next_at", "withdrawn", "then"),
    [
        (NINE, None, NINE),
        (NINE, AHEAD, AHEAD),
        (LATER, NINE, NINE),
        # Late, for no tick came: its instant is not lost by the edit.
        (NOW - MINUTE, None, NOW - MINUTE),
        (NOW - MINUTE, NINE, NOW - MINUTE),
        (None, NINE, NINE),
        (None, None, None),
    ],
)
@pytest.mark.parametrize("change", [change for change, is_clock in CHANGES if not is_clock])
def test_the_same_clock_goes_on_where_it_was_or_where_a_run_was_withdrawn(
    change: dict[str, Any],
    next_at: datetime | None,
    withdrawn: datetime | None,
    then: datetime | None,
) -> None:
    before, after = row(wanted(), next_at), wanted(**change)
    assert as_changed(before, after, NOW, withdrawn) == ScheduleRow(after, NOW - DAY, then)


@pytest.mark.parametrize("change", [change for change, is_clock in CHANGES if is_clock])
def test_another_clock_begins_now_whatever_was_withdrawn(change: dict[str, Any]) -> None:
    before, after = row(wanted(), NOW - MINUTE), wanted(**change)
    assert as_changed(before, after, NOW, NINE) == from_now(after, NOW)


def test_an_interval_keeps_its_anchor_through_a_version_and_loses_it_with_another_interval() -> (
    None
):
    before = from_now(wanted(**EVERY), NOW - DAY)
    assert as_changed(before, wanted(**EVERY, version=2), NOW, None).anchor_at == before.anchor_at
    slower = {**EVERY, "run_every_s": 120}
    assert as_changed(before, wanted(**slower), NOW, None).anchor_at > NOW - SECOND


@pytest.mark.parametrize(
    ("next_at", "passed"),
    [
        (None, 0),
        (NINE + SECOND, 0),
        (NINE, 1),
        (NINE - DAY, 2),
        (NINE - (GAP_ROWS_MAX - 1) * DAY, GAP_ROWS_MAX),
    ],
)
def test_what_a_clock_should_have_fired_is_passed_over(
    next_at: datetime | None, passed: int
) -> None:
    found = passed_over(row(wanted(), next_at), NINE)
    instants = [NINE - n * DAY for n in reversed(range(passed))]
    assert list(found.rows) == [(at, "superseded") for at in instants]
    assert found.count == passed


def test_of_a_long_gap_the_newest_instants_are_named_and_the_others_counted() -> None:
    first = NINE - (GAP_ROWS_MAX + 4) * DAY
    found = passed_over(row(wanted(), first), NINE)
    assert found.rows[0] == (first, "5 older occurrences")
    named = [at for at, reason in found.rows if reason == "superseded"]
    assert named == [NINE - n * DAY for n in reversed(range(GAP_ROWS_MAX))]
    assert (len(found.rows), found.count) == (GAP_ROWS_MAX + 1, GAP_ROWS_MAX + 5)
