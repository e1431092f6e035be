"""Lists that people page through: records of a database, pages, and a person's notifications."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.store import paging
from whenthen.store.pages import PageRow
from whenthen.store.paging import Page, PageRequest
from whenthen.store.records import RecordRow


@dataclass(frozen=True, slots=True)
class NotificationRow:
    id: UUID
    workspace_id: UUID
    title: str
    body: str | None
    run_id: UUID | None
    read_at: datetime | None
    created_at: datetime


def records(connection: Connection, database_id: UUID, request: PageRequest) -> Page[RecordRow]:
    """Return a page of a database's records."""
    values = {"database_id": database_id, **paging.parameters(request)}
    sql = f"{_RECORDS} {paging.rest_sql(request, 'r')}"
    rows = [RecordRow(**row) for row in connection.execute(text(sql), values).mappings()]
    return paging.cut(rows, request)


_RECORDS = """
    select r.id, r.workspace_id, r.database_id, r.properties, r.version, r.created_at,
        r.updated_at, d.properties as schema
    from records r join databases d on d.id = r.database_id
    where r.database_id = :database_id
"""


def pages(connection: Connection, workspace_id: UUID, request: PageRequest) -> Page[PageRow]:
    """Return a page of a workspace's pages."""
    values = {"workspace_id": workspace_id, **paging.parameters(request)}
    sql = f"{_PAGES} {paging.rest_sql(request, 'p')}"
    rows = [PageRow(**row) for row in connection.execute(text(sql), values).mappings()]
    return paging.cut(rows, request)


_PAGES = """
    select p.id, p.workspace_id, p.title, p.parent_id, p.content, p.created_at
    from pages p where p.workspace_id = :workspace_id
"""


def notifications(
    connection: Connection, user_id: UUID, request: PageRequest
) -> Page[NotificationRow]:
    """Return a page of what a person was told in the workspaces that they still belong to."""
    values: dict[str, Any] = {"user_id": user_id, **paging.parameters(request)}
    sql = f"{_NOTIFICATIONS} {paging.rest_sql(request, 'n')}"
    rows = [NotificationRow(**row) for row in connection.execute(text(sql), values).mappings()]
    return paging.cut(rows, request)


_NOTIFICATION_COLUMNS = "n.id, n.workspace_id, n.title, n.body, n.run_id, n.read_at, n.created_at"
_NOTIFICATIONS = f"""
    select {_NOTIFICATION_COLUMNS}
    from notifications n
    join members m on m.workspace_id = n.workspace_id and m.user_id = n.user_id
    where n.user_id = :user_id
"""  # noqa: S608  # only constants of this module


def mark_read(
    connection: Connection, user_id: UUID, notification_id: UUID
) -> NotificationRow | None:
    """Return a person's own notification, now read; the first reading keeps its instant."""
    values = {"id": notification_id, "user_id": user_id}
    row = connection.execute(_MARK_READ, values).mappings().one_or_none()
    return NotificationRow(**row) if row else None


_MARK_READ = text(
    f"""
    update notifications n set read_at = coalesce(n.read_at, whenthen_now())
    from members m
    where n.id = :id and n.user_id = :user_id
        and m.workspace_id = n.workspace_id and m.user_id = n.user_id
    returning {_NOTIFICATION_COLUMNS}
    """  # noqa: S608  # only constants of this module
)
