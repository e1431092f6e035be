"""What people see while the stack runs: one coloured line per hop of an event's road."""

import os
import sys
import threading
from datetime import UTC, datetime
from typing import IO

# ANSI colours per hop.
COLOURS = {
    "event": "36",
    "match": "35",
    "run": "34",
    "step": "33",
    "done": "32",
    "failed": "31",
    "stack": "90",
}


class Console:
    """Writes lines to `stream`, coloured when a terminal reads them and NO_COLOR is not set."""

    def __init__(self, stream: IO[str] = sys.stdout) -> None:
        self._stream = stream
        self._coloured = stream.isatty() and "NO_COLOR" not in os.environ
        self._lock = threading.Lock()

    def say(self, hop: str, text: str) -> None:
        """Write one line: the time, the hop in its colour, the text."""
        name = f"{hop:<6}"
        if self._coloured:
            name = f"\x1b[{COLOURS[hop]}m{name}\x1b[0m"
        line = f"{datetime.now(UTC):%H:%M:%S.%f}"[:-3] + f" {name} {text}\n"
        with self._lock:
            try:
                self._stream.write(line)
                self._stream.flush()
            except (OSError, ValueError):
                # Whoever read along is gone; the stack goes on.
                self._coloured = False
