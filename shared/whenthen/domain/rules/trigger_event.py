"""What a run knows of the event that started it: as stored, and as conditions and actions see it.

Stored, once per run::

    {"type": "record.created", "payload": {"recordId": "019…", "databaseId": "019…"},
     "workspaceId": "019…", "automationContext": null}

and `"truncated": true` or `"sanitized": true` beside it when the payload was cut or cleaned.
Seen: the same with the payload's keys at the top as well, under the engine's own.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from whenthen.domain import instants
from whenthen.domain.ids import parse_id
from whenthen.domain.kinds import MANUAL_RUN, SCHEDULE_RUN, EventType
from whenthen.domain.rules.webhook_type import webhook_type
from whenthen.domain.schemas.events import AutomationContext, Event


def as_run_sees(event: Event) -> Event:
    """Return `event` with the type and the payload that its run is to show.

    Of a webhook these are what was sent, out of the engine's own wrapping::

        {"automationId": "019…", "eventType": "order.paid", "body": {…}}
    """
    if event.type != EventType.WEBHOOK_RECEIVED:
        return event
    body = event.payload.get("body")
    return replace(
        event,
        type=webhook_type(event.payload.get("eventType")),
        payload=body if isinstance(body, dict) else event.payload,
        sanitized=event.sanitized or event.payload.get("sanitized") is True,
    )


def actor_of(event: Event) -> UUID | None:
    """Return the user behind `event`, None where there is none.

    Of the engine's own events that is whoever made the request; a host says it itself, as `actorId`
    of the payload. What strangers send to a webhook names nobody.
    """
    if not event.id.startswith("evt:"):
        return event.actor_id
    named = event.payload.get("actorId")
    return parse_id(named) if isinstance(named, str) else None


def stored_input(event: Event, *, truncated: bool = False) -> dict[str, Any]:
    """Return what the row of a run started by `event` keeps of it."""
    return _stored(
        event.type,
        event.payload,
        event.workspace_id,
        event.automation_context,
        truncated=truncated,
        sanitized=event.sanitized,
    )


def stored_manual_input(
    payload: Mapping[str, Any],
    workspace_id: UUID,
    cause: AutomationContext | None = None,
    *,
    sanitized: bool = False,
) -> dict[str, Any]:
    """Return what the row of a run started by a person keeps of the input that came with it.

    Nothing in the input becomes a context: a person cannot lower a depth or fake a self-trigger.
    `cause`: the run that made the request, signed for by this deployment.
    """
    return _stored(MANUAL_RUN, payload, workspace_id, cause, truncated=False, sanitized=sanitized)


def stored_schedule_input(
    workspace_id: UUID,
    fired_at: datetime,
    *,
    cron: str | None,
    run_every_s: int | None,
    time_zone: str,
) -> dict[str, Any]:
    """Return what the row of a scheduled run keeps; `fired_at` is the instant it was planned for.

    The clock's own words stand beside the payload, which is empty.
    """
    stored = _stored(SCHEDULE_RUN, {}, workspace_id, None, truncated=False, sanitized=False)
    clock = {"cron": cron, "runEvery": run_every_s, "timeZone": time_zone}
    return stored | {"firedAt": instants.to_text(fired_at)} | clock


def build_trigger_event(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the flattened event of a stored input.

    Whatever the engine stored beside the payload wins over a payload key of the same name, so no
    webhook and no input can pose as another type, workspace or context.
    """
    return {**stored["payload"], **stored}


def _stored(  # noqa: PLR0913 - one parameter for each key
    type_: str,
    payload: Mapping[str, Any],
    workspace_id: UUID,
    context: AutomationContext | None,
    *,
    truncated: bool,
    sanitized: bool,
) -> dict[str, Any]:
    stored: dict[str, Any] = {
        "type": type_,
        "payload": dict(payload),
        "workspaceId": str(workspace_id),
        "automationContext": None if context is None else context.to_json(),
    }
    if truncated:
        stored["truncated"] = True
    if sanitized:
        stored["sanitized"] = True
    return stored
