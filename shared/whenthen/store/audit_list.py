"""The audit log as admins read it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.store import paging
from whenthen.store.paging import Page, PageRequest


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One entry; `actor_type` is USER or SYSTEM."""

    id: UUID
    action: str
    actor_type: str
    actor_id: str
    resource_type: str
    resource_id: str
    data: Mapping[str, Any]
    created_at: datetime


def page(connection: Connection, workspace_id: UUID, request: PageRequest) -> Page[AuditRow]:
    """Return a page of a workspace's audit log."""
    values = {"workspace_id": workspace_id, **paging.parameters(request)}
    sql = text(f"{_ENTRIES} {paging.rest_sql(request, 'e')}")
    rows = [AuditRow(**row) for row in connection.execute(sql, values).mappings()]
    return paging.cut(rows, request)


_ENTRIES = """
    select e.id, e.action, e.actor_type, e.actor_id, e.resource_type, e.resource_id, e.data,
        e.created_at
    from audit_log e where e.workspace_id = :workspace_id
"""
