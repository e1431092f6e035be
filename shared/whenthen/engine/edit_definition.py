"""Replaces the parts of a definition, each change as a new version."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from whenthen.domain.errors import NotFoundError, PreconditionError
from whenthen.domain.kinds import AutomationStatus, TriggerType
from whenthen.domain.rules.automation_status import refuse_archived
from whenthen.domain.rules.permissions import Level
from whenthen.domain.rules.same_value import same_value
from whenthen.domain.rules.stable_ids import action_ids
from whenthen.domain.schemas.automations import (
    ActionsBody,
    ConditionBody,
    TriggersBody,
    stored_actions,
)
from whenthen.engine import align_schedules
from whenthen.engine.align_schedules import Aligned, align
from whenthen.engine.check_definition import check_definition
from whenthen.engine.identify import Caller, require_on
from whenthen.engine.plan_triggers import PlannedTriggers, plan_triggers, trigger_rows
from whenthen.store import audit, automation_triggers, automations
from whenthen.store.automations import AutomationDetail, AutomationHead, VersionBody
from whenthen.store.new_id import new_id

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from whenthen.engine.context import Context
    from whenthen.engine.webhook_secrets import WebhookSecret


NOT_ALIGNED = Aligned()


@dataclass(frozen=True, slots=True)
class Edited:
    """An automation after a write, and the webhook secret that was made for it, if one was.

    `aligned` is what became of its schedules: `follow_up` once the write is committed.
    """

    automation: AutomationDetail
    made: "WebhookSecret | None" = None
    aligned: Aligned = NOT_ALIGNED


def follow_up(context: "Context", edited: Edited) -> None:
    """Do what follows from a write once it is committed; raises nothing."""
    align_schedules.follow_up(context, edited.automation.id, edited.aligned)


def put_triggers(
    connection: "Connection",
    caller: Caller,
    automation_id: UUID,
    body: TriggersBody,
    if_match: int | None = None,
) -> Edited:
    """Replace all triggers; the same ones again change nothing.

    Raises:
        ConflictError: `ARCHIVED`.
        PreconditionError: the present version is not `if_match`.
        InvalidError, ForbiddenError: as `check_definition`.

    """
    head = locked(connection, caller, automation_id, if_match)
    check_definition(connection, caller, triggers=body.triggers)
    before = automations.version_body(connection, head.id, head.version)
    planned = plan_triggers(body.triggers, before.triggers)
    aligned = NOT_ALIGNED
    if not same_value(planned.stored, before.triggers) or _is_new_secret(connection, head, planned):
        after = replace(before, triggers=planned.stored)
        aligned = save_version(
            connection, caller, head, after, rearmed=True, new_digest=planned.new_digest
        )
    return Edited(detail_of(connection, head.id), planned.made, aligned)


def put_condition(
    connection: "Connection",
    caller: Caller,
    automation_id: UUID,
    body: ConditionBody,
    if_match: int | None = None,
) -> Edited:
    """Replace the condition; null means always. The same one again changes nothing.

    Raises:
        ConflictError: `ARCHIVED`.
        PreconditionError: the present version is not `if_match`.

    """
    head = locked(connection, caller, automation_id, if_match)
    before = automations.version_body(connection, head.id, head.version)
    aligned = NOT_ALIGNED
    if not same_value(body.condition, before.condition):
        aligned = save_version(connection, caller, head, replace(before, condition=body.condition))
    return Edited(detail_of(connection, head.id), aligned=aligned)


def put_actions(
    connection: "Connection",
    caller: Caller,
    automation_id: UUID,
    body: ActionsBody,
    if_match: int | None = None,
) -> Edited:
    """Replace all actions; the same ones with their ids change nothing.

    Raises:
        ConflictError: `ARCHIVED`.
        PreconditionError: the present version is not `if_match`.
        InvalidError: an action's id is unknown or repeated, or as `check_definition`.
        ForbiddenError: as `check_definition`.

    """
    head = locked(connection, caller, automation_id, if_match)
    check_definition(connection, caller, actions=body.actions)
    before = automations.version_body(connection, head.id, head.version)
    known = [UUID(one["id"]) for one in before.actions]
    ids = action_ids([one.id for one in body.actions], known, new_id)
    stored = stored_actions(body.actions, ids)
    aligned = NOT_ALIGNED
    if not same_value(stored, before.actions):
        aligned = save_version(connection, caller, head, replace(before, actions=stored))
    return Edited(detail_of(connection, head.id), aligned=aligned)


def locked(
    connection: "Connection", caller: Caller, automation_id: UUID, if_match: int | None = None
) -> AutomationHead:
    """Return an automation's row, locked, that the caller may still write to.

    Asked again under the lock: the automation may have moved to a database of other grants.

    Raises:
        ForbiddenError: its present database is not the caller's.
        ConflictError: `ARCHIVED`.
        PreconditionError: `VERSION_MISMATCH`, the present version is not `if_match`.

    """
    head = automations.lock(connection, automation_id)
    if head is None:
        raise NotFoundError
    require_on(caller, head.database_id, Level.EDIT)
    refuse_archived(head.status)
    require_version(head, if_match)
    return head


def require_version(head: AutomationHead, if_match: int | None) -> None:
    """Return only if `if_match` is None or the present version.

    Raises:
        PreconditionError: `VERSION_MISMATCH`.

    """
    if if_match is not None and if_match != head.version:
        details = {"version": head.version}
        raise PreconditionError("VERSION_MISMATCH", "the automation has changed", details)


def save_version(  # noqa: PLR0913  # what changes, and how much must follow from it
    connection: "Connection",
    caller: Caller,
    head: AutomationHead,
    body: VersionBody,
    *,
    rearmed: bool = False,
    new_digest: bytes | None = None,
    restored: int | None = None,
) -> Aligned:
    """Write the next version of a locked automation; `rearmed` when triggers or database changed.

    Its schedules follow in the same transaction. `restored` is the version that this one repeats,
    for the audit log.

    Raises:
        InvalidError: `SECRET_INVALID`, the webhook secret is another automation's.

    """
    has_schedules = automations.write_version(
        connection, head, body, caller.user_id, rearmed=rearmed
    )
    if rearmed:
        rows = trigger_rows(head, body.triggers, new_digest)
        automation_triggers.replace(connection, head.id, head.workspace_id, rows)
    data = {"version": head.version + 1}
    if restored is not None:
        data["restored"] = restored
    note_change(connection, caller, head, "automation.updated", data)
    wants_schedules = head.status is AutomationStatus.ACTIVE and any(
        one["type"] == TriggerType.SCHEDULE for one in body.triggers
    )
    return align(connection, [head.id]) if has_schedules or wants_schedules else NOT_ALIGNED


def note_change(
    connection: "Connection",
    caller: Caller,
    head: AutomationHead,
    action: str,
    data: Mapping[str, Any],
) -> None:
    """Write into the audit log what the caller did to an automation."""
    on = ("automation", head.id)
    entry = audit.by_user(head.workspace_id, caller.user_id, action, on=on, data=data)
    audit.add(connection, [entry])


def detail_of(connection: "Connection", automation_id: UUID) -> AutomationDetail:
    """Return an automation that the caller may see, as it is now.

    Raises:
        NotFoundError: there is none.

    """
    found = automations.detail(connection, automation_id)
    if found is None:
        raise NotFoundError
    return found


def _is_new_secret(
    connection: "Connection", head: AutomationHead, planned: PlannedTriggers
) -> bool:
    if planned.given is None:
        return planned.made is not None
    return planned.given.digest != automation_triggers.secret_hash(connection, head.id)
