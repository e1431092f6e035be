"""From the triggers that a person sends to those that are stored: ids, secrets, scopes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from whenthen.domain.kinds import TriggerType
from whenthen.domain.rules.matching import trigger_scope
from whenthen.domain.rules.stable_ids import trigger_ids
from whenthen.domain.schemas.automations import stored_triggers
from whenthen.domain.schemas.triggers import Trigger, WebhookConfig
from whenthen.engine.webhook_secrets import WebhookSecret, given_secret, make_secret
from whenthen.store.automation_triggers import TriggerRow
from whenthen.store.automations import AutomationHead
from whenthen.store.new_id import new_id


@dataclass(frozen=True, slots=True)
class PlannedTriggers:
    """`stored` is `[{"id", "type", "config"}]`; a webhook's secret is given, or was made now."""

    stored: list[dict[str, Any]]
    given: WebhookSecret | None = None
    made: WebhookSecret | None = None

    @property
    def new_digest(self) -> bytes | None:
        secret = self.given or self.made
        return secret.digest if secret else None


def plan_triggers(
    triggers: Sequence[Trigger], before: Sequence[Mapping[str, Any]]
) -> PlannedTriggers:
    """Return `triggers` as the next version stores them, after the version `before`.

    A WEBHOOK trigger without a secret keeps the one it had; the first one gets a secret made.
    """
    known = [(one["type"], UUID(one["id"])) for one in before]
    ids = trigger_ids([one.type for one in triggers], known, new_id)
    stored = stored_triggers(triggers, ids)
    config = next((t.config for t in triggers if isinstance(t.config, WebhookConfig)), None)
    if config is None:
        return PlannedTriggers(stored)
    if config.secret is not None:
        return PlannedTriggers(stored, given=given_secret(config.secret))
    had_one = any(type_ == TriggerType.WEBHOOK for type_, _ in known)
    return PlannedTriggers(stored, made=None if had_one else make_secret())


def trigger_rows(
    head: AutomationHead, stored: Sequence[Mapping[str, Any]], new_digest: bytes | None
) -> list[TriggerRow]:
    """Return the rows by which matching finds `stored`, the triggers of the automation `head`."""
    return [_row(head, one, new_digest) for one in stored]


def _row(head: AutomationHead, one: Mapping[str, Any], new_digest: bytes | None) -> TriggerRow:
    type_, config = TriggerType(one["type"]), one["config"]
    scope_id = trigger_scope(
        type_,
        config,
        automation_id=head.id,
        workspace_id=head.workspace_id,
        database_id=head.database_id,
    )
    return TriggerRow(
        id=UUID(one["id"]),
        type=type_.value,
        scope_id=scope_id,
        config=config,
        secret_hash=new_digest if type_ is TriggerType.WEBHOOK else None,
        require_signature=bool(config.get("requireSignature", False)),
    )
