"""Records: the rows of the host's databases. Writes are set-based; each names its workspace."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.domain import json_text
from whenthen.store.prepared import prepared


@dataclass(frozen=True, slots=True)
class RecordRow:
    """One record with the schema of its database (`[{"name", "type", "options"?}]`)."""

    id: UUID
    workspace_id: UUID
    database_id: UUID
    properties: Mapping[str, Any]
    version: int
    created_at: datetime
    updated_at: datetime
    schema: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class RecordKey:
    """A record as its run may name it: an id counts only inside its own workspace."""

    workspace_id: UUID
    id: UUID


@dataclass(frozen=True, slots=True)
class NewRecord:
    id: UUID
    workspace_id: UUID
    database_id: UUID
    properties: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RecordChange:
    id: UUID
    properties: Mapping[str, Any]


def insert(connection: Connection, records: Sequence[NewRecord]) -> list[RecordRow]:
    """Insert `records` (their values checked before) and return them as stored, in order."""
    rows = _INSERT.rows(
        connection,
        {
            "records": json_text.dumps(
                [
                    {
                        "id": str(record.id),
                        "workspace_id": str(record.workspace_id),
                        "database_id": str(record.database_id),
                        "properties": record.properties,
                    }
                    for record in records
                ]
            )
        },
    )
    found = {row["id"]: RecordRow(**row) for row in rows}
    return [found[record.id] for record in records]


# The schema comes back beside the rows, so that no caller reads its database twice.
_INSERT = prepared(
    """
    with added as (
        insert into records (id, workspace_id, database_id, properties)
        select id, workspace_id, database_id, properties
        from jsonb_to_recordset(cast(:records as jsonb))
            as r(id uuid, workspace_id uuid, database_id uuid, properties jsonb)
        returning *
    )
    select added.id, added.workspace_id, added.database_id, added.properties, added.version,
        added.created_at, added.updated_at, d.properties as schema
    from added join databases d on d.id = added.database_id
    """
)


def lock(connection: Connection, keys: Sequence[RecordKey]) -> dict[RecordKey, RecordRow]:
    """Return the records of `keys` that may be written, locked until commit, in id order.

    Those of an archived database are not among them.
    """
    if not keys:
        return {}
    rows = _LOCK.rows(connection, _keys(keys))
    found = [RecordRow(**row) for row in rows]
    return {RecordKey(row.workspace_id, row.id): row for row in found}


_SELECT = """
    select r.id, r.workspace_id, r.database_id, r.properties, r.version, r.created_at,
        r.updated_at, d.properties as schema
    from records r
    join databases d on d.id = r.database_id
"""
# The ids once more as a condition of their own, in every statement by key: the planner takes any
# list for some hundred rows, and joined to it alone it reads a whole table of some thousand
# (measured: 100 microseconds a record).
_KEYED = """
    join unnest(cast(:ids as uuid[]), cast(:workspaces as uuid[])) as k(id, workspace_id)
        on k.id = r.id and k.workspace_id = r.workspace_id
"""
_LOCK = prepared(
    f"""
    {_SELECT}
    {_KEYED}
    where r.id = any(cast(:ids as uuid[])) and d.archived_at is null
    order by r.id
    for update of r
    """
)


def update(connection: Connection, changes: Sequence[RecordChange]) -> dict[UUID, RecordRow]:
    """Write the whole new properties of records that the caller has locked; version + 1 each."""
    if not changes:
        return {}
    rows = _UPDATE.rows(
        connection,
        {
            "ids": [change.id for change in changes],
            "changes": json_text.dumps(
                [{"id": str(change.id), "properties": change.properties} for change in changes]
            ),
        },
    )
    return {row["id"]: RecordRow(**row) for row in rows}


_UPDATE = prepared(
    """
    update records r
    set properties = c.properties, version = r.version + 1, updated_at = whenthen_now()
    from jsonb_to_recordset(cast(:changes as jsonb)) as c(id uuid, properties jsonb), databases d
    where r.id = any(cast(:ids as uuid[])) and r.id = c.id and d.id = r.database_id
    returning r.id, r.workspace_id, r.database_id, r.properties, r.version, r.created_at,
        r.updated_at, d.properties as schema
    """
)


def delete(connection: Connection, keys: Sequence[RecordKey]) -> set[RecordKey]:
    """Delete the records of `keys`; return those that were there, in no archived database."""
    if not keys:
        return set()
    rows = _DELETE.rows(connection, _keys(keys))
    return {RecordKey(row["workspace_id"], row["id"]) for row in rows}


# Locked in id order first: a bare DELETE takes its locks in the order of the plan.
_DELETE = prepared(
    f"""
    with gone as (
        select r.id
        from records r
        {_KEYED}
        join databases d on d.id = r.database_id
        where r.id = any(cast(:ids as uuid[])) and d.archived_at is null
        order by r.id
        for update of r
    )
    delete from records r using gone where r.id = gone.id returning r.id, r.workspace_id
    """  # noqa: S608  # only constants of this module
)


def get(connection: Connection, record_id: UUID) -> RecordRow | None:
    """Return one record, whatever its workspace: the caller checks that against its own."""
    row = connection.execute(_GET, {"id": record_id}).mappings().one_or_none()
    return RecordRow(**row) if row else None


_GET = text(f"{_SELECT} where r.id = cast(:id as uuid)")


def ids_in(
    connection: Connection, database_ids: Iterable[UUID], record_ids: Iterable[UUID]
) -> set[UUID]:
    """Return those of `record_ids` that are records of these databases."""
    values = {"databases": list(database_ids), "ids": list(record_ids)}
    return {row["id"] for row in _IDS_IN.rows(connection, values)}


_IDS_IN = prepared(
    """
    select id from records
    where id = any(cast(:ids as uuid[])) and database_id = any(cast(:databases as uuid[]))
    """
)


def _keys(keys: Sequence[RecordKey]) -> dict[str, list[UUID]]:
    distinct = dict.fromkeys(keys)
    return {
        "ids": [key.id for key in distinct],
        "workspaces": [key.workspace_id for key in distinct],
    }
