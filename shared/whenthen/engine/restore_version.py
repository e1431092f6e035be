"""Brings an earlier definition back, as the newest version."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from whenthen.domain.errors import NotFoundError
from whenthen.domain.rules.permissions import Level
from whenthen.domain.rules.same_value import same_value
from whenthen.domain.schemas import problems
from whenthen.domain.schemas.automations import CreateAutomation
from whenthen.engine.check_definition import check_definition
from whenthen.engine.edit_definition import (
    NOT_ALIGNED,
    Edited,
    detail_of,
    locked,
    save_version,
)
from whenthen.engine.identify import Caller, require_on
from whenthen.engine.plan_triggers import plan_triggers
from whenthen.store import automations, version_reads
from whenthen.store.automations import AutomationHead, VersionBody
from whenthen.store.version_reads import VersionSnapshot

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


def restore(connection: "Connection", caller: Caller, automation_id: UUID, number: int) -> Edited:
    """Make the definition of version `number` the present one; if it is already, nothing changes.

    It is judged as if it were sent anew: what was legal then may not be so now. Its actions come
    back with their ids; of its triggers the n-th of a type keeps the id of the present n-th. The
    description belongs to no version and stays. A webhook that had gone gets a new secret.

    Raises:
        NotFoundError: there is no version of that number.
        ConflictError: `ARCHIVED`.
        InvalidError, ForbiddenError: as `check_definition`.

    """
    head = locked(connection, caller, automation_id)
    old = version_reads.snapshot(connection, head.id, number)
    if old is None:
        raise NotFoundError
    sent = problems.read(CreateAutomation, _as_sent(old))
    _check(connection, caller, head, sent)
    before = automations.version_body(connection, head.id, head.version)
    planned = plan_triggers(sent.triggers, before.triggers)
    after = replace(head, name=old.name, database_id=old.database_id)
    body = VersionBody(planned.stored, old.condition, old.actions)
    aligned = NOT_ALIGNED
    if after != head or not same_value(_parts(body), _parts(before)):
        same_triggers = same_value(body.triggers, before.triggers)
        aligned = save_version(
            connection,
            caller,
            after,
            body,
            rearmed=after.database_id != head.database_id or not same_triggers,
            new_digest=planned.new_digest,
            restored=number,
        )
    return Edited(detail_of(connection, head.id), planned.made, aligned)


def _check(
    connection: "Connection", caller: Caller, head: AutomationHead, sent: CreateAutomation
) -> None:
    moves = sent.database_id != head.database_id
    if moves:
        require_on(caller, sent.database_id, Level.EDIT)
    check_definition(
        connection,
        caller,
        database_id=sent.database_id if moves else None,
        triggers=sent.triggers,
        actions=sent.actions,
    )


def _as_sent(old: VersionSnapshot) -> dict[str, Any]:
    """Return a snapshot as the body that would make it; triggers are sent without their ids."""
    return {
        "name": old.name,
        "databaseId": None if old.database_id is None else str(old.database_id),
        "triggers": [{"type": one["type"], "config": one["config"]} for one in old.triggers],
        "condition": old.condition,
        "actions": list(old.actions),
    }


def _parts(body: VersionBody) -> list[Any]:
    return [body.triggers, body.condition, body.actions]
