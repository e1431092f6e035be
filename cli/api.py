"""One HTTP caller for all commands."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from itertools import islice
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from cli import json_text
from cli.deadline import within
from cli.exits import FAILED, NOT_FOUND, UNAUTHORISED, UNREACHABLE, CommandError

# An API Gateway answers or gives up after 30 s.
TIMEOUT_S = 35
PAGE_MAX = 200
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

Query = Mapping[str, Any]

_HOW: Final = (
    "set WHENTHEN_URL to the deployment's address and WHENTHEN_TOKEN to one of your tokens"
    " (on this machine: `url` and `token` of what `whenthen dev --ready-file F` writes to F)"
)


class RefusedError(CommandError):
    """Raised when the deployment answers that it will not; `details` are those of a 422, if any."""

    def __init__(
        self, message: str, exit_code: int, status: int, details: Sequence[Mapping[str, str]] = ()
    ) -> None:
        super().__init__(message, exit_code)
        self.status = status
        self.details = details


@dataclass(frozen=True, slots=True)
class Api:
    """A deployment at `url` (without `/api/v1`), called with one token."""

    url: str
    token: str = field(repr=False)

    def call(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Any:
        """Return the JSON answer; None when it is empty.

        Raises:
            CommandError: not reachable, or refused, with the exit code that says which.

        """
        request = Request(  # noqa: S310  # the scheme is checked when the address is read
            f"{self.url}/api/v1{path}",
            data=None if body is None else json_text.dumps(body).encode("utf-8", "surrogatepass"),
            headers={
                "Authorization": f"Bearer {self.token}",
                "Content-Type": "application/json",
                **(headers or {}),
            },
            method=method,
        )
        return _sent(self.url, request)

    def all(self, path: str, query: Query | None = None, most: int | None = None) -> list[Any]:
        """Return the rows of a list, page after page, or the first `most` of them."""
        return list(islice(self._rows(path, query or {}, most), most))

    def contract(self) -> Any:
        """Return the deployment's own OpenAPI document."""
        return _sent(self.url, Request(f"{self.url}/openapi.json"))  # noqa: S310  # as above

    def _rows(self, path: str, query: Query, most: int | None) -> Iterator[Any]:
        limit = PAGE_MAX if most is None else min(most, PAGE_MAX)
        asked = {name: value for name, value in query.items() if value is not None}
        cursor: str | None = None
        while True:
            place = {} if cursor is None else {"cursor": cursor}
            page = self.call("GET", f"{path}?{urlencode({**asked, 'limit': limit, **place})}")
            yield from page["data"]
            cursor = page["nextCursor"]
            if cursor is None:
                return


def api_from_environment() -> Api:
    """Return the deployment that WHENTHEN_URL and WHENTHEN_TOKEN name.

    Raises:
        CommandError: one of them is not set, or the URL is none.

    """
    url = os.environ.get("WHENTHEN_URL", "").strip().rstrip("/")
    token = os.environ.get("WHENTHEN_TOKEN", "").strip()
    missing = [
        name for name, given in (("WHENTHEN_URL", url), ("WHENTHEN_TOKEN", token)) if not given
    ]
    if missing:
        raise CommandError(f"{' and '.join(missing)} not set: {_HOW}")
    if not token.isascii() or not token.isprintable():
        raise CommandError("WHENTHEN_TOKEN is no token: it holds characters that none has")
    if not _is_address(url):
        raise CommandError("WHENTHEN_URL must be an address that begins with http:// or https://")
    return Api(url.removesuffix("/api/v1"), token)


def segment(text: str) -> str:
    """Return `text` as one part of a path, whatever it holds."""
    return quote(text, safe="")


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


class _NoRedirects(HTTPRedirectHandler):
    """urllib would carry the token along to wherever it is sent."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _opener(url: str) -> OpenerDirector:
    # A proxy cannot reach this machine's own loopback.
    if urlsplit(url).hostname in LOOPBACK:
        return build_opener(ProxyHandler({}), _NoRedirects)
    return build_opener(_NoRedirects)


def _sent(url: str, request: Request) -> Any:
    try:
        status, text = within(TIMEOUT_S, lambda: _exchange(url, request))
    except (URLError, OSError, HTTPException) as error:
        raise CommandError(f"{url} is not reachable: {error}", UNREACHABLE) from error
    if status >= 300:
        raise _refused(status, text)
    try:
        return json_text.loads(text) if text else None
    except ValueError as error:
        raise CommandError(
            f"{url} does not answer as a whenthen deployment: is WHENTHEN_URL right?", UNREACHABLE
        ) from error


def _exchange(url: str, request: Request) -> tuple[int, bytes]:
    try:
        with _opener(url).open(request, timeout=TIMEOUT_S) as answer:
            return answer.status, answer.read()
    except HTTPError as error:
        with error:
            return error.code, error.read()


def _refused(status: int, text: bytes) -> RefusedError:
    code = {401: UNAUTHORISED, 403: UNAUTHORISED, 404: NOT_FOUND}.get(status, FAILED)
    try:
        told = json_text.loads(text)["error"]
        message = f"{told['code']}: {told['message']}"
        details = told.get("details")
    except (ValueError, KeyError, TypeError):
        return RefusedError(f"HTTP {status}: is WHENTHEN_URL right?", code, status)
    if details:
        message += f" {json_text.dumps(details)}"
    problems = (
        [one for one in details if isinstance(one, dict) and "path" in one]
        if isinstance(details, list)
        else []
    )
    return RefusedError(message, code, status, problems)
