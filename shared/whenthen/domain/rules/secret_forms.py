"""What texts show a secret: its value, its parts, and each of them in base64 or hexadecimal.

Escapes (URL, JSON, HTML) are not among them; `escaped_text.py` undoes those in the text itself.
"""

import base64
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, NamedTuple
from urllib.parse import quote, quote_plus

from whenthen.domain.json_text import JsonError, dumps, loads
from whenthen.domain.limits import SECRET_MIN_CHARS

_KEY_PREFIX: Final = "whsec_"
# Offset of a secret in what is encoded → characters at the beginning that hold none of it, or not
# only it; and (offset + length) modulo 3 → the same at the end, padding included.
_BEFORE_CHARS: Final = (0, 2, 3)
_AFTER_CHARS: Final = (0, 3, 2)


class Form(NamedTuple):
    """A text to look for; `before` and `after`: neighbours of it that hold bits of the secret."""

    text: str
    before: int = 0
    after: int = 0


@dataclass(frozen=True, slots=True)
class Shapes:
    """All that shows some secrets: forms in texts, and documents as values of JSON."""

    forms: tuple[Form, ...]
    documents: tuple[Any, ...]


@lru_cache(maxsize=32)
def shapes_of(secrets: tuple[str, ...]) -> Shapes:
    """Return what shows any of `secrets`, the longest forms first."""
    documents = [document for secret in secrets for document in _documents(secret)]
    forms = {form for secret in secrets for part in _parts(secret) for form in _forms(part)}
    forms |= {form for secret in secrets for form in _key_forms(secret)}
    longest_first = sorted((form for form in forms if form.text), key=_by_length)
    return Shapes(tuple(longest_first), tuple(documents))


def _by_length(form: Form) -> tuple[int, Form]:
    return -len(form.text), form


def _parts(secret: str) -> Iterator[str]:
    yield secret
    # As a header's value it goes out without the spaces around it.
    yield secret.strip()
    yield from _long_enough(line.strip() for line in secret.splitlines())
    for document in _documents(secret):
        yield from _long_enough(_leaves(document))
    if secret.startswith(_KEY_PREFIX):
        yield from _long_enough([secret.removeprefix(_KEY_PREFIX)])


def _long_enough(texts: Iterable[str]) -> Iterator[str]:
    # Shorter ones cannot be told from ordinary words.
    return (text for text in texts if len(text) >= SECRET_MIN_CHARS)


def _documents(secret: str) -> Iterator[Any]:
    if not secret.strip().startswith(("{", "[")):
        return
    try:
        document = loads(secret)
    except JsonError:
        return
    if document:
        yield document


def _leaves(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for item in value.values():
                yield from _leaves(item)
        case list():
            for item in value:
                yield from _leaves(item)
        case int() | float() | Decimal() if not isinstance(value, bool):
            yield dumps(value)


def _forms(part: str) -> Iterator[Form]:
    for text in {part, *(unicodedata.normalize(form, part) for form in ("NFC", "NFD"))}:
        yield Form(text)
        yield from (Form(garbled) for garbled in _garbled(text))
        yield from _hexadecimal(text.encode())
        for written in _written(text):
            yield from _base64(written.encode())


def _garbled(text: str) -> Iterator[str]:
    """Return what becomes of a text when one side takes UTF-8 for Latin-1, or the reverse."""
    if text.isascii():
        return
    yield text.encode().decode("latin-1")
    try:
        yield text.encode("latin-1").decode("utf-8", "replace")
    except UnicodeEncodeError:
        return


def _written(text: str) -> set[str]:
    """Return how a text may have been written before all around it was put into base64."""
    escaped = dumps(text)[1:-1]
    return {text, escaped, _ascii(escaped), quote(text, safe=""), quote_plus(text)}


def _ascii(text: str) -> str:
    return "".join(char if " " <= char <= "~" else _utf_16_escapes(char) for char in text)


def _utf_16_escapes(char: str) -> str:
    digits = char.encode("utf-16-be").hex()
    return "".join(f"\\u{digits[i : i + 4]}" for i in range(0, len(digits), 4))


def _key_forms(secret: str) -> Iterator[Form]:
    """Return the forms of the bytes that a `whsec_` key stands for."""
    if not secret.startswith(_KEY_PREFIX):
        return
    text = secret.removeprefix(_KEY_PREFIX).rstrip("=")
    try:
        key = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except ValueError:
        return
    if len(key) < SECRET_MIN_CHARS:
        return
    yield from _hexadecimal(key)
    yield from _base64(key)
    yield from (Form(shown) for shown in {key.decode("utf-8", "replace"), key.decode("latin-1")})


def _hexadecimal(data: bytes) -> Sequence[Form]:
    return Form(data.hex()), Form(data.hex().upper())


def _base64(data: bytes) -> Iterator[Form]:
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        alone = encode(data).decode()
        yield Form(alone)
        yield Form(alone.rstrip("="))
        for offset in range(3):
            encoded = encode(bytes(offset) + data).decode()
            ends = _AFTER_CHARS[(offset + len(data)) % 3]
            within = encoded[_BEFORE_CHARS[offset] : len(encoded) - ends]
            yield Form(within, before=min(offset, 1), after=min(ends, 1))
