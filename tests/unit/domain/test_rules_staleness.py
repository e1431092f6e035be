"""What the sweep does with a row whose own wake-up has come."""

import pytest

from whenthen.domain.kinds import TERMINAL_RUN_STATUSES, RunStatus
from whenthen.domain.rules.staleness import (
    Crashed,
    Finding,
    LookLater,
    NoticeAgain,
    SendAgain,
    look_at,
)
from whenthen.domain.rules.wake_up import pending_wake

PENDING, RUNNING = RunStatus.PENDING, RunStatus.RUNNING


@pytest.mark.parametrize(
    ("due_in_s", "expected"),
    [
        (-3600, SendAgain(0, 900, stale=True)),
        (-60, SendAgain(0, 900, stale=True)),
        (-59.9, SendAgain(0, 900, stale=False)),
        (-0.1, SendAgain(0, 900, stale=False)),
        (0, SendAgain(0, 900, stale=False)),
        (0.1, SendAgain(1, 901, stale=False)),
        (90, SendAgain(90, 990, stale=False)),
        (899.5, SendAgain(900, 1800, stale=False)),
        (900, SendAgain(900, 1800, stale=False)),
        (900.5, LookLater(810.5)),
        (2_592_000, LookLater(2_591_910)),
    ],
)
def test_case_030_a_waiting_run_gets_its_message_once_the_queue_can_hold_it_back_so_long(
    due_in_s: float, expected: Finding
) -> None:
    assert look_at(PENDING, due_in_s, None, unannounced=False) == expected
    # A run that was brought back before its death was told waits like any other.
    assert look_at(PENDING, due_in_s, None, unannounced=True) == expected


@pytest.mark.parametrize(
    ("lease_left_s", "expected"),
    [
        (200, LookLater(230)),
        (0.5, LookLater(30.5)),
        (0, Crashed()),
        (-0.1, Crashed()),
        (-3600, Crashed()),
        (None, Crashed()),
    ],
)
def test_a_running_run_has_crashed_only_when_its_lease_has_run_out(
    lease_left_s: float | None, expected: Finding
) -> None:
    # Old or long overdue it may be: only the lease counts.
    assert look_at(RUNNING, -1_000_000, lease_left_s, unannounced=False) == expected


@pytest.mark.parametrize("status", sorted(TERMINAL_RUN_STATUSES))
def test_a_run_that_has_ended_stays_awake_only_until_its_deaths_are_told(
    status: RunStatus,
) -> None:
    assert look_at(status, -500, None, unannounced=True) == NoticeAgain(900)
    assert look_at(status, -500, None, unannounced=False) == LookLater(None)


@pytest.mark.parametrize("due_in_s", [901, 3_600, 86_400, 2_592_000])
def test_a_long_wait_is_woken_early_enough_to_be_delayed_to_the_second(due_in_s: float) -> None:
    left_s = due_in_s - pending_wake(due_in_s).wake_in_s
    # Even a sweep that comes a whole minute late is in time.
    for late_s in (0, 60):
        found = look_at(PENDING, left_s - late_s, None, unannounced=False)
        assert isinstance(found, SendAgain)
        assert found.delay_s == left_s - late_s
