r"""How templates are written: `{{ path }}` anywhere in a text, where a path starts at a root.

::

    "{{ trigger.recordId }}"            a lone token: the value itself, whatever its type
    "Ticket {{record[\"First Name\"]}}"   in text
    "{{ actions[0].output.status }}"    the outputs of earlier actions, by index or by action id

Spaces are allowed just inside the braces. `{{` always starts a template; anything else, `{%` or a
single brace, is plain text. There are no expressions, no filters and no calls.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from whenthen.domain.rules.data_path import PATH_PATTERN, PathError, parse_path, path_text
from whenthen.domain.rules.short_value import short_value

ROOTS: Final = frozenset(
    {"trigger", "record", "run", "automation", "workspace", "actions", "secrets", "now"}
)
# These two are no values by themselves: only one action or one secret is.
_ROOTS_WITH_PARTS: Final = frozenset({"actions", "secrets"})

_OPENING: Final = "{{"
_TOKEN: Final = re.compile(rf"\{{\{{\s*+({PATH_PATTERN})\s*+\}}\}}")
_CACHED_MAX_CHARS: Final = 4096


class TemplateError(ValueError):
    """Raised when a text holds a template that cannot be read; says where, never what."""


@dataclass(frozen=True, slots=True)
class Token:
    """One template: `root` is one of `ROOTS`, `rest` the path from there.

    `text` shows the whole path, shortened if it is very long.
    """

    root: str
    rest: tuple[str | int, ...]
    text: str


Part = str | Token


def parse_template(text: str) -> tuple[Part, ...]:
    """Return the literals and tokens that make up `text`, in order; no empty literals.

    Raises:
        TemplateError: a `{{` is not followed by a path and `}}`, or the path's root is unknown.
    """
    if _OPENING not in text:
        return (text,) if text else ()
    # Long texts are rare and would make the cache large.
    return _parse_cached(text) if len(text) <= _CACHED_MAX_CHARS else _parse(text)


def _parse(text: str) -> tuple[Part, ...]:
    parts: list[Part] = []
    end = 0
    while (start := text.find(_OPENING, end)) >= 0:
        match = _TOKEN.match(text, start)
        if match is None:
            raise TemplateError(f'character {start}: "{{{{" without a path and "}}}}" after it')
        if start > end:
            parts.append(text[end:start])
        parts.append(_token(match[1], start))
        end = match.end()
    if end < len(text):
        parts.append(text[end:])
    return tuple(parts)


_parse_cached: Final = lru_cache(maxsize=1024)(_parse)


def _token(path: str, start: int) -> Token:
    try:
        root, *rest = parse_path(path)
    except PathError as error:
        raise TemplateError(f"character {start}: {error}") from error
    if root not in ROOTS:
        raise TemplateError(f"character {start}: a path starts with one of {_listed(ROOTS)}")
    if root in _ROOTS_WITH_PARTS and not rest:
        raise TemplateError(f"character {start}: {root} is followed by the one that is meant")
    return Token(str(root), tuple(rest), short_value(path_text((root, *rest))))


def _listed(words: frozenset[str]) -> str:
    return ", ".join(sorted(words))
