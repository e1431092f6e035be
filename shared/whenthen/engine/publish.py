"""Puts committed events on the stream; what cannot be put waits in the outbox for the sweep."""

import logging
from collections.abc import Sequence

from whenthen.aws.event_stream import StreamRecord
from whenthen.domain import instants, json_text
from whenthen.engine.context import Context
from whenthen.store.outbox import OutboxEvent

_log = logging.getLogger("whenthen.publish")


def publish(context: Context, events: Sequence[OutboxEvent]) -> None:
    """Put `events`, whose transaction has committed, on the stream.

    Raises nothing: the event is in the outbox until a matcher has seen it, so a failed put costs
    time, not the event.
    """
    if not events:
        return
    failed = context.event_stream.put([as_record(event) for event in events])
    if failed:
        context.metrics.count("automations.publish_failed", len(failed))
        _log.error("events left to the sweep", extra={"events": len(failed)})


def as_record(event: OutboxEvent) -> StreamRecord:
    """Return the stream's form of `event`: the envelope, with its outbox id."""
    outbox_id = str(event.id)
    envelope = {
        "id": event.event_id,
        "type": event.type,
        "workspaceId": str(event.workspace_id),
        "occurredAt": instants.to_text(event.occurred_at) if event.occurred_at else None,
        "payload": event.payload,
        "automationContext": event.automation_context,
        "outboxId": outbox_id,
    }
    if event.actor_id is not None:
        envelope["actorId"] = str(event.actor_id)
    return StreamRecord(outbox_id, json_text.dumps(envelope).encode())
