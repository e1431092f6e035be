"""Takes up what an earlier stack on the same data left unfinished.

The emulated queue and stream live in memory, the facts in Postgres: unmatched events are in the
outbox, runs are rows.
"""

from collections.abc import Iterator
from functools import partial
from typing import Protocol

from whenthen.domain import limits
from whenthen.domain.schemas import messages
from whenthen.engine.publish import as_record
from whenthen.store import sweeps
from whenthen.store.connection import Database
from whenthen.store.outbox import OutboxEvent
from whenthen.store.pending_runs import PendingRun, pending_runs

PAGE = 500


class _Put(Protocol):
    def __call__(self, partition_key: str, data: bytes) -> None: ...


class _Send(Protocol):
    def __call__(self, body: str, group: str, delay_s: int) -> None: ...


def take_up(database: Database, put: _Put, send: _Send) -> tuple[int, int]:
    """Put every unmatched event and send every pending run again; return how many of each.

    Call it before any worker runs: every lease is void, since its worker died with its stack.
    Runs that were already under way meet a second message as any other: the row decides.
    """
    database.transact(sweeps.void_all)
    events = runs = 0
    for event in _unmatched(database):
        record = as_record(event)
        put(record.partition_key, record.data)
        events += 1
    for run in _pending(database):
        delay_s = min(round(run.delay_s), limits.QUEUE_DELAY_MAX_S)
        send(messages.encode(run.run_id), str(run.workspace_id), delay_s)
        runs += 1
    return events, runs


def _unmatched(database: Database) -> Iterator[OutboxEvent]:
    while found := database.transact(partial(sweeps.take_unmatched, limit=PAGE)):
        yield from found


def _pending(database: Database) -> Iterator[PendingRun]:
    after = None
    while found := database.transact(partial(pending_runs, after=after, limit=PAGE)):
        yield from found
        after = found[-1].run_id
