"""How long a step waits before it is tried again."""

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from whenthen.domain.limits import BACKOFF_CAP_S, RETRY_AFTER_CAP_S

# From here on the cap decides, so no larger power is ever computed: 2.0**1100 overflows, and so
# does timedelta(seconds=1) * 2**47 (measured).
_LARGEST_EXPONENT: Final = BACKOFF_CAP_S.bit_length()
# Thirty years; whoever asks for more seconds than that has not written a wait.
_DIGITS_MAX: Final = 9


def backoff_s(attempt: int) -> int:
    """Return the wait in seconds after the failure of try number `attempt` (1 is the first).

    1, 2, 4 … 512, then 600 for every larger number; 0 and below count as 1.
    """
    exponent = min(max(attempt, 1) - 1, _LARGEST_EXPONENT)
    return min(1 << exponent, BACKOFF_CAP_S)


def retry_delay_s(attempt: int, retry_after_s: float | None) -> int:
    """Return the wait in whole seconds: the backoff, or longer if the target asked for it.

    The target's wish counts up to 900 s; a fraction is rounded up, so never earlier than asked.
    """
    backoff = backoff_s(attempt)
    if retry_after_s is None:
        return backoff
    return math.ceil(max(backoff, min(retry_after_s, RETRY_AFTER_CAP_S)))


def parse_retry_after(header: str | None, now: datetime) -> float | None:
    """Return the seconds that a Retry-After header asks for, or None if it asks for nothing.

    Both forms are understood: whole seconds and an HTTP date. A negative number, a date that has
    passed and anything unreadable are None.

    Source: RFC 9110, section 10.2.3.
    """
    text = (header or "").strip(" \t")
    if text.isascii() and text.isdigit():
        return float(text) if len(text) <= _DIGITS_MAX else None
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if date.tzinfo is None:
        # "-0000" and the asctime form carry no zone; HTTP dates are always UTC.
        date = date.replace(tzinfo=UTC)
    wait_s = (date - now).total_seconds()
    return wait_s if wait_s >= 0 else None
