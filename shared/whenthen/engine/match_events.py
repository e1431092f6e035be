"""From stream records to runs: decode, match, insert, and send a message for each new run."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.engine import Connection

from whenthen.domain import json_text, limits
from whenthen.domain.kinds import EventType
from whenthen.domain.rules.classify import classify_error
from whenthen.domain.rules.matching import Candidate, candidate_scopes, match_event
from whenthen.domain.rules.trigger_event import actor_of, as_run_sees, stored_input
from whenthen.domain.rules.truncate import truncate_json
from whenthen.domain.schemas.events import Event, EventUnreadableError, read_event
from whenthen.engine.context import Context
from whenthen.engine.publish import publish
from whenthen.engine.send import send_runs
from whenthen.engine.start_runs import Start, Started, start_runs
from whenthen.store.candidates import load_candidates
from whenthen.store.run_inserts import RunEvent
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
    candidates: Sequence[Candidate] = ()
    # Empty where it starts none.
    input: Mapping[str, Any] = field(default_factory=dict)
    size_bytes: int = 0


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
    if not candidates:
        # As most events: the engine's own go out whether anybody listens or not.
        return _Matched(arrival, event)
    seen = as_run_sees(event)
    payload, truncated = truncate_json(dict(seen.payload), limits.PAYLOAD_MAX_BYTES)
    # The outbox cuts to the same size and says so inside the payload.
    cut = truncated or event.payload.get("truncated") is True
    stored = stored_input(replace(seen, payload=payload) if truncated else seen, truncated=cut)
    return _Matched(arrival, event, candidates, stored, len(json_text.dumps(stored)))


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
        started = _commit_together(context, chunk, dead)
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
    else:
        # What is committed is no dead event, whatever becomes of telling it.
        context.metrics.count("automations.dead_events", len(dead))
        _tell(context, started)


def _end(context: Context, chunk: Sequence[_Matched], dead: Sequence[DeadEvent]) -> None:
    outbox_ids = [item.event.outbox_id for item in chunk if item.event.outbox_id]
    context.database.transact(lambda connection: end_events(connection, outbox_ids, dead))
    context.metrics.count("automations.dead_events", len(dead))


def _commit_together(
    context: Context, chunk: Sequence[_Matched], dead: Sequence[DeadEvent]
) -> Started:
    starting = [item for item in chunk if item.candidates]
    starts = [Start(_run_event(item), item.candidates) for item in starting]
    outbox_ids: list[UUID] = [item.event.outbox_id for item in chunk if item.event.outbox_id]

    def work(connection: Connection) -> Started:
        started = start_runs(connection, starts, context.settings)
        end_events(connection, outbox_ids, dead)
        return started

    if not (starts or outbox_ids or dead):
        return Started()
    return context.database.transact(work)


def _tell(context: Context, started: Started) -> None:
    """Count what was started, and tell stream and queue of it."""
    for trigger_type, n in started.matched.items():
        context.metrics.count("automations.matched", n, trigger_type=trigger_type.value)
    context.metrics.count("automations.skipped", started.deduped, reason="deduped")
    context.metrics.count("automations.breaker_tripped", started.tripped)
    publish(context, started.events)
    send_runs(context, started.messages)


def _run_event(item: _Matched) -> RunEvent:
    event, cause = item.event, item.event.automation_context
    record_id = item.input["payload"].get("recordId")
    return RunEvent(
        event_id=event.id,
        workspace_id=event.workspace_id,
        trigger_type=item.input["type"],
        record_id=record_id if isinstance(record_id, str) else None,
        input=item.input,
        depth=cause.depth if cause else 0,
        root_run_id=cause.root_run_id if cause else None,
        parent_run_id=cause.run_id if cause else None,
        chain=[str(link) for link in cause.chain] if cause else [],
        by_webhook=event.type == EventType.WEBHOOK_RECEIVED,
        actor_id=actor_of(event),
    )


def _dead(arrival: Arrival, error: Exception) -> DeadEvent:
    # The class and our own messages only: a foreign message may repeat the input.
    reason = str(error) if isinstance(error, EventUnreadableError) else type(error).__name__
    return DeadEvent(arrival.source, reason, arrival.data)
