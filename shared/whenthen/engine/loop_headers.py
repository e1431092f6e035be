"""Keeps chains known over HTTP: signs requests to this deployment itself, reads them back."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

from whenthen.actions.as_text import as_text
from whenthen.domain.kinds import ActionType
from whenthen.domain.rules.loop_header import NAME, leads_home, read_signed_context, sign_context
from whenthen.domain.rules.outgoing_url import read_outgoing_url
from whenthen.store import loop_keys

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from whenthen.actions.requests import StepRequest
    from whenthen.domain.schemas.events import AutomationContext
    from whenthen.engine.context import Context


def with_own_headers(
    context: "Context", action_type: ActionType, request: "StepRequest"
) -> "StepRequest":
    """Return `request`; one that calls this deployment itself carries its run's context.

    Raises:
        sqlalchemy.exc.SQLAlchemyError: the key is out of reach; the step may try again.

    """
    if action_type is not ActionType.SEND_WEBHOOK:
        return request
    settings = request.settings
    url = read_outgoing_url(as_text(request.config["url"]), settings.webhook_allow_hosts)
    if url is None or not leads_home(url, settings.public_url):
        return request
    found = context.database.transact(loop_keys.read)
    if not found.keys:
        return request
    value = sign_context(
        found.keys[0], request.workspace_id, request.child_context, int(found.now_s)
    )
    return replace(request, own_headers={NAME: value})


def cause_of(
    connection: "Connection", headers: Mapping[str, str], workspace_id: UUID | None
) -> "AutomationContext | None":
    """Return what the runs' context says that this request comes of; None: of no run.

    `headers` have lower-case names. Without the header nothing is asked of the database.
    """
    value = headers.get(NAME)
    if value is None:
        return None
    found = loop_keys.read(connection)
    return read_signed_context(found.keys, value, workspace_id, found.now_s)
