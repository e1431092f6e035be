"""One function under the Lambda Runtime Interface Emulator that aws-sam-cli ships."""

import json
import os
import platform
import re
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self
from urllib.request import ProxyHandler, Request, build_opener

import samcli  # type: ignore[import-untyped]

PROGRAMS = Path(samcli.__file__).parent / "local" / "rapid"
ARCHITECTURE = {"aarch64": "arm64", "arm64": "arm64"}.get(platform.machine(), "x86_64")
PATIENCE_S = 60
# Its REPORT line says something else, and wrong (measured).
INIT = re.compile(r"INIT REPORT\(durationMs: ([\d.]+)\)")


class EmulatedFunction:
    """A runtime with its handler loaded; a context manager that ends it."""

    def __init__(self, command: list[str], environment: Mapping[str, str], log: Path) -> None:
        self._port, runtime_port = free_ports(2)
        self._log = log
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [
                    str(PROGRAMS / f"aws-lambda-rie-{ARCHITECTURE}"),
                    *("--runtime-interface-emulator-address", f"127.0.0.1:{self._port}"),
                    *("--runtime-api-address", f"127.0.0.1:{runtime_port}"),
                    *command,
                ],
                env=dict(environment),
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # The emulator and the runtime that it started, which share a session of their own.
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    @property
    def init_ms(self) -> float:
        """How long the runtime took from its start to the loaded handler."""
        found = INIT.search(self.output)
        assert found, self.output
        return float(found[1])

    @property
    def output(self) -> str:
        return self._log.read_text("utf-8", "replace")

    def invoke(self, event: Any) -> Any:
        """Return what the handler returns; an error it raised fails."""
        answer = self._ask(event)
        assert not (isinstance(answer, dict) and "errorType" in answer), f"{answer}\n{self.output}"
        return answer

    def load(self) -> float:
        """Have the handler loaded and return `init_ms`, whatever it makes of an empty event."""
        self._ask({})
        return self.init_ms

    def _ask(self, event: Any) -> Any:
        self._wait_until_it_listens()
        request = Request(
            f"http://127.0.0.1:{self._port}/2015-03-31/functions/function/invocations",
            data=json.dumps(event).encode(),
        )
        with build_opener(ProxyHandler({})).open(request, timeout=PATIENCE_S) as response:
            return json.loads(response.read())

    def _wait_until_it_listens(self) -> None:
        deadline_s = time.monotonic() + PATIENCE_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", self._port), timeout=1).close()
            except OSError:
                assert time.monotonic() < deadline_s, self.output
                time.sleep(0.02)
            else:
                return


def free_ports(count: int) -> list[int]:
    """Return ports of the loopback interface that nobody listens on."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports
