"""Grants on databases as admins manage them."""

from typing import TYPE_CHECKING
from uuid import UUID

from whenthen.domain.errors import NotFoundError
from whenthen.domain.schemas.people import AddGrant
from whenthen.engine.identify import Caller
from whenthen.store import audit, grants, tenants
from whenthen.store.grants import GrantRow
from whenthen.store.paging import Page, PageRequest

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


def grants_on(connection: "Connection", database_id: UUID, request: PageRequest) -> Page[GrantRow]:
    """Return a page of the grants on a database."""
    return grants.page(connection, database_id, request)


def add(connection: "Connection", caller: Caller, database_id: UUID, body: AddGrant) -> GrantRow:
    """Give a person a level on a database; one who has never been here becomes a user."""
    user_id = tenants.create_user(connection, body.email, None)
    granted = grants.put(connection, database_id, user_id, body.level)
    data = {"databaseId": str(database_id), "level": body.level}
    _note(connection, caller, "grant.added", user_id, data)
    return granted


def remove(connection: "Connection", caller: Caller, database_id: UUID, user_id: UUID) -> None:
    """Take a person's grant away.

    Raises:
        NotFoundError: they have none.

    """
    if not grants.remove(connection, database_id, user_id):
        raise NotFoundError
    _note(connection, caller, "grant.removed", user_id, {"databaseId": str(database_id)})


def _note(
    connection: "Connection", caller: Caller, action: str, user_id: UUID, data: dict[str, str]
) -> None:
    entry = audit.by_user(
        caller.workspace_id, caller.user_id, action, on=("user", user_id), data=data
    )
    audit.add(connection, [entry])
