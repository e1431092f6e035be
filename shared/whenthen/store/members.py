"""Members of workspaces: who they are, and what changes among them."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.domain.kinds import Role
from whenthen.store import paging
from whenthen.store.paging import Page, PageRequest


@dataclass(frozen=True, slots=True)
class MemberRow:
    """A member; `id` is the user's."""

    id: UUID
    email: str | None
    name: str | None
    role: Role
    created_at: datetime


_COLUMNS = "u.id, u.email, u.name, m.role, m.created_at"


def page(connection: Connection, workspace_id: UUID, request: PageRequest) -> Page[MemberRow]:
    """Return a page of a workspace's members."""
    values = {"workspace_id": workspace_id, **paging.parameters(request)}
    # The order's columns are the member's own, under the names that pages go by.
    rest = paging.rest_sql(request, "p")
    sql = f"select * from ({_MEMBERS}) p where true {rest}"  # noqa: S608
    rows = [_row(**row) for row in connection.execute(text(sql), values).mappings()]
    return paging.cut(rows, request)


_MEMBERS = f"""
    select {_COLUMNS} from members m join users u on u.id = m.user_id
    where m.workspace_id = :workspace_id
"""  # noqa: S608  # only constants of this module


def lock(connection: Connection, workspace_id: UUID) -> None:
    """Wait until nobody else changes this workspace's members, and keep them from it."""
    connection.execute(_LOCK, {"workspace_id": workspace_id})


_LOCK = text("select 1 from workspaces where id = :workspace_id for no key update")


def get(connection: Connection, workspace_id: UUID, user_id: UUID) -> MemberRow | None:
    """Return one member."""
    values = {"workspace_id": workspace_id, "user_id": user_id}
    row = connection.execute(_GET, values).mappings().one_or_none()
    return _row(**row) if row else None


_GET = text(f"{_MEMBERS} and m.user_id = :user_id")


def owners(connection: Connection, workspace_id: UUID) -> int:
    """Return how many OWNERs a workspace has; it is locked, so that the number holds."""
    return int(connection.execute(_OWNERS, {"workspace_id": workspace_id}).scalar_one())


_OWNERS = text("select count(*) from members where workspace_id = :workspace_id and role = 'OWNER'")


def remove(connection: Connection, workspace_id: UUID, user_id: UUID) -> None:
    """Take a user's membership away, and with it their grants on databases of the workspace."""
    connection.execute(_REMOVE, {"workspace_id": workspace_id, "user_id": user_id})


_REMOVE = text(
    """
    with grants as (
        delete from database_grants g using databases d
        where g.user_id = :user_id and d.id = g.database_id and d.workspace_id = :workspace_id
    )
    delete from members where workspace_id = :workspace_id and user_id = :user_id
    """
)


def _row(*, role: str, **columns: object) -> MemberRow:
    return MemberRow(role=Role(role), **columns)  # type: ignore[arg-type]  # as the SQL names them
