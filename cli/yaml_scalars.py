"""What plain words of YAML stand for: the numbers and words of JSON are such, all else is text.

`no`, `on`, `2026-01-01`, `010`, `1_000` and `12:30` stay text: whoever writes a country, a date or
an article number means what is written there.
"""

import re
from decimal import Decimal
from typing import Any, Final

PREFIX: Final = "tag:yaml.org,2002:"
TEXT: Final = f"{PREFIX}str"

_NULL: Final = re.compile(r"(?:~|null|)\Z")
_BOOL: Final = re.compile(r"(?:true|false)\Z")
_INT: Final = re.compile(r"-?(?:0|[1-9][0-9]*)\Z")
_FLOAT: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)\Z")
# Tag, form, and the characters that it begins with ("" is the empty word).
SCALARS: Final = (
    (f"{PREFIX}null", _NULL, ["~", "n", ""]),
    (f"{PREFIX}bool", _BOOL, ["t", "f"]),
    (f"{PREFIX}int", _INT, list("-0123456789")),
    (f"{PREFIX}float", _FLOAT, list("-0123456789")),
)
# Python refuses to read longer ones, and no number of the API is.
_DIGITS_MAX: Final = 400


def scalar_value(tag: str, text: str) -> Any:
    """Return what a scalar of a tag stands for.

    Raises:
        ValueError: the tag is none of JSON's, or the text is not of its form.

    """
    if tag == TEXT:
        return _storable(text)
    form = next((form for known, form, _ in SCALARS if known == tag), None)
    if form is None:
        raise ValueError(f"the tag {tag.replace(PREFIX, '!!')} is not read")
    if not form.match(text):
        raise ValueError(f"not a {tag.removeprefix(PREFIX)}; put a text in quotes")
    if tag.endswith("null"):
        return None
    if tag.endswith("bool"):
        return text == "true"
    if len(text) > _DIGITS_MAX:
        raise ValueError(f"a number of more than {_DIGITS_MAX} digits")
    return int(text) if tag.endswith("int") else Decimal(text)


def _storable(text: str) -> str:
    if any(char == "\0" or "\ud800" <= char <= "\udfff" for char in text):
        raise ValueError("holds a character that cannot be stored")
    return text
