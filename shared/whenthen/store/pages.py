"""Pages of a workspace."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.domain import json_text


@dataclass(frozen=True, slots=True)
class NewPage:
    id: UUID
    workspace_id: UUID
    title: str
    parent_id: UUID | None
    content: str | None


@dataclass(frozen=True, slots=True)
class PageRow:
    id: UUID
    workspace_id: UUID
    title: str
    parent_id: UUID | None
    content: str | None
    created_at: datetime


def insert(connection: Connection, pages: Sequence[NewPage]) -> dict[UUID, PageRow]:
    """Insert those of `pages` whose parent is a page of the same workspace, or that have none.

    A page missing from the answer named a parent that does not exist for its workspace.
    """
    if not pages:
        return {}
    rows = connection.execute(
        _INSERT,
        {
            "pages": json_text.dumps(
                [
                    {
                        "id": str(page.id),
                        "workspace_id": str(page.workspace_id),
                        "title": page.title,
                        "parent_id": str(page.parent_id) if page.parent_id else None,
                        "content": page.content,
                    }
                    for page in pages
                ]
            )
        },
    )
    return {row["id"]: PageRow(**row) for row in rows.mappings()}


_INSERT = text(
    """
    insert into pages (id, workspace_id, title, parent_id, content)
    select n.id, n.workspace_id, n.title, n.parent_id, n.content
    from jsonb_to_recordset(cast(:pages as jsonb))
        as n(id uuid, workspace_id uuid, title text, parent_id uuid, content text)
    where n.parent_id is null
        or exists (select 1 from pages p
                   where p.id = n.parent_id and p.workspace_id = n.workspace_id)
    returning id, workspace_id, title, parent_id, content, created_at
    """
)


def get(connection: Connection, page_id: UUID) -> PageRow | None:
    """Return one page, whatever its workspace: the caller checks that against its own."""
    row = connection.execute(_GET, {"id": page_id}).mappings().one_or_none()
    return PageRow(**row) if row else None


_GET = text(
    """
    select id, workspace_id, title, parent_id, content, created_at
    from pages where id = cast(:id as uuid)
    """
)
