"""When a waiting run's row looks after itself, whatever became of its message."""

import math
from dataclasses import dataclass

from whenthen.domain.limits import QUEUE_DELAY_MAX_S, WAKE_AHEAD_S, WAKE_MARGIN_S


@dataclass(frozen=True, slots=True)
class WakeUp:
    """The next wake-up of a PENDING run, in seconds from now, and its message's delay."""

    wake_in_s: float
    # None: too far ahead for the queue, so the sweep sends the message when the row wakes.
    send_delay_s: int | None


def pending_wake(due_in_s: float) -> WakeUp:
    """Return the wake-up of a run that is due in `due_in_s` seconds (negative: overdue).

    Up to 900 s ahead a message goes out now and the row wakes 60 s after the run is due, in case
    the message is lost. Further ahead no message goes out and the row wakes 90 s before, so that
    the sweep, which runs every minute, can still delay the message to the second.

    Source: AWS, SendMessage: DelaySeconds is 0..900.
    """
    due_in_s = max(due_in_s, 0)
    if due_in_s <= QUEUE_DELAY_MAX_S:
        return WakeUp(due_in_s + WAKE_MARGIN_S, math.ceil(due_in_s))
    return WakeUp(due_in_s - WAKE_AHEAD_S, None)
