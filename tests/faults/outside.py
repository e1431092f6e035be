"""The outside that SEND_WEBHOOK talks to here: it keeps its hits in a file, whoever dies."""

import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from whenthen.actions.requests import StepRequest, StepSuccess
from whenthen.domain.errors import FatalError, RetryableError

BASE = "https://hooks.example.com"


def hook(what: str, **more: Any) -> dict[str, Any]:
    """A SEND_WEBHOOK whose target answers `ok`, `flaky` (503, then 200), `down` or `refuses`.

    To `kills` it answers nothing: the process that calls it is no more.
    """
    return {"type": "SEND_WEBHOOK", "config": {"url": f"{BASE}/{what}"}, **more}


class Outside:
    """The target; `at_call` is told of each call that is about to be made."""

    def __init__(self, hits: Path, at_call: Callable[[Callable[[], None]], None]) -> None:
        self._hits = hits
        self._at_call = at_call

    def __call__(self, request: StepRequest) -> StepSuccess:
        key = f"{request.run_id}:{request.generation}:{request.action_id}"
        self._at_call(lambda: self._hit(key))
        match str(request.config["url"]).rpartition("/")[2]:
            case "ok":
                return StepSuccess({"status": 200})
            case "flaky" if self.hits()[key] > 1:
                return StepSuccess({"status": 200})
            case "kills":
                os.kill(os.getpid(), signal.SIGKILL)
                raise AssertionError("nobody is left to hear this")
            case "refuses":
                raise FatalError("WEBHOOK_HTTP_ERROR", "answered 404")
            case _:
                raise RetryableError("WEBHOOK_HTTP_RETRIABLE", "answered 503")

    def hits(self) -> Counter[str]:
        """How often each key was hit."""
        return Counter(self._hits.read_text().split()) if self._hits.exists() else Counter()

    def _hit(self, key: str) -> None:
        line = os.open(self._hits, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(line, f"{key}\n".encode())
        os.close(line)
