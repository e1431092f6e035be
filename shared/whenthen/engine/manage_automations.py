"""Automations as people manage them: list, make, look at, rename, re-scope, activate, archive."""

from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

from whenthen.domain.errors import ForbiddenError
from whenthen.domain.kinds import AutomationStatus
from whenthen.domain.rules.automation_status import transition
from whenthen.domain.rules.permissions import Level
from whenthen.domain.rules.stable_ids import action_ids
from whenthen.domain.schemas.automations import (
    CreateAutomation,
    PatchAutomation,
    StatusBody,
    stored_actions,
)
from whenthen.engine.align_schedules import Aligned, align
from whenthen.engine.check_definition import check_definition
from whenthen.engine.edit_definition import (
    NOT_ALIGNED,
    Edited,
    detail_of,
    locked,
    note_change,
    require_version,
    save_version,
)
from whenthen.engine.identify import Caller, require_on
from whenthen.engine.plan_triggers import plan_triggers, trigger_rows
from whenthen.store import automation_triggers, automations
from whenthen.store.automations import (
    AutomationDetail,
    AutomationHead,
    AutomationSummary,
    VersionBody,
)
from whenthen.store.new_id import new_id
from whenthen.store.paging import Page, PageRequest

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


def automations_of(
    connection: "Connection",
    caller: Caller,
    status: AutomationStatus | None,
    request: PageRequest,
) -> Page[AutomationSummary]:
    """Return a page of the workspace's automations that the caller may see."""
    only = caller.access.only_databases(Level.VIEW)
    return automations.page(connection, caller.workspace_id, status, only, request)


def automation(connection: "Connection", automation_id: UUID) -> AutomationDetail:
    """Return an automation that the caller may see."""
    return detail_of(connection, automation_id)


def create(connection: "Connection", caller: Caller, body: CreateAutomation) -> Edited:
    """Make a DRAFT of version 1.

    Raises:
        ForbiddenError: a grant does not reach what the definition names.
        InvalidError: as `check_definition`; an action carries an id; `SECRET_INVALID`.

    """
    require_on(caller, body.database_id, Level.EDIT)
    check_definition(
        connection,
        caller,
        database_id=body.database_id,
        triggers=body.triggers,
        actions=body.actions,
    )
    head = _new_head(caller, body)
    planned = plan_triggers(body.triggers, before=())
    ids = action_ids([one.id for one in body.actions], before=(), fresh=new_id)
    version = VersionBody(planned.stored, body.condition, stored_actions(body.actions, ids))
    automations.insert(connection, head, version, caller.user_id)
    if planned.stored:
        rows = trigger_rows(head, planned.stored, planned.new_digest)
        automation_triggers.replace(connection, head.id, head.workspace_id, rows)
    note_change(connection, caller, head, "automation.created", {"name": head.name})
    return Edited(detail_of(connection, head.id), planned.made)


def patch(
    connection: "Connection",
    caller: Caller,
    automation_id: UUID,
    body: PatchAutomation,
    if_match: int | None,
) -> Edited:
    """Change name, description or database; what is absent stays, and no change no version.

    Raises:
        ConflictError: `ARCHIVED`.
        PreconditionError: the present version is not `if_match`.
        ForbiddenError, InvalidError: the database, as `check_definition`.

    """
    head = locked(connection, caller, automation_id, if_match)
    changes = {name: getattr(body, name) for name in body.model_fields_set}
    after = replace(head, **changes)
    aligned = NOT_ALIGNED
    if after != head:
        _check_scope(connection, caller, head, after)
        before = automations.version_body(connection, head.id, head.version)
        rearmed = after.database_id != head.database_id
        aligned = save_version(connection, caller, after, before, rearmed=rearmed)
    return Edited(detail_of(connection, head.id), aligned=aligned)


def set_status(
    connection: "Connection",
    caller: Caller,
    automation_id: UUID,
    body: StatusBody,
    if_match: int | None = None,
) -> Edited:
    """Take the status that the status machine allows; no version comes of it.

    Schedules are there while the automation is ACTIVE, and begin anew each time.

    Raises:
        ConflictError: `INVALID_TRANSITION`, `ARCHIVED`.
        PreconditionError: the present version is not `if_match`.

    """
    head = locked(connection, caller, automation_id, if_match)
    transition(head.status, body.status)
    aligned = _take_status(connection, caller, head, body.status)
    return Edited(detail_of(connection, head.id), aligned=aligned)


def archive(
    connection: "Connection", caller: Caller, automation_id: UUID, if_match: int | None = None
) -> Aligned:
    """Make an automation ARCHIVED; a second call changes nothing.

    Raises:
        PreconditionError: the present version is not `if_match`.

    """
    head = automations.lock(connection, automation_id)
    if head is None or head.status is AutomationStatus.ARCHIVED:
        return NOT_ALIGNED
    require_on(caller, head.database_id, Level.EDIT)
    require_version(head, if_match)
    return _take_status(connection, caller, head, AutomationStatus.ARCHIVED)


def _take_status(
    connection: "Connection", caller: Caller, head: AutomationHead, status: AutomationStatus
) -> Aligned:
    may_have_schedules = automations.set_status(connection, head.id, status)
    archived = status is AutomationStatus.ARCHIVED
    action = "automation.archived" if archived else "automation.status_changed"
    note_change(connection, caller, head, action, {"from": head.status.value, "to": status.value})
    activated = status is AutomationStatus.ACTIVE
    return align(connection, [head.id], activated=activated) if may_have_schedules else NOT_ALIGNED


def _new_head(caller: Caller, body: CreateAutomation) -> AutomationHead:
    return AutomationHead(
        id=new_id(),
        workspace_id=caller.workspace_id,
        name=body.name,
        description=body.description,
        database_id=body.database_id,
        status=AutomationStatus.DRAFT,
        version=1,
    )


def _check_scope(
    connection: "Connection", caller: Caller, before: AutomationHead, after: AutomationHead
) -> None:
    if after.database_id == before.database_id:
        return
    if after.database_id is None:
        # Without a database it would be out of every grant's reach, the caller's own included.
        if caller.access.only_databases(Level.EDIT) is not None:
            raise ForbiddenError("FORBIDDEN", "a grant does not reach the whole workspace")
        return
    check_definition(connection, caller, database_id=after.database_id)
