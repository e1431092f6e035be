"""One HTTP caller for all commands."""

import json
import os
from dataclasses import dataclass
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, Request, build_opener

from cli.exits import NOT_FOUND, UNAUTHORISED, UNREACHABLE, CommandError

TIMEOUT_S = 35
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True)
class Api:
    """A deployment at `url` (without `/api/v1`), called with one token."""

    url: str
    token: str

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Return the JSON answer; None when it is empty.

        Raises:
            CommandError: not reachable, or refused, with the exit code that says which.

        """
        request = Request(  # noqa: S310  # the scheme is checked when the address is read
            f"{self.url}/api/v1{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self.token}",
                "Content-Type": "application/json",
            },
            method=method,
        )
        try:
            with _opener(self.url).open(request, timeout=TIMEOUT_S) as answer:
                text = answer.read()
        except HTTPError as error:
            raise _refused(error) from error
        except (URLError, OSError) as error:
            raise CommandError(f"{self.url} is not reachable: {error}", UNREACHABLE) from error
        return json.loads(text) if text else None


def api_from_environment() -> Api:
    """Return the deployment that WHENTHEN_URL and WHENTHEN_TOKEN name.

    Raises:
        CommandError: one of them is not set, or the URL is none.

    """
    url = os.environ.get("WHENTHEN_URL", "").rstrip("/")
    token = os.environ.get("WHENTHEN_TOKEN", "")
    if not url or not token:
        raise CommandError("set WHENTHEN_URL and WHENTHEN_TOKEN")
    if urlsplit(url).scheme not in {"http", "https"}:
        raise CommandError("WHENTHEN_URL must begin with http:// or https://")
    return Api(url.removesuffix("/api/v1"), token)


def _opener(url: str) -> Any:
    # A proxy cannot reach this machine's own loopback.
    if urlsplit(url).hostname in LOOPBACK:
        return build_opener(ProxyHandler({}))
    return build_opener()


def _refused(error: HTTPError) -> CommandError:
    code = {401: UNAUTHORISED, 403: UNAUTHORISED, 404: NOT_FOUND}.get(error.code, 1)
    try:
        told = json.loads(error.read())["error"]
        message = f"{told['code']}: {told['message']}"
        if told.get("details"):
            message += f" {json.dumps(told['details'])}"
    except (ValueError, KeyError, TypeError):
        message = f"HTTP {error.code}"
    return CommandError(message, code)
