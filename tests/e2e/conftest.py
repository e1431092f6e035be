"""One running stack for all end-to-end tests of a session, driven over HTTP as a user would."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest
from sqlalchemy import text
from sqlalchemy.engine import Connection

from tests.conftest import open_database

REPOSITORY = Path(__file__).parents[2]
COMMAND = Path(sys.executable).with_name("whenthen")
START_TIMEOUT_S = 300
STOP_TIMEOUT_S = 150
# How long is waited for progress: generous, as several stacks may share two cores.
PATIENCE_S = 60
Found = TypeVar("Found")


def eventually(look: Callable[[], Found | None], what: str, timeout_s: float = PATIENCE_S) -> Found:
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
        self._client = httpx.Client(base_url=f"{url}/api/v1", headers=headers, timeout=PATIENCE_S)

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

    @property
    def ready_file(self) -> Path:
        return ready_file_of(self.data)

    def pids(self, function: str) -> list[int]:
        """The processes of a function, as they are now."""
        pids: list[int] = json.loads(self.ready_file.read_text())["pids"][function]
        return pids

    def sql(self, statement: str, **values: Any) -> list[dict[str, Any]]:
        """What a statement returns, run beside the stack on its database."""
        database = open_database(self.ready["databaseUrl"])
        try:
            return database.transact(lambda connection: _rows(connection, statement, values))
        finally:
            database.close()

    def invoke(self, function: str, event: Any) -> Any:
        """What a function of the stack returns, invoked as a developer would."""
        done = self.try_to_invoke(function, event)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def try_to_invoke(self, function: str, event: Any) -> "subprocess.CompletedProcess[str]":
        """How the command ended that invokes a function; 1 if the function failed."""
        return subprocess.run(
            [COMMAND, "invoke", function, "-", "--data", self.data],
            input=json.dumps(event),
            capture_output=True,
            text=True,
            check=False,
            timeout=150,
        )

    @contextmanager
    def clock_turned(self, offset_s: float) -> Iterator[None]:
        """Let the database's clock run ahead for whoever begins a transaction meanwhile.

        A session reads the offset when it begins, so those that wait in the functions' pools end:
        each is replaced at its next use.
        """
        name = self.sql("select current_database() as name")[0]["name"]
        end_sessions = (
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        )
        self.sql(f"alter database {name} set whenthen.clock_offset_s = '{offset_s}'")
        self.sql(end_sessions)
        try:
            yield
        finally:
            self.sql(f"alter database {name} reset whenthen.clock_offset_s")
            self.sql(end_sessions)

    def lines(self, name: str) -> list[Any]:
        """What a file of JSON lines under the data folder holds by now."""
        content = (self.data / name).read_text("utf-8", "replace")
        return [
            json.loads(line) for line in content.splitlines(keepends=True) if line.endswith("\n")
        ]

    def kill(self) -> None:
        """End the whole stack as a power cut would."""
        self._close_apis()
        self.process.kill()
        self.process.wait(STOP_TIMEOUT_S)

    def _close_apis(self) -> None:
        for api in self.apis:
            api.close()
        self.apis.clear()

    def stop(self) -> int:
        """Stop the stack as Ctrl-C would; return its exit code."""
        self._close_apis()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            # Left alive it would be the trouble of whatever test comes next.
            self.process.kill()
            self.process.wait()
            raise


def _rows(connection: Connection, statement: str, values: dict[str, Any]) -> list[dict[str, Any]]:
    result = connection.execute(text(statement), values)
    return [dict(row) for row in result.mappings()] if result.returns_rows else []


def ready_file_of(data: Path) -> Path:
    return data.parent / f"{data.name}-ready.json"


def start_stack(data: Path, *arguments: str | Path, **environment: str) -> Stack:
    """Start `whenthen dev` on `data` and wait until it is ready."""
    ready_file = ready_file_of(data)
    ready_file.unlink(missing_ok=True)
    log = data.parent / f"{data.name}-console.txt"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [COMMAND, "dev", "--port", "0", "--data", data, "--ready-file", ready_file, *arguments],
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


@contextmanager
def folder_for_a_stack() -> Iterator[Path]:
    """A folder that Postgres, which is a user of its own when we are root, may enter.

    pytest's own temporary folders are closed to others each time that a pytest starts.
    """
    with tempfile.TemporaryDirectory(prefix="wt-e2e-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    with folder_for_a_stack() as folder:
        started = start_stack(folder / "data")
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
