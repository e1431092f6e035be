"""From stream records to runs: decode, match, insert, and send a message for each new run."""

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.engine import Connection

from whenthen.aws.run_queue import QueuedRun
from whenthen.domain import json_text, limits
from whenthen.domain.rules.classify import classify_error
from whenthen.domain.rules.matching import Candidate, candidate_scopes, match_event
from whenthen.domain.rules.trigger_event import stored_input
from whenthen.domain.rules.truncate import truncate_json
from whenthen.domain.schemas.events import Event, EventUnreadableError, read_event
from whenthen.engine.context import Context
from whenthen.store import run_inserts
from whenthen.store.candidates import load_candidates
from whenthen.store.new_id import new_id
from whenthen.store.outbox import KEPT_KEYS
from whenthen.store.run_inserts import NewRun, RunEvent
from whenthen.store.stream_ends import DeadEvent, end_events

_log = logging.getLogger("whenthen.match")


@dataclass(frozen=True, slots=True)
class Arrival:
    """One record of the stream. `source` is its address there, such as `shardId-0:4959…`."""

    source: str
    data: bytes
    arrived_at: datetime


@dataclass(frozen=True, slots=True)
class _Matched:
    """An event with the automations that it starts, and how large its stored input is."""

    arrival: Arrival
    event: Event
    input: dict[str, Any]
    candidates: Sequence[Candidate]
    size_bytes: int


def match_events(context: Context, arrivals: Sequence[Arrival], dead: Sequence[DeadEvent]) -> None:
    """Insert the runs that `arrivals` start and send their messages; keep `dead` as it is.

    A record that cannot be decoded or matched is kept in `dead_events` and the others go on. A
    second delivery finds its runs there and its outbox rows gone, and changes nothing.

    Raises:
        sqlalchemy.exc.SQLAlchemyError: the database is out of reach; the batch may come again.

    """
    events, unreadable = _decode(arrivals)
    matched, unmatchable = _match(context, events)
    dead = [*dead, *unreadable, *unmatchable]
    for chunk in _chunks(matched) or [[]]:
        _commit(context, chunk, dead)
        dead = []
    context.metrics.count("automations.dead_events", len(unreadable) + len(unmatchable))


def _decode(arrivals: Iterable[Arrival]) -> tuple[list[tuple[Arrival, Event]], list[DeadEvent]]:
    events: list[tuple[Arrival, Event]] = []
    dead: list[DeadEvent] = []
    for arrival in arrivals:
        try:
            event = read_event(arrival.data, arrival.arrived_at, arrival.source)
        except EventUnreadableError as error:
            dead.append(_dead(arrival, error))
        else:
            events.append((arrival, event))
    return events, dead


def _match(
    context: Context, events: Sequence[tuple[Arrival, Event]]
) -> tuple[list[_Matched], list[DeadEvent]]:
    scopes = {arrival.source: candidate_scopes(event) for arrival, event in events}
    wanted = {
        (event.workspace_id, scope) for arrival, event in events for scope in scopes[arrival.source]
    }
    found = context.database.transact(lambda connection: load_candidates(connection, wanted))
    matched: list[_Matched] = []
    dead: list[DeadEvent] = []
    mismatched = 0
    for arrival, event in events:
        candidates = [
            candidate
            for scope in scopes[arrival.source]
            for candidate in found[event.workspace_id, scope]
        ]
        try:
            result = match_event(event, candidates)
            matched.append(_matched(arrival, event, result.matched))
        except Exception as error:  # noqa: BLE001  # one record that breaks a rule must not hold up its shard
            _log.exception("event not matchable", extra={"source": arrival.source})
            dead.append(_dead(arrival, error))
        else:
            mismatched += result.mismatched
    context.metrics.count("automations.skipped", mismatched, reason="filter_mismatch")
    return matched, dead


def _matched(arrival: Arrival, event: Event, candidates: Sequence[Candidate]) -> _Matched:
    payload, truncated = truncate_json(event.payload, limits.PAYLOAD_MAX_BYTES, keep=KEPT_KEYS)
    stored = stored_input(replace(event, payload=payload), truncated=truncated)
    size_bytes = len(json_text.dumps(stored)) if candidates else 0
    return _Matched(arrival, event, stored, candidates, size_bytes)


