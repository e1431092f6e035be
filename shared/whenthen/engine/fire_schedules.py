"""Fires schedules whose instant has come: a row and a PENDING run each, then a message.

`fire_due` is the tick's. `fire_soon` is for whoever has just committed that a schedule is active,
by activation, resume, edit or restore: the tick that sees the coming minute has gone by without it.
It starts nothing at once either, for a schedule's next instant lies ahead of its commit.
"""

import logging
import math
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from time import monotonic
from typing import Final
from uuid import UUID

from sqlalchemy.engine import Connection
from sqlalchemy.exc import SQLAlchemyError

from whenthen.aws.run_queue import QueuedRun
from whenthen.domain import limits
from whenthen.engine.context import Context
from whenthen.engine.plan_occurrences import Planned, plan
from whenthen.engine.send import send_runs
from whenthen.store import due_schedules, ticks
from whenthen.store.due_schedules import DueSchedule

# The name under which the ticks that fire schedules are noted.
TICK: Final = "schedules"
# Calls to the queue at once: one after the other, 100,000 messages would take minutes.
_SENDERS: Final = 8
_SEES_FROM: Final = timedelta(seconds=limits.FIRE_AHEAD_S)
_MISSED_AFTER: Final = timedelta(seconds=limits.MISSED_AFTER_S)

_log = logging.getLogger("whenthen.schedules")


@dataclass(frozen=True, slots=True)
class Fired:
    """How many instants fired, were missed, and had their run already."""

    fired: int = 0
    missed: int = 0
    deduped: int = 0

    def __add__(self, other: "Fired") -> "Fired":
        return Fired(
            self.fired + other.fired, self.missed + other.missed, self.deduped + other.deduped
        )


@dataclass(frozen=True, slots=True)
class _NewRun:
    """A run that is now a row: due so many seconds after its batch began."""

    id: UUID
    workspace_id: UUID
    due_in_s: float


@dataclass(frozen=True, slots=True)
class _Batch:
    """What one transaction moved on; `more`: there may be more due than it took."""

    fired: Fired = Fired()
    runs: Sequence[_NewRun] = ()
    more: bool = False


def fire_due(context: Context, has_time: Callable[[], bool], ahead_s: float = 0) -> Fired:
    """Fire everything that is due within a minute, in batches while there is time.

    The tick's clock is `ahead_s` ahead of the database's. Two at once take different schedules.
    One that dies leaves nothing of a batch or all of it; then the rows of its runs wake by
    themselves. What there is no time for is late, and the next tick's.
    """
    total, more = Fired(), True
    while more and has_time():
        batch = _fire(context, ahead_s)
        total, more = total + batch.fired, batch.more
    return total


def fire_soon(context: Context, automation_id: UUID) -> None:
    """Fire what an automation has due within a minute, once its schedules are committed.

    Should that fail, the next tick does it, at most a minute late.
    """
    try:
        _fire(context, 0, automation_id)
    except SQLAlchemyError as error:
        _log.warning("schedules left to the tick", extra={"error": type(error).__name__})


def _fire(context: Context, ahead_s: float, automation_id: UUID | None = None) -> _Batch:
    began = monotonic()
    batch = context.database.transact(partial(_fire_batch, ahead_s, automation_id))
    _send(context, batch.runs, began)
    context.metrics.count("schedules.fired", batch.fired.fired)
    context.metrics.count("schedules.missed", batch.fired.missed)
    context.metrics.count("schedules.deduped", batch.fired.deduped)
    return batch


def _fire_batch(ahead_s: float, automation_id: UUID | None, connection: Connection) -> _Batch:
    claimed = due_schedules.claim(connection, limits.FIRE_BATCH_MAX, ahead_s, automation_id)
    if not claimed:
        return _Batch()
    planned = _planned(claimed, _tick_starts(connection, claimed), ahead_s)
    occurrences = [new for one in planned for new in one.occurrences]
    written = due_schedules.move_on(
        connection, [(one.schedule, one.next_at) for one in planned], occurrences
    )
    outcomes = Counter(one.outcome for one in written)
    fired = {one.run_id for one in written if one.run_id}
    return _Batch(
        Fired(outcomes["fired"], sum(one.missed for one in planned), outcomes["deduped"]),
        [
            _NewRun(new.run.id, new.schedule.workspace_id, new.run.due_in_s)
            for new in occurrences
            if new.run and new.run.id in fired
        ],
        more=len(claimed) == limits.FIRE_BATCH_MAX or len(planned) < len(claimed),
    )


def _planned(
    claimed: Sequence[DueSchedule], tick_starts: Sequence[datetime], ahead_s: float
) -> list[Planned]:
    """Plan as many of the claimed schedules as one transaction should carry, at least one."""
    planned: list[Planned] = []
    room = limits.FIRE_BATCH_MAX_INSTANTS
    for schedule in claimed:
        planned.append(plan(schedule, tick_starts, ahead_s))
        room -= len(planned[-1].occurrences)
        if room <= 0:
            break
    return planned


def _tick_starts(connection: Connection, claimed: Sequence[DueSchedule]) -> Sequence[datetime]:
    """Return the ticks by which an instant is late or missed; as a rule none is that old."""
    oldest = claimed[0]
    if oldest.next_at >= oldest.now - _MISSED_AFTER:
        return []
    return ticks.starts_since(connection, TICK, oldest.next_at - _SEES_FROM)


def _send(context: Context, runs: Sequence[_NewRun], began: float) -> None:
    """Send the messages of a committed batch, each delayed to the second of its instant."""
    size = limits.QUEUE_BATCH_MAX
    chunks = [runs[start : start + size] for start in range(0, len(runs), size)]

    def send(chunk: Sequence[_NewRun]) -> None:
        passed_s = monotonic() - began
        send_runs(context, [_message(run, passed_s) for run in chunk])

    # The first call makes the client, which threads may share but not make.
    for chunk in chunks[:1]:
        send(chunk)
    if chunks[1:]:
        with ThreadPoolExecutor(_SENDERS) as senders:
            list(senders.map(send, chunks[1:]))


def _message(run: _NewRun, passed_s: float) -> QueuedRun:
    return QueuedRun(run.id, run.workspace_id, math.ceil(max(run.due_in_s - passed_s, 0)))
