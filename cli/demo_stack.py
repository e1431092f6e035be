"""A local stack for the length of one command, on a free port with data of its own."""

import json
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cli.api import Api
from cli.dev import STACK_COMMAND
from cli.exits import UNREACHABLE, CommandError

START_S = 120
STOP_S = 30
POLL_S = 0.1


@contextmanager
def stack_of_its_own() -> Iterator[Api]:
    """Start a stack, hand out its API, and stop it.

    Raises:
        CommandError: the stack did not start; its output is shown.

    """
    with tempfile.TemporaryDirectory(prefix="whenthen-") as folder:
        # Postgres runs as a user of its own when we are root, and must get in.
        Path(folder).chmod(0o755)
        ready, output = Path(folder) / "ready.json", Path(folder) / "output.log"
        print("starting a stack of its own …", flush=True)
        with output.open("wb") as log:
            process = subprocess.Popen(  # noqa: S603  # our own command
                [
                    *STACK_COMMAND,
                    *("--port", "0", "--data", f"{folder}/data", "--ready-file", str(ready)),
                ],
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            yield _wait(process, ready, output)
        finally:
            process.terminate()
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(process: "subprocess.Popen[bytes]", ready: Path, output: Path) -> Api:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        if ready.exists():
            told = json.loads(ready.read_text("utf-8"))
            return Api(told["url"], told["token"])
        time.sleep(POLL_S)
    raise CommandError(
        f"the stack did not start:\n{output.read_text('utf-8', 'replace')}", UNREACHABLE
    )
