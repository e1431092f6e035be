"""Gets one JSON document of the identity provider, within a deadline and a size."""

import time
from collections.abc import Callable
from http.client import HTTPException
from typing import Any, Final
from urllib.request import HTTPRedirectHandler, build_opener

from whenthen.domain import json_text
from whenthen.domain.rules.secure_url import is_secure_url

DEADLINE_S: Final = 4.0
DOCUMENT_MAX_BYTES: Final = 512 * 1024
_CHUNK_BYTES: Final = 64 * 1024


class FetchError(Exception):
    """Raised when the document cannot be had; the message holds no part of an answer."""


class _NoRedirects(HTTPRedirectHandler):
    """Makes a redirect the error that it is: it may lead to where nobody should be believed."""

    def redirect_request(self, *_: Any) -> None:
        """Follow none."""


def fetch_json(url: str, clock: Callable[[], float] = time.monotonic) -> Any:
    """Return the JSON value at `url`; redirects are not followed.

    Raises:
        FetchError: not https, no answer in time, another status than 200, too large, not JSON.

    """
    if not is_secure_url(url):
        raise FetchError("the URL is not https")
    try:
        return json_text.loads(_read(url, clock))
    except json_text.JsonError as error:
        raise FetchError("the document is not JSON") from error


def _read(url: str, clock: Callable[[], float]) -> bytes:
    deadline_s = clock() + DEADLINE_S
    read = bytearray()
    try:
        with build_opener(_NoRedirects).open(url, timeout=DEADLINE_S) as answer:
            while chunk := answer.read1(_CHUNK_BYTES):
                read += chunk
                if len(read) > DOCUMENT_MAX_BYTES:
                    raise FetchError("the document is too large")
                # Each wait has its timeout; this is for a server that sends drop by drop.
                if clock() > deadline_s:
                    raise FetchError("the document came too slowly")
    except (OSError, HTTPException, ValueError) as error:
        raise FetchError(type(error).__name__) from error
    return bytes(read)
