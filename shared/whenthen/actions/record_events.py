"""The events that a step's writes make true, one level deeper than its run."""

from collections.abc import Mapping
from typing import Any

from whenthen.actions.requests import StepRequest
from whenthen.domain.kinds import EventType
from whenthen.store.outbox import OutboxEvent, new_event


def emitted(request: StepRequest, kind: EventType, payload: Mapping[str, Any]) -> OutboxEvent:
    """Return the event of `kind` that the step of `request` emits."""
    return new_event(
        workspace_id=request.workspace_id,
        type=kind.value,
        payload=payload,
        automation_context=request.child_context.to_json(),
    )
