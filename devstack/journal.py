"""What the stack keeps on disk: events.jsonl, metrics.jsonl and the functions' log."""

import base64
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

EventListener = Callable[[dict[str, Any]], None]


class Journal:
    """Appends whole lines to the files under `folder`; safe to call from several threads.

    `on_event` hears every readable event of the stream.
    """

    def __init__(self, folder: Path, on_event: EventListener) -> None:
        self.log_path = folder / "stack.log"
        self._on_event = on_event
        self._lock = threading.Lock()
        self._events = _appending(folder / "events.jsonl")
        self._metrics = _appending(folder / "metrics.jsonl")
        self._log = _appending(self.log_path)

    def event(self, data: bytes) -> None:
        """Keep one stream record: its JSON object, or its bytes when it is none."""
        event = _json_object(data.decode("utf-8", "replace"))
        line = event if event is not None else {"undecodable": base64.b64encode(data).decode()}
        self._write(self._events, json.dumps(line, ensure_ascii=False))
        if event is not None:
            self._on_event(event)

    def line(self, function: str, line: str) -> None:
        """Keep one line that a function wrote: an EMF line is a metric, all others are log."""
        fields = _json_object(line)
        if fields is not None and "_aws" in fields:
            self._write(self._metrics, line)
            return
        self._write(self._log, f"{function} {line}")

    def close(self) -> None:
        """Close the files."""
        with self._lock:
            for file in (self._events, self._metrics, self._log):
                file.close()

    def _write(self, file: IO[str], line: str) -> None:
        with self._lock:
            if not file.closed:
                file.write(line + "\n")
                file.flush()


def _appending(path: Path) -> IO[str]:
    return path.open("a", encoding="utf-8", errors="replace")


def _json_object(text: str) -> dict[str, Any] | None:
    if not text.startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
