"""Texts that an answer shows once and never again: secrets and tokens, just made."""

from typing import Any


class ShownOnce(str):
    """A text that goes out with the answer it was made for, and into no copy of it."""

    __slots__ = ()


def without_shown(value: Any) -> Any:
    """Return the JSON `value` with null in place of every text that is shown once."""
    match value:
        case ShownOnce():
            return None
        case dict():
            return {key: without_shown(item) for key, item in value.items()}
        case list():
            return [without_shown(item) for item in value]
    return value
