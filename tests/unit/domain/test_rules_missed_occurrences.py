"""Which instants fire and which were missed, by when ticks started and what the trigger asks."""

from datetime import UTC, datetime, timedelta

import pytest

from whenthen.domain.limits import GAP_ROWS_MAX
from whenthen.domain.rules.missed_occurrences import CAUGHT_UP, CatchUp, Due, Instant, due_instants
from whenthen.domain.rules.schedule import next_fires, read_schedule

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
FOUR = datetime(2026, 6, 1, 4, tzinfo=UTC)
TEN_MINUTES = read_schedule("*/10 * * * *", None, "UTC", FOUR)


def due(
    now: datetime,
    *starts: datetime,
    first: datetime = FOUR,
    catch_up: CatchUp = "none",
    window_s: int = 3_600,
) -> Due:
    # A tick's own start is among them.
    return due_instants(
        TEN_MINUTES,
        first,
        now,
        sorted([*starts, now]),
        catch_up=catch_up,
        catch_up_window_s=window_s,
    )


@pytest.mark.parametrize(
    ("late_s", "fires"),
    [(-60, True), (-1, True), (0, True), (59, True), (149, True), (150, True), (151, False)],
)
def test_an_instant_is_missed_when_the_first_tick_comes_more_than_150_s_after_it(
    late_s: int, *, fires: bool
) -> None:
    found = due(FOUR + late_s * SECOND)
    assert found == Due([Instant(FOUR, fires)], int(not fires), FOUR + 10 * MINUTE)


@pytest.mark.parametrize(
    ("started_s", "fires"),
    [
        # A tick sees 60 s ahead.
        (-61, False),
        (-60, True),
        (0, True),
        (150, True),
        (151, False),
    ],
)
def test_what_a_tick_could_have_taken_is_late_however_long_ago(
    started_s: int, *, fires: bool
) -> None:
    now = FOUR + 8 * MINUTE
    assert due(now).instants == [Instant(FOUR, fires=False)]
    assert due(now, FOUR + started_s * SECOND).instants == [Instant(FOUR, fires)]


def test_the_ticks_before_and_after_an_instant_say_nothing_of_it() -> None:
    now = FOUR + 8 * MINUTE
    others = [FOUR - 2 * MINUTE, FOUR - 61 * SECOND, FOUR + 151 * SECOND, FOUR + 4 * MINUTE]
    assert due(now, *others).missed == 1
    assert due(now, *others, FOUR + 100 * SECOND).missed == 0


def test_a_tick_takes_what_lies_within_a_minute_ahead_and_no_more() -> None:
    ahead = due(FOUR + 9 * MINUTE, FOUR)
    assert [instant.at for instant in ahead.instants] == [FOUR, FOUR + 10 * MINUTE]
    assert ahead.next_at == FOUR + 20 * MINUTE
    earlier = due(FOUR + 9 * MINUTE - SECOND, FOUR)
    assert [instant.at for instant in earlier.instants] == [FOUR]
    assert earlier.next_at == FOUR + 10 * MINUTE


# Ticks until 03:59, when 04:00 is taken, and again from 08:03.
OUTAGE = next_fires(TEN_MINUTES, FOUR, 24)
AFTER = FOUR + timedelta(hours=4, minutes=3)


@pytest.mark.parametrize(
    ("catch_up", "window_s", "caught"),
    [
        ("none", 3_600, []),
        ("none", 604_800, []),
        ("last", 3_600, OUTAGE[-1:]),
        ("last", 180, OUTAGE[-1:]),
        ("last", 179, []),
        ("all", 3_600, OUTAGE[-6:]),
        ("all", 180 + 600, OUTAGE[-2:]),
        ("all", 180 + 599, OUTAGE[-1:]),
        ("all", 604_800, OUTAGE),
    ],
)
def test_case_023_after_an_outage_catch_up_decides(
    catch_up: CatchUp, window_s: int, caught: list[datetime]
) -> None:
    found = due(AFTER, first=OUTAGE[0], catch_up=catch_up, window_s=window_s)
    assert [instant.at for instant in found.instants] == OUTAGE
    assert [instant.at for instant in found.instants if instant.fires] == caught
    assert found.missed == 24 - len(caught)
    assert {i.reason for i in found.instants if i.fires} <= {CAUGHT_UP}
    assert {i.reason for i in found.instants if not i.fires} <= {None}
    assert found.next_at == OUTAGE[-1] + 10 * MINUTE


def test_what_is_due_now_fires_beside_what_is_caught_up() -> None:
    found = due(OUTAGE[-1], first=OUTAGE[0], catch_up="last")
    fired = [(instant.at, instant.reason) for instant in found.instants if instant.fires]
    assert fired == [(OUTAGE[-2], CAUGHT_UP), (OUTAGE[-1], None)]


@pytest.mark.parametrize(
    ("more", "reason"), [(0, None), (1, None), (2, "2 older occurrences"), (500, "500 older")]
)
def test_of_a_gap_the_newest_thousand_are_rows_and_the_older_ones_one(
    more: int, reason: str | None
) -> None:
    gap = next_fires(TEN_MINUTES, FOUR, GAP_ROWS_MAX + more)
    found = due(gap[-1] + 3 * MINUTE, first=gap[0], catch_up="all", window_s=604_800)
    rows = [instant.at for instant in found.instants]
    assert rows == (gap[:1] if more else []) + gap[more:]
    if more:
        assert not found.instants[0].fires
        told = found.instants[0].reason
        assert told == reason if reason is None else (told or "").startswith(reason)
    assert found.missed == more + sum(not i.fires for i in found.instants[1 if more else 0 :])


def test_a_schedule_without_another_instant_is_never_due_again() -> None:
    leap = read_schedule("0 0 29 2 *", None, "UTC", FOUR)
    last = datetime(2096, 2, 29, tzinfo=UTC)
    found = due_instants(leap, last, last, [last], catch_up="none", catch_up_window_s=60)
    # 2100 is no leap year, but 2104 is.
    assert found.next_at == datetime(2104, 2, 29, tzinfo=UTC)
    assert [instant.at for instant in found.instants] == [last]
