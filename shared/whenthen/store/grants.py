"""Grants: a person's level on the automations that are scoped to one database."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.store import paging
from whenthen.store.paging import Page, PageRequest


@dataclass(frozen=True, slots=True)
class GrantRow:
    """A grant; `id` is the user's, `level` VIEW or EDIT."""

    id: UUID
    email: str | None
    name: str | None
    level: str
    created_at: datetime


_GRANTS = """
    select u.id, u.email, u.name, g.level, g.created_at
    from database_grants g join users u on u.id = g.user_id
    where g.database_id = :database_id
"""


def page(connection: Connection, database_id: UUID, request: PageRequest) -> Page[GrantRow]:
    """Return a page of the grants on a database."""
    values = {"database_id": database_id, **paging.parameters(request)}
    rest = paging.rest_sql(request, "p")
    sql = f"select * from ({_GRANTS}) p where true {rest}"  # noqa: S608
    rows = [GrantRow(**row) for row in connection.execute(text(sql), values).mappings()]
    return paging.cut(rows, request)


def put(connection: Connection, database_id: UUID, user_id: UUID, level: str) -> GrantRow:
    """Give a user a level on a database; a second call changes it."""
    values = {"database_id": database_id, "user_id": user_id, "level": level}
    connection.execute(_PUT, values)
    found = connection.execute(_GET, {"database_id": database_id, "user_id": user_id})
    return GrantRow(**found.mappings().one())


_PUT = text(
    """
    insert into database_grants (database_id, user_id, level)
    values (:database_id, :user_id, :level)
    on conflict (database_id, user_id) do update set level = excluded.level
    """
)
_GET = text(f"{_GRANTS} and g.user_id = :user_id")


def remove(connection: Connection, database_id: UUID, user_id: UUID) -> bool:
    """Take a user's grant away; return whether there was one."""
    values = {"database_id": database_id, "user_id": user_id}
    return connection.execute(_REMOVE, values).rowcount > 0


_REMOVE = text(
    "delete from database_grants where database_id = :database_id and user_id = :user_id"
)
