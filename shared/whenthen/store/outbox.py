"""Events that are true but not yet matched: written with the fact, removed with the match."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.domain import json_text, limits
from whenthen.domain.rules.truncate import truncate_json
from whenthen.store.new_id import new_id
from whenthen.store.prepared import prepared


@dataclass(frozen=True, slots=True)
class OutboxEvent:
    """One event on its way; `event_id` is the engine's namespaced id, `payload` is capped."""

    id: UUID
    workspace_id: UUID
    event_id: str
    type: str
    payload: Mapping[str, Any]
    automation_context: Mapping[str, Any] | None
    occurred_at: datetime | None = None
    # The user who made it true, where the engine knows one.
    actor_id: UUID | None = None


def new_event(  # noqa: PLR0913  # an event has that many parts, all named at the call
    *,
    workspace_id: UUID,
    type: str,  # noqa: A002  # the envelope's own word
    payload: Mapping[str, Any],
    namespace: str = "rec",
    client_id: str | None = None,
    automation_context: Mapping[str, Any] | None = None,
    actor_id: UUID | None = None,
) -> OutboxEvent:
    """Return an event with a fresh outbox id, its payload capped at 64 KB of JSON.

    `namespace` is the first part of the event id (`rec`, `evt`, `hook`, `run`), `client_id` its
    last; without one the outbox id serves.
    """
    outbox_id = new_id()
    capped, _ = truncate_json(dict(payload), limits.PAYLOAD_MAX_BYTES)
    return OutboxEvent(
        id=outbox_id,
        workspace_id=workspace_id,
        event_id=f"{namespace}:{workspace_id}:{client_id or outbox_id}",
        type=type,
        payload=capped,
        automation_context=automation_context,
        actor_id=actor_id,
    )


def as_row(event: OutboxEvent) -> dict[str, Any]:
    """Return `event` as the JSON row that set-based statements take."""
    return {
        "id": str(event.id),
        "workspace_id": str(event.workspace_id),
        "event_id": event.event_id,
        "type": event.type,
        "payload": event.payload,
        "automation_context": event.automation_context,
        "actor_id": str(event.actor_id) if event.actor_id else None,
    }


# Used alone below and inside the settle statement: one shape of row, one list of columns.
ROW_TYPE = (
    "id uuid, workspace_id uuid, event_id text, type text, payload jsonb,"
    " automation_context jsonb, actor_id uuid"
)
# `nullif`: a JSON null and an SQL NULL never mix.
INSERT_SELECT = """
    insert into outbox (id, workspace_id, event_id, type, payload, automation_context, actor_id)
    select e.id, e.workspace_id, e.event_id, e.type, e.payload,
        nullif(e.automation_context, 'null'), e.actor_id
"""


def add(connection: Connection, events: Sequence[OutboxEvent]) -> list[OutboxEvent]:
    """Write `events`; return them with the instant at which each became true."""
    if not events:
        return []
    rows = _ADD.rows(connection, {"events": json_text.dumps([as_row(e) for e in events])})
    return with_instants(events, {row["id"]: row["occurred_at"] for row in rows})


def with_instants(
    events: Sequence[OutboxEvent], instants: Mapping[UUID, datetime]
) -> list[OutboxEvent]:
    """Return those of `events` that `instants` names, each with its instant."""
    return [
        replace(event, occurred_at=instants[event.id]) for event in events if event.id in instants
    ]


_ADD = prepared(
    f"""
    with added as (
        {INSERT_SELECT} from jsonb_to_recordset(cast(:events as jsonb)) as e({ROW_TYPE})
        returning id, occurred_at
    )
    select id, occurred_at from added
    """  # noqa: S608  # only constants of this module
)


# Every unmatched event: what a restarted stack puts on its empty stream again.
def unmatched(connection: Connection, limit: int, after: UUID | None) -> list[OutboxEvent]:
    """Return up to `limit` unmatched events by id, those after the id `after`."""
    rows = connection.execute(_UNMATCHED, {"limit": limit, "after": after})
    return [OutboxEvent(**row) for row in rows.mappings()]


_UNMATCHED = text(
    """
    select id, workspace_id, event_id, type, payload, automation_context, occurred_at, actor_id
    from outbox
    where cast(:after as uuid) is null or id > cast(:after as uuid)
    order by id
    limit cast(:limit as integer)
    """
)
