"""A new secret, and with it a new URL, for an automation's webhook."""

from typing import TYPE_CHECKING
from uuid import UUID

from whenthen.domain.errors import ConflictError
from whenthen.engine.edit_definition import locked
from whenthen.engine.identify import Caller
from whenthen.engine.webhook_secrets import WebhookSecret, make_secret
from whenthen.store import audit, incoming_webhooks

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


def regenerate(connection: "Connection", caller: Caller, automation_id: UUID) -> WebhookSecret:
    """Return the new secret, its only showing; the old URL is dead with the commit.

    The definition is what it was, so no version comes of it.

    Raises:
        ConflictError: `ARCHIVED`; `NO_WEBHOOK_TRIGGER`.
        ForbiddenError: as `locked`.

    """
    head = locked(connection, caller, automation_id)
    secret = make_secret()
    if not incoming_webhooks.replace_secret(connection, head.id, secret.digest):
        raise ConflictError("NO_WEBHOOK_TRIGGER", "the automation has no WEBHOOK trigger")
    entry = audit.by_user(
        head.workspace_id, caller.user_id, "webhook.regenerated", on=("automation", head.id)
    )
    audit.add(connection, [entry])
    return secret
