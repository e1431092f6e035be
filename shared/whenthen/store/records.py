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
    rows = connection.execute(
        _INSERT,
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
    found = {row["id"]: RecordRow(**row) for row in rows.mappings()}
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
    rows = connection.execute(_LOCK, {"keys": _keys_json(keys)})
    found = [RecordRow(**row) for row in rows.mappings()]
    return {RecordKey(row.workspace_id, row.id): row for row in found}


_SELECT = """
    select r.id, r.workspace_id, r.database_id, r.properties, r.version, r.created_at,
        r.updated_at, d.properties as schema
    from records r
    join databases d on d.id = r.database_id
"""
_LOCK = prepared(
    f"""
    {_SELECT}
    join (select distinct id, workspace_id
          from jsonb_to_recordset(cast(:keys as jsonb)) as k(id uuid, workspace_id uuid)) k
        on k.id = r.id and k.workspace_id = r.workspace_id
    where d.archived_at is null
    order by r.id
    for update of r
    """  # noqa: S608  # only constants of this module
)


def update(connection: Connection, changes: Sequence[RecordChange]) -> dict[UUID, RecordRow]:
    """Write the whole new properties of records that the caller has locked; version + 1 each."""
    if not changes:
        return {}
    rows = connection.execute(
        _UPDATE,
        {
            "changes": json_text.dumps(
                [{"id": str(change.id), "properties": change.properties} for change in changes]
            )
        },
    )
    return {row["id"]: RecordRow(**row) for row in rows.mappings()}


_UPDATE = prepared(
    """
    update records r
    set properties = c.properties, version = r.version + 1, updated_at = whenthen_now()
    from jsonb_to_recordset(cast(:changes as jsonb)) as c(id uuid, properties jsonb), databases d
    where r.id = c.id and d.id = r.database_id
    returning r.id, r.workspace_id, r.database_id, r.properties, r.version, r.created_at,
        r.updated_at, d.properties as schema
    """
)


def delete(connection: Connection, keys: Sequence[RecordKey]) -> set[RecordKey]:
    """Delete the records of `keys`; return those that were there, in no archived database."""
    if not keys:
        return set()
    rows = connection.execute(_DELETE, {"keys": _keys_json(keys)})
    return {RecordKey(row.workspace_id, row.id) for row in rows}


# Locked in id order first: a bare DELETE takes its locks in the order of the plan.
_DELETE = prepared(
    """
    with gone as (
        select r.id
        from records r
        join (select distinct id, workspace_id
              from jsonb_to_recordset(cast(:keys as jsonb)) as k(id uuid, workspace_id uuid)) k
            on k.id = r.id and k.workspace_id = r.workspace_id
        join databases d on d.id = r.database_id
        where d.archived_at is null
        order by r.id
        for update of r
    )
    delete from records r using gone where r.id = gone.id returning r.id, r.workspace_id
    """
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
    return {row.id for row in connection.execute(_IDS_IN, values)}


_IDS_IN = prepared(
    """
    select id from records
    where id = any(cast(:ids as uuid[])) and database_id = any(cast(:databases as uuid[]))
    """
)


def _keys_json(keys: Sequence[RecordKey]) -> str:
    return json_text.dumps(
        [{"id": str(key.id), "workspace_id": str(key.workspace_id)} for key in keys]
    )
