"""The databases of a workspace: named lists of typed properties that records follow."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.domain import json_text
from whenthen.store import paging
from whenthen.store.new_id import new_id
from whenthen.store.paging import Page, PageRequest


@dataclass(frozen=True, slots=True)
class DatabaseRow:
    """One database; `properties` is `[{"name", "type", "options"?}]`."""

    id: UUID
    workspace_id: UUID
    name: str
    properties: Sequence[Mapping[str, Any]]
    archived_at: datetime | None
    created_at: datetime
    updated_at: datetime


_COLUMNS = "d.id, d.workspace_id, d.name, d.properties, d.archived_at, d.created_at, d.updated_at"


def insert(
    connection: Connection, workspace_id: UUID, name: str, properties: Sequence[Mapping[str, Any]]
) -> DatabaseRow:
    """Insert a database and return it."""
    row = connection.execute(
        _INSERT,
        {
            "id": new_id(),
            "workspace_id": workspace_id,
            "name": name,
            "properties": json_text.dumps(properties),
        },
    )
    return DatabaseRow(**row.mappings().one())


_INSERT = text(
    f"""
    insert into databases as d (id, workspace_id, name, properties)
    values (:id, :workspace_id, :name, cast(:properties as jsonb))
    returning {_COLUMNS}
    """  # noqa: S608  # only constants of this module
)


def get(connection: Connection, database_id: UUID) -> DatabaseRow | None:
    """Return one database, whatever its workspace: the caller checks that against its own."""
    row = connection.execute(_GET, {"id": database_id}).mappings().one_or_none()
    return DatabaseRow(**row) if row else None


_GET = text(f"select {_COLUMNS} from databases d where d.id = cast(:id as uuid)")  # noqa: S608


def lock(connection: Connection, database_id: UUID) -> DatabaseRow | None:
    """Return one database, locked until commit against other changes of it."""
    row = connection.execute(_LOCK, {"id": database_id}).mappings().one_or_none()
    return DatabaseRow(**row) if row else None


_LOCK = text(f"{_GET.text} for no key update")


def update(
    connection: Connection,
    database_id: UUID,
    name: str,
    properties: Sequence[Mapping[str, Any]],
    *,
    archived: bool,
) -> DatabaseRow:
    """Write a database's whole new state and return it; the first archiving keeps its instant."""
    row = connection.execute(
        _UPDATE,
        {
            "id": database_id,
            "name": name,
            "properties": json_text.dumps(properties),
            "archived": archived,
        },
    )
    return DatabaseRow(**row.mappings().one())


_UPDATE = text(
    f"""
    update databases d
    set name = :name, properties = cast(:properties as jsonb), updated_at = whenthen_now(),
        archived_at = case when cast(:archived as boolean)
            then coalesce(d.archived_at, whenthen_now()) end
    where d.id = cast(:id as uuid)
    returning {_COLUMNS}
    """  # noqa: S608  # only constants of this module
)


def page(connection: Connection, workspace_id: UUID, request: PageRequest) -> Page[DatabaseRow]:
    """Return a page of a workspace's databases, archived ones included."""
    sql = (
        f"select {_COLUMNS} from databases d where d.workspace_id = :workspace_id"  # noqa: S608
        f" {paging.rest_sql(request, 'd')}"
    )
    values = {"workspace_id": workspace_id, **paging.parameters(request)}
    rows = [DatabaseRow(**row) for row in connection.execute(text(sql), values).mappings()]
    return paging.cut(rows, request)


def active_ids(connection: Connection, workspace_id: UUID, ids: Iterable[UUID]) -> set[UUID]:
    """Return those of `ids` that are databases of this workspace and not archived."""
    wanted = list(set(ids))
    if not wanted:
        return set()
    rows = connection.execute(_ACTIVE, {"workspace_id": workspace_id, "ids": wanted})
    return {row.id for row in rows}


_ACTIVE = text(
    """
    select id from databases
    where id = any(cast(:ids as uuid[])) and workspace_id = :workspace_id and archived_at is null
    """
)
