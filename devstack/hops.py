"""Follows events and runs and says each hop on the console, without slowing them."""

import queue
import re
import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from devstack.console import Console
from whenthen.domain.schemas.messages import RunMessage, decode
from whenthen.store.connection import Database
from whenthen.store.run_log_tail import TailLine, lines_after

# Runs whose log is still looked up; beyond it a burst's lines are counted and not shown.
BACKLOG_MAX = 200
REMEMBERED_RUNS = 10_000
SHORT_ID = 8

_STEP = re.compile(r"action \d+/\d+ ")
_ENDS = ("run completed", "run skipped")


class HopFollower:
    """Says events as they are put, and a run's new log lines after each batch that touched it."""

    def __init__(self, console: Console, database: Database) -> None:
        self._console = console
        self._database = database
        self._touched: queue.Queue[UUID | None] = queue.Queue(BACKLOG_MAX)
        self._seen: OrderedDict[UUID, int] = OrderedDict()
        self._unseen = 0
        self._thread = threading.Thread(target=self._follow, name="hops", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Say what is known, then end."""
        self._touched.put(None)
        self._thread.join()

    def event(self, event: Mapping[str, Any]) -> None:
        """Say that an event was put on the stream."""
        if self._touched.full():
            return
        self._console.say("event", f"{event.get('type')} {short(event.get('id'))}")

    def batch_done(self, messages: Collection[str]) -> None:
        """Look up the runs that these queue messages name."""
        for body in messages:
            message = decode(body)
            if isinstance(message, RunMessage):
                try:
                    self._touched.put_nowait(message.run_id)
                except queue.Full:
                    self._unseen += 1

    def _follow(self) -> None:
        while (run_id := self._touched.get()) is not None:
            touched = {run_id}
            while len(touched) < BACKLOG_MAX and not self._touched.empty():
                if (more := self._touched.get()) is None:
                    return
                touched.add(more)
            self._say_lines(touched)
            if self._unseen and self._touched.empty():
                self._console.say("stack", f"{self._unseen} runs not shown")
                self._unseen = 0

    def _say_lines(self, run_ids: Collection[UUID]) -> None:
        seen = {run_id: self._seen.get(run_id, 0) for run_id in run_ids}
        try:
            lines = self._database.transact(lambda connection: lines_after(connection, seen))
        except Exception as error:  # noqa: BLE001  # an ornament must not end with the database
            self._console.say("stack", f"hops not readable: {type(error).__name__}")
            return
        for line in lines:
            self._seen[line.run_id] = line.seq
            self._seen.move_to_end(line.run_id)
            self._console.say(hop_of(line), text_of(line))
        while len(self._seen) > REMEMBERED_RUNS:
            self._seen.popitem(last=False)


def hop_of(line: TailLine) -> str:
    """Return which hop a log line tells of."""
    if line.level == "error":
        return "failed"
    if line.message == "run created":
        return "match"
    if _STEP.match(line.message):
        return "step"
    return "done" if line.message.startswith(_ENDS) else "run"


def text_of(line: TailLine) -> str:
    """Return a log line as people read it on a console."""
    told = " ".join(f"{key}={value}" for key, value in line.data.items() if key in _TOLD)
    name = f" · {line.automation_name}" if line.message == "run created" else ""
    return f"{short(line.run_id)} {line.message}{name}{' ' if told else ''}{told}"


_TOLD = frozenset({"attempt", "ms", "code", "message", "delayS", "totalMs"})


def short(identifier: object) -> str:
    """Return the end of an id: UUIDv7 begin alike."""
    return str(identifier)[-SHORT_ID:]
