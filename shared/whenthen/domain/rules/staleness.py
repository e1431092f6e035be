"""What the sweep does with a run whose own wake-up has come.

Every row that has not ended holds its next wake-up, so nothing waits for a message that was lost.

Source: docs/architecture.md, "The sweep".
"""

import math
from dataclasses import dataclass

from whenthen.domain.kinds import RunStatus
from whenthen.domain.limits import (
    LEASE_WAKE_MARGIN_S,
    QUEUE_DELAY_MAX_S,
    WAKE_AGAIN_S,
    WAKE_AHEAD_S,
    WAKE_MARGIN_S,
)


@dataclass(frozen=True, slots=True)
class SendAgain:
    """A message goes out with `delay_s`; the row looks again in `wake_in_s` seconds.

    `stale`: the message that was due before this one was lost, which the run's log shall tell.
    """

    delay_s: int
    wake_in_s: float
    stale: bool


@dataclass(frozen=True, slots=True)
class LookLater:
    """Nothing is wrong; the row looks again in `wake_in_s` seconds, never if None."""

    wake_in_s: float | None


@dataclass(frozen=True, slots=True)
class Crashed:
    """The run's lease ran out: its worker is gone."""


@dataclass(frozen=True, slots=True)
class NoticeAgain:
    """Notices of deaths go out again; the row looks again in `wake_in_s` seconds."""

    wake_in_s: float


Finding = SendAgain | LookLater | Crashed | NoticeAgain


def look_at(
    status: RunStatus, due_in_s: float, lease_left_s: float | None, *, unannounced: bool
) -> Finding:
    """Return what a row that woke needs; `lease_left_s` is negative once its lease has run out.

    A waiting run that is due (or nearly) gets its message and fifteen minutes; nothing is counted.
    `unannounced`: a death of the run has no notice out yet. It may have ended otherwise since, for
    a person can retry it before its notice is out.
    """
    match status:
        case RunStatus.PENDING if due_in_s > QUEUE_DELAY_MAX_S:
            return LookLater(due_in_s - WAKE_AHEAD_S)
        case RunStatus.PENDING:
            delay_s = math.ceil(max(due_in_s, 0))
            return SendAgain(delay_s, delay_s + WAKE_AGAIN_S, stale=due_in_s <= -WAKE_MARGIN_S)
        case RunStatus.RUNNING if lease_left_s is not None and lease_left_s > 0:
            return LookLater(lease_left_s + LEASE_WAKE_MARGIN_S)
        case RunStatus.RUNNING:
            return Crashed()
        case _ if unannounced:
            return NoticeAgain(WAKE_AGAIN_S)
        case _:
            return LookLater(None)
