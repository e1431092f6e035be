"""The property schemas of databases, for whoever writes records into them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.domain import json_text


@dataclass(frozen=True, slots=True)
class DatabaseKey:
    """A database as its run may name it: an id counts only inside its own workspace."""

    workspace_id: UUID
    id: UUID


def schemas(
    connection: Connection, keys: Sequence[DatabaseKey]
) -> dict[DatabaseKey, Sequence[Mapping[str, Any]]]:
    """Return the schema (`[{"name", "type", "options"?}]`) of each unarchived one of `keys`."""
    if not keys:
        return {}
    wanted = [{"id": str(key.id), "workspace_id": str(key.workspace_id)} for key in set(keys)]
    rows = connection.execute(_SCHEMAS, {"keys": json_text.dumps(wanted)})
    return {DatabaseKey(row.workspace_id, row.id): row.properties for row in rows}


_SCHEMAS = text(
    """
    select d.workspace_id, d.id, d.properties
    from jsonb_to_recordset(cast(:keys as jsonb)) as k(id uuid, workspace_id uuid)
    join databases d using (id, workspace_id)
    where d.archived_at is null
    """
)
