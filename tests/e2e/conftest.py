"""One running stack for all end-to-end tests of a session, driven over HTTP as a user would."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest

REPOSITORY = Path(__file__).parents[2]
START_TIMEOUT_S = 90
STOP_TIMEOUT_S = 30
Found = TypeVar("Found")


def eventually(look: Callable[[], Found | None], what: str, timeout_s: float = 20) -> Found:
    """Return the first truthy answer of `look`; fail after `timeout_s`."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        found = look()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"not within {timeout_s} s: {what}")


class Api:
    """The HTTP API as the user whose token this is."""

    def __init__(self, url: str, token: str | None) -> None:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        self._client = httpx.Client(base_url=f"{url}/api/v1", headers=headers, timeout=30)

    def call(self, method: str, path: str, body: Any = None, **options: Any) -> httpx.Response:
        if body is not None:
            options["json"] = body
        return self._client.request(method, path, **options)

    def ok(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.call(method, path, body)
        assert answer.status_code < 300, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    def close(self) -> None:
        self._client.close()


@dataclass
class Stack:
    """A running `whenthen dev` and what its ready file says."""

    process: subprocess.Popen[bytes]
    data: Path
    ready: dict[str, Any]
    log: Path
    apis: list[Api] = field(default_factory=list)

    def api(self, token: str | None) -> Api:
        api = Api(self.ready["url"], token)
        self.apis.append(api)
        return api

    def stop(self) -> int:
        """Stop the stack as Ctrl-C would; return its exit code."""
        for api in self.apis:
            api.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(STOP_TIMEOUT_S)


def start_stack(data: Path, *arguments: str, **environment: str) -> Stack:
    """Start `whenthen dev` on `data` and wait until it is ready."""
    ready_file = data.parent / f"{data.name}-ready.json"
    ready_file.unlink(missing_ok=True)
    log = data.parent / f"{data.name}-console.txt"
    command = Path(sys.executable).with_name("whenthen")
    with log.open("wb") as output:
        process = subprocess.Popen(
            [command, "dev", "--port", "0", "--data", data, "--ready-file", ready_file, *arguments],
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=REPOSITORY,
            env={**os.environ, **environment},
        )

    def ready() -> dict[str, Any] | None:
        assert process.poll() is None, f"the stack ended: {log.read_text()[-3000:]}"
        return json.loads(ready_file.read_text()) if ready_file.exists() else None

    try:
        return Stack(process, data, eventually(ready, "the stack is ready", START_TIMEOUT_S), log)
    except AssertionError:
        process.kill()
        process.wait()
        raise


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    started = start_stack(tmp_path_factory.mktemp("stack") / "data")
    yield started
    assert started.stop() == 0


@pytest.fixture(scope="session")
def owner(stack: Stack) -> Api:
    return stack.api(stack.ready["token"])


@pytest.fixture
def tickets(stack: Stack, owner: Api) -> str:
    """A fresh database like Tickets, so that no test's automations meet another's records."""
    seeded = owner.ok("GET", f"/databases/{stack.ready['databaseId']}")
    made = owner.ok(
        "POST",
        f"/workspaces/{stack.ready['workspaceId']}/databases",
        {"name": "Tickets", "properties": seeded["properties"]},
    )
    return str(made["id"])
