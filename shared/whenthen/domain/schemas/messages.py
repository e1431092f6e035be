"""Queue messages: a hint that a run may be due. The row decides, so a message holds its id only."""

from dataclasses import dataclass
from uuid import UUID

from whenthen.domain import json_text, limits
from whenthen.domain.ids import parse_id


@dataclass(frozen=True, slots=True)
class RunMessage:
    """A message of this version."""

    run_id: UUID
    v: int = limits.MESSAGE_VERSION


@dataclass(frozen=True, slots=True)
class NewerMessage:
    """A message of a later version: newer code will act on the row, this code leaves it alone."""

    v: int


@dataclass(frozen=True, slots=True)
class UnreadableMessage:
    """What is no run message at all; `reason` says why without repeating it."""

    reason: str


def encode(run_id: UUID) -> str:
    """Return the body of the message for `run_id`: `{"v":1,"runId":"019…"}`."""
    return json_text.dumps({"v": limits.MESSAGE_VERSION, "runId": str(run_id)})


def decode(body: str) -> RunMessage | NewerMessage | UnreadableMessage:
    """Return what the message body `body` says; keys beyond `v` and `runId` are ignored."""
    try:
        message = json_text.loads(body)
    except json_text.JsonError as error:
        return UnreadableMessage(f"not JSON: {error}")
    if not isinstance(message, dict):
        return UnreadableMessage("not a JSON object")
    version = message.get("v")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        return UnreadableMessage("no version")
    if version > limits.MESSAGE_VERSION:
        return NewerMessage(version)
    run_id = message.get("runId")
    found = parse_id(run_id) if isinstance(run_id, str) else None
    return UnreadableMessage("no run id") if found is None else RunMessage(found, version)
