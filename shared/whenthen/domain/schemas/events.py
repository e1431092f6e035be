"""Events: the envelope on the stream, and the context by which chains of runs are bounded.

Plain dataclasses: the matcher reads thousands and should load nothing heavy for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from whenthen.domain import ids, instants, json_text, limits
from whenthen.domain.errors import WhenthenError
from whenthen.domain.rules.text_hygiene import clean

# The first part of an event id says who made it, so that no client can take another's id.
NAMESPACES: Final = frozenset({"evt", "hook", "rec", "schedule", "manual", "run"})
# An event id is part of an index key, where Postgres takes at most 2,700 bytes.
CLIENT_ID_MAX_CHARS: Final = 255
# The longest namespace, the workspace's id and two colons stand before a client's own part; a
# webhook's automation and a slash as well.
ENGINE_ID_MAX_CHARS: Final = CLIENT_ID_MAX_CHARS + max(map(len, NAMESPACES)) + 36 + 2 + 36 + 1
TYPE_MAX_CHARS: Final = 100
# Far above every depth limit that can be set, and within a column of type integer.
DEPTH_MAX: Final = 1_000_000


class EventUnreadableError(WhenthenError):
    """Raised when a stream record is no event; it goes to the dead events, never to a retry."""

    def __init__(self, message: str) -> None:
        super().__init__("EVENT_UNREADABLE", message)


@dataclass(frozen=True, slots=True)
class AutomationContext:
    """Which run caused an event, how deep in its chain it was, and through which automations.

    A chain that comes from another workspace has a depth only.
    """

    automation_id: UUID | None
    run_id: UUID | None
    root_run_id: UUID | None
    depth: int
    chain: tuple[UUID, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the context as the JSON object that travels in events."""
        return {
            "automationId": _text_of(self.automation_id),
            "runId": _text_of(self.run_id),
            "rootRunId": _text_of(self.root_run_id),
            "depth": self.depth,
            "chain": [str(link) for link in self.chain],
        }


@dataclass(frozen=True, slots=True)
class Event:
    """One fact on the stream. `type` may be a host's own: then no trigger matches it.

    `outbox_id` is set when the engine wrote the event; `sanitized` when its text was unfit and
    has been replaced.
    """

    id: str
    type: str
    workspace_id: UUID
    occurred_at: datetime
    payload: Mapping[str, Any]
    automation_context: AutomationContext | None = None
    outbox_id: UUID | None = None
    sanitized: bool = False
    # The user who made it true; only the engine's own events name one.
    actor_id: UUID | None = None


def event_id(namespace: str, workspace_id: UUID, client_id: str) -> str:
    """Return the engine's id of an event, such as `evt:019…:order-17`."""
    if namespace not in NAMESPACES:
        raise ValueError("unknown namespace of event ids")
    return f"{namespace}:{workspace_id}:{client_id}"


def read_event(data: bytes, arrived_at: datetime, fallback_id: str) -> Event:
    """Return the event that the stream record `data` holds.

    A record with an `outboxId` was written by the engine: its namespaced id and its instant are
    kept. Anyone else's record gets the namespace `evt` and `arrived_at` as its instant; its own
    `occurredAt` is ignored. `fallback_id` (the stream's `shard:sequence`) serves where a client
    gave no id. Keys beyond the envelope's are ignored. The payload may be of any size.

    Raises:
        EventUnreadableError: not JSON, or a part of the envelope is missing or of a wrong kind.

    """
    try:
        raw = json_text.loads(data, max_depth=limits.EVENT_MAX_DEPTH)
    except json_text.JsonError as error:
        raise EventUnreadableError(f"not JSON: {error}") from error
    # What is unfit cannot stand in JSON text as it is, only as an escape.
    raw, sanitized = clean(raw) if b"\\" in data else (raw, False)
    envelope = _object(raw, "the record")
    workspace_id = _id(envelope, "workspaceId")
    outbox_id = None if envelope.get("outboxId") is None else _id(envelope, "outboxId")
    return Event(
        id=_engine_id(envelope, workspace_id, outbox_id, fallback_id),
        type=_text(envelope, "type", TYPE_MAX_CHARS),
        workspace_id=workspace_id,
        occurred_at=arrived_at if outbox_id is None else _instant(envelope, arrived_at),
        payload=_object(envelope.get("payload"), "payload"),
        automation_context=read_context(envelope.get("automationContext")),
        outbox_id=outbox_id,
        sanitized=sanitized,
        actor_id=_actor(envelope) if outbox_id else None,
    )


def read_context(value: Any) -> AutomationContext | None:
    """Return the context that the JSON `value` writes; null is none.

    One of another workspace names neither automation nor run: all three ids are null.

    Raises:
        EventUnreadableError: a part is missing or of a wrong kind.

    """
    if value is None:
        return None
    context = _object(value, "automationContext")
    depth, chain = context.get("depth"), context.get("chain")
    if not isinstance(depth, int) or isinstance(depth, bool) or not 0 <= depth <= DEPTH_MAX:
        raise EventUnreadableError("depth is not a small whole number")
    if not isinstance(chain, list):
        raise EventUnreadableError("chain is not a list")
    named = [context.get(key, "") for key in ("automationId", "runId", "rootRunId")]
    is_foreign = named == [None, None, None]
    return AutomationContext(
        automation_id=None if is_foreign else _id(context, "automationId"),
        run_id=None if is_foreign else _id(context, "runId"),
        root_run_id=None if is_foreign else _id(context, "rootRunId"),
        depth=depth,
        chain=tuple(_id({"chain": link}, "chain") for link in chain),
    )


def _actor(envelope: Mapping[str, Any]) -> UUID | None:
    return None if envelope.get("actorId") is None else _id(envelope, "actorId")


def _engine_id(
    envelope: Mapping[str, Any], workspace_id: UUID, outbox_id: UUID | None, fallback_id: str
) -> str:
    if envelope.get("id") is None:
        # A relayed event arrives at another place of the stream, but with the same outbox id.
        return event_id("evt", workspace_id, str(outbox_id or fallback_id))
    if outbox_id is None:
        return event_id("evt", workspace_id, _text(envelope, "id", CLIENT_ID_MAX_CHARS))
    given = _text(envelope, "id", ENGINE_ID_MAX_CHARS)
    namespace, _, rest = given.partition(":")
    owner, _, client_id = rest.partition(":")
    if namespace in NAMESPACES and owner == str(workspace_id) and client_id:
        return given
    return event_id("evt", workspace_id, given)


def _object(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise EventUnreadableError(f"{name} is not a JSON object")
    return value


def _text(values: Mapping[str, Any], key: str, max_chars: int) -> str:
    text = values.get(key)
    if not isinstance(text, str) or not 1 <= len(text) <= max_chars:
        raise EventUnreadableError(f"{key} is not a text of 1 to {max_chars} characters")
    return text


def _id(values: Mapping[str, Any], key: str) -> UUID:
    text = values.get(key)
    found = ids.parse_id(text) if isinstance(text, str) else None
    if found is None:
        raise EventUnreadableError(f"{key} is not an id")
    return found


def _text_of(id_: UUID | None) -> str | None:
    return None if id_ is None else str(id_)


def _instant(envelope: Mapping[str, Any], arrived_at: datetime) -> datetime:
    text = envelope.get("occurredAt")
    if text is None:
        return arrived_at
    found = instants.parse_instant(text) if isinstance(text, str) else None
    if found is None:
        raise EventUnreadableError("occurredAt is not an instant")
    return found
