"""Workspaces as people make them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from whenthen.domain.kinds import Role
from whenthen.engine.identify import Caller
from whenthen.store import audit, tenants

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


@dataclass(frozen=True, slots=True)
class Workspace:
    id: UUID
    name: str
    role: Role


def create(connection: "Connection", caller: Caller, name: str) -> Workspace:
    """Make a workspace whose OWNER is the caller."""
    workspace_id = tenants.create_workspace(connection, name)
    tenants.add_member(connection, workspace_id, caller.user_id, Role.OWNER)
    entry = audit.by_user(
        workspace_id,
        caller.user_id,
        "member.added",
        on=("user", caller.user_id),
        data={"role": Role.OWNER.value},
    )
    audit.add(connection, [entry])
    return Workspace(workspace_id, name, Role.OWNER)
