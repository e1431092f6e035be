"""JSON as the API speaks it: a number keeps all of its digits on the way through."""

import json
from decimal import Decimal
from typing import Any


def loads(text: str | bytes) -> Any:
    """Return the value of `text`; a number with a point or an exponent becomes a `Decimal`.

    Raises:
        ValueError: it is not JSON, NaN and Infinity included.

    """
    return json.loads(text, parse_float=Decimal, parse_constant=_refuse)


def dumps(value: Any, indent: int = 0) -> str:
    """Return `value` as JSON, on one line or indented by so many blanks a level."""
    return _text(value, indent, level=1)


def same(left: Any, right: Any) -> bool:
    """Return whether two JSON values are equal: `1` and `1.00` are, `1` and `true` are not."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")


def _text(value: Any, indent: int, level: int) -> str:
    # By hand, as the encoder of the standard library writes a Decimal as text or not at all.
    if isinstance(value, dict):
        pairs = [f"{_scalar(k)}: {_text(v, indent, level + 1)}" for k, v in value.items()]
        return _wrapped("{", pairs, "}", indent, level)
    if isinstance(value, list | tuple):
        return _wrapped("[", [_text(v, indent, level + 1) for v in value], "]", indent, level)
    return _scalar(value)


def _scalar(value: Any) -> str:
    if isinstance(value, Decimal):
        return str(value)
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _wrapped(begin: str, parts: list[str], end: str, indent: int, level: int) -> str:
    if not indent or not parts:
        return begin + ", ".join(parts) + end
    margin = "\n" + " " * (indent * level)
    return begin + margin + f",{margin}".join(parts) + margin[:-indent] + end
