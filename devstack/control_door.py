"""Lets this machine's user invoke a function by hand: what `whenthen invoke` calls."""

import hmac
import json
import os
import re
import secrets
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from devstack.http_server import HttpServer
from devstack.sandbox import Invocation

_PATH = re.compile(r"/functions/(\w+)/invocations")

Invoke = Callable[[str, Any, float], Invocation]


class ControlDoor:
    """A server on a free port of the loopback interface.

    `POST /functions/{logical id}/invocations` with an event answers `{"result": …}` or
    `{"error": …}`. Its URL and token stand in `control.json` of the data folder, which only the
    owner may read: any page in a browser can reach a port, and none can read that file.
    """

    def __init__(self, folder: Path, functions: Collection[str], invoke: Invoke) -> None:
        self._path = folder / "control.json"
        self._functions = functions
        self._invoke = invoke
        self._token = secrets.token_urlsafe()
        self._server = HttpServer(0, self._answer)

    def open(self) -> None:
        """Serve, and say where."""
        self._server.start()
        temporary = self._path.with_suffix(".new")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump({"url": self._server.url, "token": self._token}, file)
        temporary.replace(self._path)

    def close(self) -> None:
        """Serve no more; call it once, after `open`."""
        self._path.unlink(missing_ok=True)
        self._server.stop()
        self._server.close()

    def _answer(self, request: Any, wait_s: float) -> Invocation:
        given = request["headers"].get("authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {self._token}".encode()):
            return _said(401, "the token is that of control.json")
        path = _PATH.fullmatch(request["rawPath"])
        if path is None or path[1] not in self._functions:
            return _said(404, f"the functions are {', '.join(sorted(self._functions))}")
        try:
            event = json.loads(request.get("body", ""))
        except ValueError:
            return _said(400, "the event is not JSON")
        invocation = self._invoke(path[1], event, wait_s)
        if invocation.error is not None:
            return _answered(200, {"error": dict(invocation.error)})
        return _answered(200, {"result": invocation.result})


def _said(status: int, message: str) -> Invocation:
    return _answered(status, {"message": message})


def _answered(status: int, body: Any) -> Invocation:
    headers = {"content-type": "application/json"}
    return Invocation({"statusCode": status, "headers": headers, "body": json.dumps(body)})
