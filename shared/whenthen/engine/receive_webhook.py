"""An incoming webhook: checked, read, stored as an event, and only then acknowledged."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from whenthen.domain import limits
from whenthen.domain.errors import NotFoundError, TooLargeError
from whenthen.domain.kinds import EventType
from whenthen.domain.rules.incoming_webhook import (
    Content,
    delivery_id,
    read_content,
    token_key,
)
from whenthen.domain.rules.truncate import truncate_json
from whenthen.domain.rules.verify_webhook import verify_webhook
from whenthen.domain.rules.webhook_type import webhook_type
from whenthen.domain.schemas.events import event_id
from whenthen.engine.loop_headers import cause_of
from whenthen.engine.publish import publish
from whenthen.engine.webhook_secrets import WebhookSecret
from whenthen.store import incoming_webhooks
from whenthen.store.incoming_webhooks import WebhookTarget
from whenthen.store.new_id import new_id
from whenthen.store.outbox import OutboxEvent

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from whenthen.domain.schemas.events import AutomationContext
    from whenthen.engine.context import Context


@dataclass(frozen=True, slots=True)
class Delivery:
    """One request: header names in lower case, `body` the exact bytes received."""

    headers: Mapping[str, str]
    body: bytes


def receive(context: "Context", token: str, delivery: Delivery) -> str:
    """Return the id of the event that `delivery` has become, once it is durable.

    A repetition, by the sender's own id of the delivery, has the same event id and changes
    nothing, whatever its body.

    Raises:
        NotFoundError: the token is unknown, or its automation not ACTIVE.
        TooLargeError: more than 1 MB.
        WebhookSignatureError: as `verify_webhook`.
        BadRequestError, MediaTypeError: as `delivery_id` and `read_content`.

    """
    key = token_key(token)
    if key is None:
        raise NotFoundError

    def work(connection: "Connection") -> tuple[str, OutboxEvent | None]:
        target = incoming_webhooks.target_of(connection, WebhookSecret(key).digest)
        if target is None:
            raise NotFoundError
        cause = cause_of(connection, delivery.headers, target.workspace_id)
        event = _read(key, target, delivery, cause)
        return event.event_id, incoming_webhooks.add_once(connection, event, target.automation_id)

    id_, stored = context.database.transact(work)
    publish(context, [stored] if stored else [])
    return id_


def _read(
    key: bytes, target: WebhookTarget, delivery: Delivery, cause: "AutomationContext | None"
) -> OutboxEvent:
    if len(delivery.body) > limits.REQUEST_MAX_BYTES:
        raise TooLargeError("TOO_LARGE", f"a body has at most {limits.REQUEST_MAX_BYTES} bytes")
    verify_webhook(
        key,
        delivery.headers,
        delivery.body,
        now_s=target.now_s,
        required=target.require_signature,
    )
    given = delivery_id(delivery.headers)
    content = read_content(delivery.body, delivery.headers.get("content-type"))
    # A sender's ids are its own: another automation's senders may use the same.
    name = f"{target.automation_id}/{given or new_id()}"
    id_ = event_id("hook", target.workspace_id, name)
    return OutboxEvent(
        id=_outbox_id(id_),
        workspace_id=target.workspace_id,
        event_id=id_,
        type=EventType.WEBHOOK_RECEIVED,
        payload=_payload(target, delivery, content),
        automation_context=cause.to_json() if cause else None,
    )


def _payload(target: WebhookTarget, delivery: Delivery, content: Content) -> dict[str, Any]:
    sent = content.payload
    body, truncated = truncate_json(sent, limits.PAYLOAD_MAX_BYTES)
    payload: dict[str, Any] = {
        "automationId": str(target.automation_id),
        "eventType": webhook_type(
            delivery.headers.get("webhook-event"), sent.get("event"), sent.get("type")
        ),
        "body": body,
    }
    if truncated:
        payload["truncated"] = True
    if content.sanitized:
        payload["sanitized"] = True
    return payload


def _outbox_id(id_: str) -> UUID:
    """Return the id that every delivery of the event `id_` shares.

    Source: RFC 9562, section 5.8 (version 8: bits of one's own choice).
    """
    digest = int.from_bytes(hashlib.sha256(id_.encode()).digest()[:16])
    return UUID(int=digest & ~(0xF << 76) & ~(0b11 << 62) | 0x8 << 76 | 0b10 << 62)
