"""Members as admins manage them."""

from typing import TYPE_CHECKING
from uuid import UUID

from whenthen.domain.errors import ConflictError, ForbiddenError, NotFoundError
from whenthen.domain.kinds import Role
from whenthen.domain.rules.permissions import Level
from whenthen.domain.schemas.people import AddMember
from whenthen.engine.identify import Caller
from whenthen.store import audit, members, tenants
from whenthen.store.members import MemberRow
from whenthen.store.paging import Page, PageRequest

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


def members_of(connection: "Connection", caller: Caller, request: PageRequest) -> Page[MemberRow]:
    """Return a page of the workspace's members."""
    return members.page(connection, caller.workspace_id, request)


def add(connection: "Connection", caller: Caller, body: AddMember) -> MemberRow:
    """Give a person a role; one who has never been here becomes a user, a member gets it anew.

    Raises:
        ForbiddenError: it concerns an OWNER, and the caller is none.
        ConflictError: `LAST_OWNER`.

    """
    members.lock(connection, caller.workspace_id)
    user_id = tenants.create_user(connection, body.email, None)
    before = members.get(connection, caller.workspace_id, user_id)
    if before is None or before.role is not body.role:
        _check_owners(connection, caller, before.role if before else None, body.role)
        tenants.add_member(connection, caller.workspace_id, user_id, body.role)
        changed = {"from": before.role.value} if before else {}
        _note(connection, caller, "member.added", user_id, {"role": body.role.value, **changed})
    return _member(connection, caller, user_id)


def remove(connection: "Connection", caller: Caller, user_id: UUID) -> None:
    """End a person's membership, and their grants on databases of the workspace.

    Raises:
        NotFoundError: they are no member.
        ForbiddenError: they are an OWNER, and the caller is none.
        ConflictError: `LAST_OWNER`.

    """
    members.lock(connection, caller.workspace_id)
    before = _member(connection, caller, user_id)
    _check_owners(connection, caller, before.role, None)
    members.remove(connection, caller.workspace_id, user_id)
    _note(connection, caller, "member.removed", user_id, {"role": before.role.value})


def _check_owners(
    connection: "Connection", caller: Caller, before: Role | None, after: Role | None
) -> None:
    if Role.OWNER not in {before, after}:
        return
    if not caller.access.by_role(Level.OWNER):
        raise ForbiddenError("FORBIDDEN", "this needs OWNER")
    if before is Role.OWNER and members.owners(connection, caller.workspace_id) == 1:
        raise ConflictError("LAST_OWNER", "a workspace keeps one OWNER")


def _member(connection: "Connection", caller: Caller, user_id: UUID) -> MemberRow:
    found = members.get(connection, caller.workspace_id, user_id)
    if found is None:
        raise NotFoundError
    return found


def _note(
    connection: "Connection", caller: Caller, action: str, user_id: UUID, data: dict[str, str]
) -> None:
    entry = audit.by_user(
        caller.workspace_id, caller.user_id, action, on=("user", user_id), data=data
    )
    audit.add(connection, [entry])
