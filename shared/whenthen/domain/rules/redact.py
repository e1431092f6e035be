"""How secrets stay out of what is written down: logs, outputs, errors, notifications."""

import base64
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final
from urllib.parse import quote, quote_plus

from whenthen.domain.json_text import dumps

_MARK: Final = "•••"
# What various libraries leave unescaped in URLs: nothing, paths, JavaScript's encodeURIComponent.
_URL_SAFE: Final = ("", "/", "!'()*")
_HEX: Final = re.compile("%[0-9A-F]{2}")


def redact(value: Any, secrets: Sequence[str]) -> Any:
    """Return the JSON `value` with "•••" for every secret in its texts, keys included.

    A secret is found raw, URL-encoded, in base64 and JSON-escaped, several that overlap included.
    Do it before anything is truncated: a part of a secret is not recognised.
    """
    forms = _all_forms(tuple(secrets))
    return _redacted(value, forms) if forms else value


def _redacted(value: Any, forms: Sequence[str]) -> Any:
    match value:
        case str():
            return _redacted_text(value, forms)
        case list():
            return [_redacted(item, forms) for item in value]
        case dict():
            return {
                _redacted_text(key, forms): _redacted(item, forms) for key, item in value.items()
            }
    return value


def _redacted_text(text: str, forms: Sequence[str]) -> str:
    # Replacing one secret after the other would leave the rest of one that overlaps another.
    shown: list[str] = []
    end = 0
    for start, stop in sorted(_places(text, forms)):
        if start > end or not shown:
            shown += [text[end:start], _MARK]
        end = max(end, stop)
    return "".join([*shown, text[end:]])


def _places(text: str, forms: Iterable[str]) -> Iterator[tuple[int, int]]:
    for form in forms:
        start = text.find(form)
        while start >= 0:
            yield start, start + len(form)
            start = text.find(form, start + 1)


@lru_cache(maxsize=32)
def _all_forms(secrets: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({form for secret in secrets if secret for form in _forms(secret)}))


def _forms(secret: str) -> Iterator[str]:
    yield secret
    for safe in _URL_SAFE:
        yield from _either_case(quote(secret, safe=safe))
    yield from _either_case(quote_plus(secret))
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        encoded = encode(secret.encode()).decode()
        yield encoded
        yield encoded.rstrip("=")
    escaped = dumps(secret)[1:-1]
    yield from (escaped, escaped.replace("/", "\\/"), _ascii(escaped))
    # As Go writes it, so that JSON may stand in HTML.
    yield escaped.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _either_case(encoded: str) -> Iterator[str]:
    yield encoded
    yield _HEX.sub(lambda match: match[0].lower(), encoded)


def _ascii(text: str) -> str:
    return "".join(char if " " <= char <= "~" else _utf_16_escapes(char) for char in text)


def _utf_16_escapes(char: str) -> str:
    digits = char.encode("utf-16-be").hex()
    return "".join(f"\\u{digits[i : i + 4]}" for i in range(0, len(digits), 4))