def _chunks(matched: Sequence[_Matched]) -> list[list[_Matched]]:
    """Cut `matched` so that one transaction stays within 1,000 runs and 4 MB of input."""
    chunks: list[list[_Matched]] = []
    runs = size_bytes = 0
    for item in matched:
        runs += len(item.candidates)
        size_bytes += item.size_bytes
        fits = runs <= limits.MATCH_CHUNK_MAX_RUNS and size_bytes <= limits.MATCH_CHUNK_MAX_BYTES
        if not chunks or not fits:
            chunks.append([])
            runs, size_bytes = len(item.candidates), item.size_bytes
        chunks[-1].append(item)
    return chunks


def _commit(context: Context, chunk: Sequence[_Matched], dead: Sequence[DeadEvent]) -> None:
    try:
        _commit_together(context, chunk, dead)
    except Exception as error:
        if classify_error(error).retryable or not chunk:
            raise
        # One event's values broke the statement for all: alone, it becomes a dead event.
        _log.exception("chunk not insertable", extra={"events": len(chunk)})
        if len(chunk) == 1:
            _end(context, chunk, [*dead, _dead(chunk[0].arrival, error)])
            return
        for n, item in enumerate(chunk):
            _commit(context, [item], dead if n == 0 else [])


def _end(context: Context, chunk: Sequence[_Matched], dead: Sequence[DeadEvent]) -> None:
    outbox_ids = [item.event.outbox_id for item in chunk if item.event.outbox_id]
    context.database.transact(lambda connection: end_events(connection, outbox_ids, dead))


def _commit_together(
    context: Context, chunk: Sequence[_Matched], dead: Sequence[DeadEvent]
) -> None:
    starting = [item for item in chunk if item.candidates]
    events = [_run_event(item) for item in starting]
    runs = [
        (candidate, NewRun(new_id(), n, candidate.automation_id, candidate.version))
        for n, item in enumerate(starting)
        for candidate in item.candidates
    ]
    outbox_ids: list[UUID] = [item.event.outbox_id for item in chunk if item.event.outbox_id]

    def work(connection: Connection) -> list[run_inserts.InsertedRun]:
        inserted = run_inserts.insert_runs(connection, events, [run for _, run in runs])
        end_events(connection, outbox_ids, dead)
        return inserted

    if not (runs or outbox_ids or dead):
        return
    inserted = context.database.transact(work)
    _count(context, [(run.id, candidate) for candidate, run in runs], {i.id for i in inserted})
    context.run_queue.send([QueuedRun(run.id, run.workspace_id) for run in inserted])


def _run_event(item: _Matched) -> RunEvent:
    event, cause = item.event, item.event.automation_context
    record_id = event.payload.get("recordId")
    return RunEvent(
        event_id=event.id,
        workspace_id=event.workspace_id,
        trigger_type=event.type,
        record_id=record_id if isinstance(record_id, str) else None,
        input=item.input,
        depth=cause.depth if cause else 0,
        root_run_id=cause.root_run_id if cause else None,
        parent_run_id=cause.run_id if cause else None,
        chain=[str(link) for link in cause.chain] if cause else [],
    )


def _count(context: Context, runs: Sequence[tuple[UUID, Candidate]], inserted: set[UUID]) -> None:
    per_type = Counter(candidate.type for run_id, candidate in runs if run_id in inserted)
    for trigger_type, n in per_type.items():
        context.metrics.count("automations.matched", n, trigger_type=trigger_type.value)
    context.metrics.count("automations.skipped", len(runs) - len(inserted), reason="deduped")


def _dead(arrival: Arrival, error: Exception) -> DeadEvent:
    # The class and our own messages only: a foreign message may repeat the input.
    reason = str(error) if isinstance(error, EventUnreadableError) else type(error).__name__
    return DeadEvent(arrival.source, reason, arrival.data)
