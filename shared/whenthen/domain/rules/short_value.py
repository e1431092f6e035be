"""How a value is shown where only a glance at it is needed, however large it is."""

from collections.abc import Iterator
from typing import Any, Final

from whenthen.domain.json_text import dumps

SHOWN_MAX_CHARS: Final = 200


def short_value(value: Any) -> Any:
    """Return `value` if it is short, else the first 200 characters of its text, then "…".

    The text of a list or an object is its JSON; no more of it is written than is shown.
    """
    if isinstance(value, str):
        return _cut(value)
    if not isinstance(value, list | dict):
        return value
    text = ""
    for piece in _pieces(value):
        text += piece
        if len(text) > SHOWN_MAX_CHARS:
            return _cut(text)
    return value


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_MAX_CHARS else text[:SHOWN_MAX_CHARS] + "…"


def _pieces(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield dumps(value[: SHOWN_MAX_CHARS + 1])
        case list():
            for index, item in enumerate(value):
                yield "," if index else "["
                yield from _pieces(item)
            yield "]" if value else "[]"
        case dict():
            for index, (key, item) in enumerate(value.items()):
                yield "," if index else "{"
                yield from _pieces(key)
                yield ":"
                yield from _pieces(item)
            yield "}" if value else "{}"
        case _:
            yield dumps(value)
