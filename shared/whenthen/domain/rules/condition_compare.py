"""How two values compare in a condition: whether they are equal, and which one comes first.

Values are plain JSON. `kind` is the type of the property that is compared, None for event data.
The table of all pairs stands in `condition.py`.
"""

from datetime import datetime
from decimal import Decimal
from typing import Any
from unicodedata import normalize

from whenthen.domain.instants import has_offset, parse_instant
from whenthen.domain.kinds import PropertyType
from whenthen.domain.rules.exact_number import number_value, plain_decimal_value


def is_equal(left: Any, right: Any, kind: PropertyType | None) -> bool:
    """Return whether two values are equal; never unknown, different types are unequal.

    Lists and objects are equal when all their members are.
    """
    match left, right:
        case str(), str():
            return left == right or _compare_texts(left, right, kind) == 0
        case list(), list():
            return len(left) == len(right) and all(
                is_equal(one, other, kind) for one, other in zip(left, right, strict=True)
            )
        case dict(), dict():
            return left.keys() == right.keys() and all(
                is_equal(member, right[key], kind) for key, member in left.items()
            )
        case (bool(), _) | (_, bool()):
            flag = _flag(left, kind)
            return flag is not None and flag is _flag(right, kind)
        case None, None:
            return True
    return _compare_numbers(left, right) == 0


def compare(left: Any, right: Any, kind: PropertyType | None) -> int | None:
    """Return -1, 0 or 1 as `left` comes before, with or after `right`; None if nothing says so."""
    if not (isinstance(left, str) and isinstance(right, str)):
        return _compare_numbers(left, right)
    if kind is PropertyType.NUMBER:
        numbers = plain_decimal_value(left), plain_decimal_value(right)
        if numbers[0] is not None and numbers[1] is not None:
            return _sign(numbers[0], numbers[1])
    return _compare_texts(left, right, kind)


def canonical_text(text: str) -> str:
    """Return `text` in NFC, the form in which all texts are compared; case stays."""
    return normalize("NFC", text)


def _compare_texts(left: str, right: str, kind: PropertyType | None) -> int:
    instants = _instants(left, right, kind)
    if instants is not None:
        return _sign(*instants)
    return _sign(canonical_text(left), canonical_text(right))


def _instants(left: str, right: str, kind: PropertyType | None) -> tuple[datetime, datetime] | None:
    # Without an offset and outside a date property a date may be any text, such as a version name.
    if kind is not PropertyType.DATE and not (has_offset(left) or has_offset(right)):
        return None
    one, other = parse_instant(left), parse_instant(right)
    return None if one is None or other is None else (one, other)


def _compare_numbers(left: Any, right: Any) -> int | None:
    one, other = _number(left), _number(right)
    return None if one is None or other is None else _sign(one, other)


def _number(value: Any) -> Decimal | None:
    return plain_decimal_value(value) if isinstance(value, str) else number_value(value)


def _flag(value: Any, kind: PropertyType | None) -> bool | None:
    if isinstance(value, bool):
        return value
    if kind is PropertyType.CHECKBOX and isinstance(value, str):
        return {"true": True, "false": False}.get(value)
    return None


def _sign(left: Any, right: Any) -> int:
    return int(left > right) - int(left < right)
