"""The audit log: who did what to which object of a workspace."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.domain import json_text
from whenthen.store.new_id import new_id


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One fact; `actor_type` is USER or SYSTEM, whose id is then such as `automation:019…`."""

    workspace_id: UUID
    action: str
    actor_type: str
    actor_id: str
    resource_type: str
    resource_id: str
    data: Mapping[str, Any] = field(default_factory=dict)


def by_user(
    workspace_id: UUID,
    user_id: UUID,
    action: str,
    *,
    on: tuple[str, UUID | str],
    data: Mapping[str, Any] | None = None,
) -> AuditEntry:
    """Return the entry of what a person did; `on` is the resource: `("secret", "API_KEY")`."""
    kind, resource_id = on
    return AuditEntry(
        workspace_id, action, "USER", str(user_id), kind, str(resource_id), data or {}
    )


def add(connection: Connection, entries: Sequence[AuditEntry]) -> None:
    """Write `entries`, in the transaction that makes them true."""
    if not entries:
        return
    rows = [
        {
            "id": str(new_id()),
            "workspace_id": str(entry.workspace_id),
            "action": entry.action,
            "actor_type": entry.actor_type,
            "actor_id": entry.actor_id,
            "resource_type": entry.resource_type,
            "resource_id": entry.resource_id,
            "data": entry.data,
        }
        for entry in entries
    ]
    connection.execute(_ADD, {"rows": json_text.dumps(rows)})


_ADD = text(
    """
    insert into audit_log (id, workspace_id, action, actor_type, actor_id, resource_type,
        resource_id, data)
    select id, workspace_id, action, actor_type, actor_id, resource_type, resource_id, data
    from jsonb_to_recordset(cast(:rows as jsonb)) as e(id uuid, workspace_id uuid, action text,
        actor_type text, actor_id text, resource_type text, resource_id text, data jsonb)
    """
)
