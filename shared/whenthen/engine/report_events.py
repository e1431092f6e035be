"""Events that a host application reports through the API."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from whenthen.domain.errors import InvalidError
from whenthen.domain.ids import parse_id
from whenthen.domain.kinds import HOST_EVENT_TYPES
from whenthen.domain.schemas.details import DETAILS_MAX, detail
from whenthen.domain.schemas.host_events import EventsBody, HostEvent
from whenthen.engine.identify import Caller
from whenthen.store import database_rows, outbox
from whenthen.store.outbox import OutboxEvent

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from whenthen.domain.rules.data_path import Step


@dataclass(frozen=True, slots=True)
class Reported:
    """The ids in the order of the request, and what to publish after the commit."""

    event_ids: Sequence[str]
    events: Sequence[OutboxEvent]


def report(
    connection: "Connection", caller: Caller, body: EventsBody, *, sanitized: bool
) -> Reported:
    """Take all events or none. One that comes twice, by its client's id, is one event.

    `sanitized`: characters that cannot be stored were replaced somewhere in the request.

    Raises:
        InvalidError: `EVENT_TYPE_UNKNOWN`, a type is none that hosts report; `DATABASE_UNKNOWN`, a
            payload names a database that is unknown, archived or another workspace's.

    """
    _check_types(body)
    _check_databases(connection, caller, body)
    made = [_event(caller, one, sanitized=sanitized) for one in body.events]
    first = {event.event_id: event for event in reversed(made)}
    added = outbox.add(connection, [event for event in made if first[event.event_id] is event])
    return Reported([event.event_id for event in made], added)


def _event(caller: Caller, event: HostEvent, *, sanitized: bool) -> OutboxEvent:
    payload: dict[str, Any] = {**event.payload, "sanitized": True} if sanitized else event.payload
    return outbox.new_event(
        workspace_id=caller.workspace_id,
        type=event.type,
        payload=payload,
        namespace="evt",
        client_id=event.id,
        automation_context=caller.automation_context,
    )


def _check_types(body: EventsBody) -> None:
    faults = [
        (*place, "type") for place, event in _placed(body) if event.type not in HOST_EVENT_TYPES
    ]
    known = ", ".join(sorted(HOST_EVENT_TYPES))
    _refuse("EVENT_TYPE_UNKNOWN", faults, f"must be one of {known}", "event_type")


def _check_databases(connection: "Connection", caller: Caller, body: EventsBody) -> None:
    named = {
        (*place, "payload", "databaseId"): _database_id(event.payload["databaseId"])
        for place, event in _placed(body)
        if event.payload.get("databaseId") is not None
    }
    ids = {found for found in named.values() if found is not None}
    known = database_rows.active_ids(connection, caller.workspace_id, ids)
    faults = [place for place, found in named.items() if found not in known]
    _refuse("DATABASE_UNKNOWN", faults, "no active database of this workspace", "database")


def _placed(body: EventsBody) -> Iterator[tuple[tuple["Step", ...], HostEvent]]:
    for n, event in enumerate(body.events):
        yield ((n,) if body.is_list else ()), event


def _database_id(value: Any) -> UUID | None:
    return parse_id(value) if isinstance(value, str) else None


def _refuse(code: str, faults: Sequence[tuple["Step", ...]], message: str, kind: str) -> None:
    if faults:
        details = [detail(place, message, kind) for place in faults[:DETAILS_MAX]]
        raise InvalidError(code, f"{details[0]['path']}: {message}", details)
