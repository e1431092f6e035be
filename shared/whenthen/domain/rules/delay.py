"""Until when a DELAY waits.

Source: docs/architecture.md, "Delays".
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from whenthen.domain.errors import FatalError
from whenthen.domain.instants import parse_instant
from whenthen.domain.limits import DELAY_MAX_S
from whenthen.domain.rules.exact_number import number_value, plain_decimal_value

_LONGEST: Final = timedelta(seconds=DELAY_MAX_S)


def resume_at(config: Mapping[str, Any], now: datetime) -> datetime:
    """Return the instant at which a DELAY that begins `now` is over; it may have passed already.

    `config` has its values filled in: `{"seconds": 60}` or `{"until": "2026-01-01T09:00:00Z"}`.
    Seconds may also be a plain text of digits, as a template within a text makes them.

    Raises:
        FatalError: DELAY_INVALID, it names no time to wait, or one more than 30 days ahead.

    """
    if "until" not in config:
        return now + timedelta(seconds=_seconds(config["seconds"]))
    until = config["until"]
    instant = parse_instant(until) if isinstance(until, str) else None
    if instant is None:
        raise FatalError("DELAY_INVALID", "until is not an ISO 8601 instant")
    if instant - now > _LONGEST:
        raise FatalError("DELAY_INVALID", "until is more than 30 days ahead")
    return instant


def _seconds(value: Any) -> int:
    number = plain_decimal_value(value) if isinstance(value, str) else number_value(value)
    if number is None or number != number.to_integral_value() or not 1 <= number <= DELAY_MAX_S:
        raise FatalError("DELAY_INVALID", f"seconds is not a whole number from 1 to {DELAY_MAX_S}")
    return int(number)
