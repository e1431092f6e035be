"""How many bytes a value takes as JSON text in UTF-8, without writing it."""

import re
from typing import Any, Final

from whenthen.domain.json_text import dumps

# What JSON text escapes: seven characters have a short form of two bytes, the rest take six.
_ESCAPED: Final = re.compile(r'["\\\x00-\x1f]')
_SHORT_ESCAPES: Final = frozenset('"\\\b\f\n\r\t')


def text_bytes(text: str) -> int:
    """Return the bytes of `text` as a JSON string, quotes included."""
    size = 2 + (len(text) if text.isascii() else len(text.encode()))
    if _ESCAPED.search(text):
        size += sum(1 if found in _SHORT_ESCAPES else 5 for found in _ESCAPED.findall(text))
    return size


class JsonSizes:
    """The sizes of one value and of all that is in it, each counted once.

    The value must stay alive and unchanged meanwhile: its parts are known by their identity.
    """

    def __init__(self) -> None:
        self._known: dict[int, int] = {}

    def of(self, value: Any) -> int:
        """Return the bytes of `value` as JSON."""
        match value:
            case str():
                return text_bytes(value)
            case dict() | list():
                size = self._known.get(id(value))
                if size is None:
                    size = self._known[id(value)] = self._count(value)
                return size
            case bool() | None:
                return len(dumps(value))
            case int():
                return len(str(value))
        return len(dumps(value))

    def _count(self, value: dict[str, Any] | list[Any]) -> int:
        # Two brackets, and a comma between each two members.
        size = 2 + max(len(value) - 1, 0)
        if isinstance(value, list):
            return size + sum(map(self.of, value))
        return size + sum(text_bytes(key) + 1 + self.of(item) for key, item in value.items())
