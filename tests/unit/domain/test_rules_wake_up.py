"""When a waiting run's row wakes, and when its message goes out."""

import pytest

from whenthen.domain.limits import QUEUE_DELAY_MAX_S
from whenthen.domain.rules.wake_up import WakeUp, pending_wake


@pytest.mark.parametrize(
    ("due_in_s", "expected"),
    [
        (-3600, WakeUp(60, 0)),
        (-0.1, WakeUp(60, 0)),
        (0, WakeUp(60, 0)),
        (0.1, WakeUp(60.1, 1)),
        (1, WakeUp(61, 1)),
        (899, WakeUp(959, 899)),
        (899.5, WakeUp(959.5, 900)),
        (900, WakeUp(960, 900)),
        (900.5, WakeUp(810.5, None)),
        (901, WakeUp(811, None)),
        (2_592_000, WakeUp(2_591_910, None)),
    ],
)
def test_case_030_a_message_goes_out_now_only_if_the_queue_can_hold_it_back_so_long(
    due_in_s: float, expected: WakeUp
) -> None:
    assert pending_wake(due_in_s) == expected


def test_case_030_a_message_sent_at_the_early_wake_up_can_be_delayed_to_the_second() -> None:
    due_in_s = 86_400.0
    left_s = due_in_s - pending_wake(due_in_s).wake_in_s
    again = pending_wake(left_s)
    assert again.send_delay_s == left_s
    assert again.send_delay_s <= QUEUE_DELAY_MAX_S
