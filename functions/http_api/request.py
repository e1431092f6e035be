"""One HTTP request as API Gateway hands it over, and its body as a JSON value."""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from whenthen.domain import json_text, limits
from whenthen.domain.errors import BadRequestError, MediaTypeError, NotFoundError, TooLargeError
from whenthen.domain.ids import parse_id

_JSON: Final = re.compile(
    r"application/(?:json|[\w.+-]+\+json)\s*(?:;\s*charset\s*=\s*\"?utf-?8\"?\s*)?", re.IGNORECASE
)
# A quoted number as an ETag would be, or bare.
_VERSION: Final = re.compile(r'(?:W/)?"?([0-9]{1,9})"?')


@dataclass(frozen=True, slots=True)
class Request:
    """Header names are in lower case; `variables` are those of the route's path."""

    id: str
    headers: Mapping[str, str]
    query: Mapping[str, str]
    variables: Mapping[str, str]
    body: str | None
    body_is_base64: bool
    domain: str

    def path_id(self, name: str) -> UUID:
        """Return a variable of the path as an id.

        Raises:
            NotFoundError: it is none, so that nothing can have it.

        """
        found = parse_id(self.variables[name])
        if found is None:
            raise NotFoundError
        return found

    def raw_body(self) -> bytes:
        """Return the body's bytes exactly as they were received.

        Raises:
            BadRequestError: they travelled as base64 and are none.

        """
        body = self.body or ""
        if not self.body_is_base64:
            return body.encode("utf-8", "surrogatepass")
        try:
            return base64.b64decode(body, validate=True)
        except (binascii.Error, ValueError) as error:
            raise BadRequestError("BAD_JSON", "the body is not base64") from error

    def if_match(self) -> int | None:
        """Return the version that If-Match names; None without the header or with `*`.

        Raises:
            BadRequestError: `BAD_HEADER`, it names no version.

        """
        text = self.headers.get("if-match", "*").strip()
        if text == "*":
            return None
        found = _VERSION.fullmatch(text)
        if found is None:
            raise BadRequestError("BAD_HEADER", "If-Match is a version number")
        return int(found[1])


def read_event(event: Mapping[str, Any], variables: Mapping[str, str]) -> Request:
    """Return the request that an API Gateway event (HTTP API, payload 2.0) carries."""
    context = event["requestContext"]
    return Request(
        id=str(context.get("requestId", "")),
        headers={name.lower(): value for name, value in (event.get("headers") or {}).items()},
        query=event.get("queryStringParameters") or {},
        variables=variables,
        body=event.get("body"),
        body_is_base64=bool(event.get("isBase64Encoded")),
        domain=str(context.get("domainName", "")),
    )


def json_body(request: Request) -> Any:
    """Return the body's JSON value; an empty body reads as `{}`.

    Raises:
        TooLargeError: more than 1 MB of bytes.
        MediaTypeError: not JSON by its content type.
        BadRequestError: `BAD_JSON`, by its bytes.

    """
    raw = request.raw_body()
    if len(raw) > limits.REQUEST_MAX_BYTES:
        raise TooLargeError("TOO_LARGE", f"a body has at most {limits.REQUEST_MAX_BYTES} bytes")
    if not raw:
        return {}
    if not _JSON.fullmatch(request.headers.get("content-type", "application/json").strip()):
        raise MediaTypeError("UNSUPPORTED_MEDIA_TYPE", "send application/json")
    try:
        return json_text.loads(raw)
    except json_text.JsonError as error:
        raise BadRequestError("BAD_JSON", str(error)) from error
