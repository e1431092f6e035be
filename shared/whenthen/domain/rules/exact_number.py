"""Which number a JSON value is, exactly: the one reading behind every comparison of numbers."""

import re
from decimal import Decimal
from typing import Any, Final

# [0-9] and not \d, which would also take digits of other scripts.
_PLAIN_DECIMAL: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")


def number_value(value: Any) -> Decimal | None:
    """Return the exact value of a JSON number, or None for anything else, bool included.

    A float stands for the digits that it is written with: 1.1 is Decimal("1.1"), not the binary
    fraction behind it, so that it equals a 1.10 that was read as Decimal.
    """
    match value:
        case bool():
            return None
        case int():
            return Decimal(value)
        case float():
            number = Decimal(repr(value))
        case Decimal():
            number = value
        case _:
            return None
    return number if number.is_finite() else None


def plain_decimal_value(text: str) -> Decimal | None:
    r"""Return the exact value of a plain decimal string, or None for any other text.

    Plain is `-?(0|[1-9][0-9]*)(\.[0-9]+)?`: "200" and "200.0", but not "007", " 200 ", "1e3",
    "1_000", "nan" or digits of another script, all of which Python's own readers would take.
    """
    return Decimal(text) if _PLAIN_DECIMAL.fullmatch(text) else None
