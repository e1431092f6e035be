"""JSON text in and out: numbers keep their value, hostile text is refused.

The project reads and writes JSON through this module only.
"""

import json
import re
from codecs import BOM_UTF8
from decimal import Decimal, InvalidOperation
from itertools import count
from typing import Any, Final, Literal, Never

from whenthen.domain import limits

Reason = Literal["encoding", "syntax", "constant", "digits", "depth"]


class JsonError(ValueError):
    """Raised when text is not JSON that the engine takes; the text itself is never repeated.

    `reason`: `encoding` (not UTF-8), `syntax`, `constant` (NaN, Infinity), `digits` (a number of
    more than 400 digits when written out), `depth` (more than 64 levels).
    """

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def loads(text: str | bytes, *, max_depth: int = limits.JSON_MAX_DEPTH) -> Any:
    """Return the value that `text`, which may come from anybody, stands for.

    A number becomes an int, a float if the float prints as exactly the same text, else a
    `Decimal`: `1.5` is a float, `1.10` and `1e5` are Decimals. Of equal keys the last wins.

    Raises:
        JsonError: not UTF-8, not JSON, or beyond the limits of numbers and depth.

    """
    try:
        decoded = text if isinstance(text, str) else text.removeprefix(BOM_UTF8).decode()
        value = _STRANGERS.decode(decoded)
    except UnicodeDecodeError as error:
        raise JsonError("encoding", f"not UTF-8 at byte {error.start}") from error
    except json.JSONDecodeError as error:
        raise JsonError("syntax", f"{error.msg} at character {error.pos}") from error
    except RecursionError as error:
        raise _too_deep(max_depth) from error
    # So few brackets cannot be nested too deep, wherever they stand.
    if decoded.count("[") + decoded.count("{") > max_depth:
        _check_depth(value, max_depth)
    return value


def loads_stored(text: str | bytes) -> Any:
    """Return the value of `text` that the engine itself wrote: like `loads`, without its checks."""
    return _OWN.decode(text if isinstance(text, str) else text.decode())


def dumps(value: Any) -> str:
    """Return `value` as compact JSON text, not escaped beyond need, each number with its digits.

    Raises:
        ValueError: NaN or Infinity, as float or Decimal, or a Decimal of more than 400 digits.
        TypeError: a value that JSON does not know.

    """
    try:
        return _PLAIN.encode(value)
    except _DecimalMetError:
        return _with_decimals(value)


class _DecimalMetError(Exception):
    """Raised when a value holds a Decimal, which Python's encoder cannot write as a number."""


def _meet(other: Any) -> Never:
    if isinstance(other, Decimal):
        raise _DecimalMetError
    raise TypeError(f"{type(other).__name__} is not a JSON value")


_PLAIN: Final = json.JSONEncoder(
    ensure_ascii=False,
    allow_nan=False,
    separators=(",", ":"),
    default=_meet,
    # A tenth of the work; a value that contains itself ends in a RecursionError all the same.
    check_circular=False,
)


def _with_decimals(value: Any) -> str:
    text, numbers = _encode(value, _MARK + "0")
    pieces = text.split(f'"{_MARK}0"')
    if len(pieces) != len(numbers) + 1:
        # A string of the value looks like the placeholder: take one that none of them looks like.
        taken = set(re.findall(f"{_MARK}([0-9]+)", text))
        free = _MARK + next(n for n in map(str, count()) if n not in taken)
        text, numbers = _encode(value, free)
        pieces = text.split(f'"{free}"')
    return pieces[0] + "".join(
        number + piece for number, piece in zip(numbers, pieces[1:], strict=True)
    )


# Python's encoder cannot write a Decimal as a number, so a placeholder string goes first.
_MARK: Final = "\ufdd0"  # a code point that Unicode reserves for such internal use


def _encode(value: Any, placeholder: str) -> tuple[str, list[str]]:
    numbers: list[str] = []

    def hold_place(other: Any) -> str:
        if not isinstance(other, Decimal):
            raise TypeError(f"{type(other).__name__} is not a JSON value")
        numbers.append(_digits(other))
        return placeholder

    text = json.dumps(
        value,
        ensure_ascii=False,
        allow_nan=False,
        separators=(",", ":"),
        default=hold_place,
    )
    return text, numbers


def _digits(number: Decimal) -> str:
    if not number.is_finite():
        raise ValueError("Out of range Decimal values are not JSON compliant")
    text = str(number)
    if "E" not in text and len(text) <= limits.NUMBER_MAX_DIGITS:
        return text
    if _written_out(number) > limits.NUMBER_MAX_DIGITS:
        raise ValueError("a Decimal of too many digits")
    return format(number, "f")


def _written_out(number: Decimal) -> int:
    """Return how many digits the finite `number` has before and after its point."""
    places = -number.as_tuple().exponent  # type: ignore[operator]  # a letter only if not finite
    return max(number.adjusted() + 1, 1) + max(places, 0)


def _too_deep(max_depth: int) -> JsonError:
    return JsonError("depth", f"nested more than {max_depth} levels deep")


def _too_long() -> JsonError:
    return JsonError(
        "digits", f"a number of more than {limits.NUMBER_MAX_DIGITS} digits when written out"
    )


# No number within the limit needs a longer text: sign, digits, point, and an exponent of four.
_NUMBER_MAX_CHARS: Final = limits.NUMBER_MAX_DIGITS + len("-.e-400")


def _integer(text: str) -> int:
    if len(text.lstrip("-")) > limits.NUMBER_MAX_DIGITS:
        raise _too_long()
    return int(text)


def _number(text: str) -> float | Decimal:
    if len(text) > _NUMBER_MAX_CHARS:
        raise _too_long()
    value = _exact(text)
    if isinstance(value, Decimal) and _written_out(value) > limits.NUMBER_MAX_DIGITS:
        raise _too_long()
    return value


def _exact(text: str) -> float | Decimal:
    value = float(text)
    if repr(value) == text:
        return value
    try:
        return Decimal(text)
    except InvalidOperation as error:  # an exponent beyond 18 digits
        raise _too_long() from error


def _refuse_constant(_: str) -> Never:
    raise JsonError("constant", "NaN and Infinity are not JSON")


def _check_depth(value: Any, max_depth: int) -> None:
    level = [value] if isinstance(value, (dict, list)) else []
    depth = 0
    while level:
        depth += 1
        if depth > max_depth:
            raise _too_deep(max_depth)
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, (dict, list))
        ]


_STRANGERS: Final = json.JSONDecoder(
    parse_float=_number, parse_int=_integer, parse_constant=_refuse_constant
)
_OWN: Final = json.JSONDecoder(parse_float=_exact)
