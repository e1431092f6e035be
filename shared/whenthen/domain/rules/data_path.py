"""What a path into JSON data means: how it is written, and the value that it leads to.

::

    recordId     trigger.properties["First Name"]     items[0].price     ["Größe (cm)"].min

A name stands bare if it is free of spaces and of ASCII punctuation other than `_` and `-`; any
other name stands in brackets as a JSON string. An index counts from 0 and has at most 9 digits.
A path only ever leads into objects and lists, never to an attribute of a Python object.
"""

import re
from collections.abc import Iterable
from enum import Enum
from typing import Any, Final

from whenthen.domain.json_text import JsonError, dumps, loads

Step = str | int
Path = tuple[Step, ...]


class Missing(Enum):
    """The type of `MISSING`, what a path leads to where there is nothing; null is something."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING

# Possessive quantifiers: a hostile text is refused in linear time.
_NAME: Final = r"[^\x00-\x20!-,./:-@\[-^`{-\x7f\s]++"
_QUOTED: Final = r'"(?:[^"\\]|\\.)*+"'
PATH_PATTERN: Final = rf"(?:{_NAME}|\[{_QUOTED}\])(?:\.{_NAME}|\[[0-9]{{1,9}}\]|\[{_QUOTED}\])*+"

_WHOLE: Final = re.compile(PATH_PATTERN)
_STEP: Final = re.compile(rf"({_NAME})|\[([0-9]+)\]|\[({_QUOTED})\]")
_BARE: Final = re.compile(_NAME)


class PathError(ValueError):
    """Raised when text is not a path."""


def parse_path(text: str) -> Path:
    """Return the steps of a path: `a.b[0]["First Name"]` gives `("a", "b", 0, "First Name")`.

    Raises:
        PathError: `text` is not a path, spaces around it included.
    """
    if not _WHOLE.fullmatch(text):
        raise PathError("not a path of names and indices")
    return tuple(_step(match) for match in _STEP.finditer(text))


def path_text(steps: Iterable[Step]) -> str:
    """Return a path as text, the inverse of `parse_path`; the empty path gives ""."""
    text = ""
    for step in steps:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _BARE.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f"[{dumps(step)}]"
    return text


def value_at(data: Any, path: Path) -> Any:
    """Return the value that `path` leads to, or MISSING; a name needs an object, an index a list.

    A text has no members, so that a path never leads to a single character.
    """
    for step in path:
        data = _member(data, step)
    return data


def _member(data: Any, step: Step) -> Any:
    match data, step:
        case dict(), str():
            return data.get(step, MISSING)
        case list(), int() if step < len(data):
            return data[step]
    return MISSING


def _step(match: re.Match[str]) -> Step:
    name, index, quoted = match.groups()
    if name is not None:
        return str(name)
    if index is not None:
        return int(index)
    try:
        return str(loads(quoted))
    except JsonError as error:
        raise PathError("a name in brackets is a JSON string") from error
