"""The stack's side of one worker process."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from devstack.frames import receive_frame, send_frame

INIT_TIMEOUT_S = 120
ROOT = Path(__file__).resolve().parent.parent

LineSink = Callable[[str], None]


class SandboxGoneError(RuntimeError):
    """Raised when the process was already dead: the invocation has not begun."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """What became of one invocation: a JSON result, or Lambda's error object."""

    result: Any = None
    error: Mapping[str, Any] | None = None

    @property
    def timed_out(self) -> bool:
        return self.error is not None and self.error.get("errorType") == "Sandbox.Timedout"


class Sandbox:
    """One process with its handler imported; takes one invocation at a time."""

    def __init__(
        self, handler: str, environment: Mapping[str, str], timeout_s: float, on_line: LineSink
    ) -> None:
        self._timeout_s = timeout_s
        self._channel, theirs = socket.socketpair()
        lifeline_read, self._lifeline = os.pipe()
        with theirs:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-u", "-m", "devstack.worker"),
                    *(handler, str(theirs.fileno()), str(lifeline_read)),
                ],
                env=dict(environment),
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[theirs.fileno(), lifeline_read],
                # Ctrl-C reaches the whole group of the terminal; the stack ends its workers itself.
                start_new_session=True,
            )
        os.close(lifeline_read)
        self._readers = [
            threading.Thread(target=_read_lines, args=(stream, on_line), daemon=True)
            for stream in (self.process.stdout, self.process.stderr)
        ]
        for reader in self._readers:
            reader.start()

    @property
    def pid(self) -> int:
        return self.process.pid

    def wait_until_ready(self) -> bool:
        """Return whether the handler could be imported in time."""
        self._channel.settimeout(INIT_TIMEOUT_S)
        try:
            return bool(receive_frame(self._channel).get("ready"))
        except (EOFError, OSError):
            return False

    def invoke(self, event: Any) -> Invocation:
        """Return what the handler made of `event`; past its timeout the process is killed.

        Raises:
            SandboxGoneError: the process had died before.

        """
        request_id = str(uuid.uuid4())
        deadline_ms = int((time.time() + self._timeout_s) * 1000)
        request = {"requestId": request_id, "deadlineMs": deadline_ms, "event": event}
        try:
            self._channel.settimeout(self._timeout_s)
            send_frame(self._channel, request)
        except OSError as error:
            raise SandboxGoneError from error
        try:
            return _invocation(receive_frame(self._channel))
        except TimeoutError:
            self.process.kill()
            # A process that is still about to die would take the next event with it.
            self.process.wait()
            message = f"{request_id} Task timed out after {self._timeout_s:.2f} seconds"
            return _failed("Sandbox.Timedout", message)
        except (EOFError, OSError):
            code = self.process.wait()
            message = f"RequestId: {request_id} Error: Runtime exited with error: {code}"
            return _failed("Runtime.ExitError", message)

    def wait(self) -> int:
        """Return the exit code, once the process has ended and all it wrote has been read."""
        code = self.process.wait()
        for reader in self._readers:
            reader.join()
        return code

    def close(self) -> None:
        """Kill the process, if it still runs, and free what belongs to it."""
        self.process.kill()
        self.wait()
        self._channel.close()
        os.close(self._lifeline)


def _invocation(frame: dict[str, Any]) -> Invocation:
    return Invocation(frame.get("result"), frame.get("error"))


def _failed(error_type: str, message: str) -> Invocation:
    return Invocation(error={"errorType": error_type, "errorMessage": message})


def _read_lines(stream: IO[bytes] | None, on_line: LineSink) -> None:
    if stream is not None:
        with stream:
            for line in stream:
                on_line(line.decode("utf-8", "replace").rstrip("\n"))


def error_text(error: Mapping[str, Any]) -> str:
    """Return an error object as one line for people."""
    text = error.get("errorMessage") or json.dumps(dict(error))
    return f"{error.get('errorType', 'Error')}: {text}"
