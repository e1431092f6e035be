"""A `whenthen dev` of our own: its data in a folder that goes with it, on a free port."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

START_S = 180.0
STOP_S = 60.0
_LOOK_S = 0.1


@dataclass(frozen=True)
class LocalStack:
    """What the ready file says, and a client with the owner's token."""

    ready: dict[str, Any]
    client: httpx.Client

    def post(self, path: str, body: Any) -> Any:
        """Return the JSON that the API answers.

        Raises:
            httpx.HTTPError: it refused, or did not answer.

        """
        answer = self.client.post(path, json=body).raise_for_status()
        return answer.json() if answer.content else None


@contextmanager
def local_stack() -> Iterator[LocalStack]:
    """Start the stack, and stop it as Ctrl-C does."""
    with tempfile.TemporaryDirectory(prefix="whenthen-bench-", ignore_cleanup_errors=True) as made:
        folder = Path(made)
        # Postgres is a user of its own when we are root.
        folder.chmod(0o755)
        with (folder / "console.txt").open("wb") as console:
            process = subprocess.Popen(  # noqa: S603  # our own command
                _command(folder), stdout=console, stderr=subprocess.STDOUT, env=_environment()
            )
        try:
            ready = _wait_until_ready(process, folder)
            client = httpx.Client(
                base_url=f"{ready['url']}/api/v1",
                headers={"authorization": f"Bearer {ready['token']}"},
                timeout=60,
                trust_env=False,
            )
            with client:
                yield LocalStack(ready, client)
        finally:
            _stop(process)


def _command(folder: Path) -> list[str]:
    options = ("--port", "0", "--data", str(folder / "data"))
    return [sys.executable, "-m", "devstack", *options, "--ready-file", str(folder / "ready.json")]


def _environment() -> dict[str, str]:
    # A database that is named would be used in place of the stack's own.
    return {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}


def _wait_until_ready(process: "subprocess.Popen[bytes]", folder: Path) -> dict[str, Any]:
    ready_file, deadline = folder / "ready.json", time.monotonic() + START_S
    while not ready_file.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            raise SystemExit(f"no stack: {(folder / 'console.txt').read_text()[-3000:]}")
        time.sleep(_LOOK_S)
    ready: dict[str, Any] = json.loads(ready_file.read_text("utf-8"))
    return ready


def _stop(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
