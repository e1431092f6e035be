"""What a request to an incoming webhook says: whose secret, which delivery, what content."""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl

from whenthen.domain import json_text
from whenthen.domain.errors import BadRequestError, MediaTypeError
from whenthen.domain.rules.text_hygiene import clean
from whenthen.domain.schemas.events import CLIENT_ID_MAX_CHARS
from whenthen.domain.schemas.triggers import WEBHOOK_SECRET_MAX_BYTES, WEBHOOK_SECRET_MIN_BYTES

_DELIVERY_ID: Final = re.compile(rf"[!-~]{{1,{CLIENT_ID_MAX_CHARS}}}")
_CONTENT_TYPE: Final = re.compile(r'\s*([^\s/;,"]+/[^\s/;,"]+)\s*(?:;(.*))?', re.DOTALL)
_CHARSET: Final = re.compile(r"(?:^|;)\s*charset\s*=\s*\"?([\w.:-]+)", re.IGNORECASE)
_JSON: Final = re.compile(r"application/(?:json|[^/]+\+json)")
_FORM: Final = "application/x-www-form-urlencoded"
# Of texts; JSON and forms are UTF-8 by their own standards.
_CHARSETS: Final = {"utf-8": "utf-8", "us-ascii": "ascii", "iso-8859-1": "latin-1"}


@dataclass(frozen=True, slots=True)
class Content:
    """The body as an object; `sanitized` when characters that cannot be stored were replaced."""

    payload: dict[str, Any]
    sanitized: bool


def token_key(token: str) -> bytes | None:
    """Return the secret's bytes that a URL's `token` writes, None if it writes none.

    Each secret has exactly one token: URL-safe base64 without padding.
    """
    try:
        key = urlsafe_b64decode(token + "=" * (-len(token) % 4))
    except ValueError:
        return None
    fits = WEBHOOK_SECRET_MIN_BYTES <= len(key) <= WEBHOOK_SECRET_MAX_BYTES
    return key if fits and urlsafe_b64encode(key).rstrip(b"=").decode() == token else None


def delivery_id(headers: Mapping[str, str]) -> str | None:
    """Return the sender's own id of this delivery: `webhook-id`, else `idempotency-key`.

    Raises:
        BadRequestError: `BAD_HEADER`, it is not 1 to 255 visible ASCII characters.

    """
    for name in ("webhook-id", "idempotency-key"):
        given = headers.get(name)
        if given is not None:
            if not _DELIVERY_ID.fullmatch(given):
                raise BadRequestError(
                    "BAD_HEADER", f"{name} is 1 to {CLIENT_ID_MAX_CHARS} visible ASCII characters"
                )
            return given
    return None


def read_content(raw: bytes, content_type: str | None) -> Content:
    """Return the body `raw` as an object.

    A JSON object as it is, other JSON under `body`; a form's fields as texts, those of one name
    as a list; a text under `body`; nothing as `{}`. Of equal JSON keys the last wins. Without a
    content type JSON is meant.

    Raises:
        BadRequestError: `BAD_JSON`.
        MediaTypeError: the content type is none of these.

    """
    if not raw:
        return Content({}, sanitized=False)
    kind, charset = _kind_and_charset(content_type or "application/json")
    if _JSON.fullmatch(kind):
        return _from_json(raw)
    if kind == _FORM:
        return _cleaned(_form(raw.decode("utf-8", "surrogateescape")))
    if kind.startswith("text/") and charset in _CHARSETS:
        return _cleaned({"body": raw.decode(_CHARSETS[charset], "surrogateescape")})
    raise MediaTypeError("UNSUPPORTED_MEDIA_TYPE", "send JSON, a form or UTF-8 text")


def _kind_and_charset(content_type: str) -> tuple[str, str]:
    found = _CONTENT_TYPE.fullmatch(content_type)
    if found is None:
        return "", ""
    charset = _CHARSET.search(found[2] or "")
    return found[1].lower(), charset[1].lower() if charset else "utf-8"


def _from_json(raw: bytes) -> Content:
    try:
        value = json_text.loads(raw)
    except json_text.JsonError as error:
        raise BadRequestError("BAD_JSON", str(error)) from error
    return _cleaned(value if isinstance(value, dict) else {"body": value})


def _form(text: str) -> dict[str, Any]:
    fields: dict[str, list[str]] = {}
    for name, value in parse_qsl(text, keep_blank_values=True, errors="surrogateescape"):
        fields.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in fields.items()}


def _cleaned(payload: dict[str, Any]) -> Content:
    """Replace what cannot be stored, undecodable bytes (now lone surrogates) among it."""
    cleaned, sanitized = clean(payload)
    return Content(cleaned, sanitized)
