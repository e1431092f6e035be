"""Secrets of workspaces: names and ciphertexts; the key that opens them is not in the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.store import paging
from whenthen.store.new_id import new_id
from whenthen.store.paging import Page, PageRequest


@dataclass(frozen=True, slots=True)
class SecretRow:
    """A secret without its value: all that is ever shown of it."""

    id: UUID
    name: str
    created_at: datetime
    updated_at: datetime


def page(connection: Connection, workspace_id: UUID, request: PageRequest) -> Page[SecretRow]:
    """Return a page of a workspace's secrets."""
    values = {"workspace_id": workspace_id, **paging.parameters(request)}
    sql = text(f"{_SECRETS} {paging.rest_sql(request, 's')}")
    rows = [SecretRow(**row) for row in connection.execute(sql, values).mappings()]
    return paging.cut(rows, request)


_SECRETS = """
    select s.id, s.name, s.created_at, s.updated_at
    from secrets s where s.workspace_id = :workspace_id
"""


def put(
    connection: Connection, workspace_id: UUID, name: str, ciphertexts: Sequence[bytes]
) -> None:
    """Set a secret; one of this name is overwritten and keeps its place in the list."""
    values = {
        "id": new_id(),
        "workspace_id": workspace_id,
        "name": name,
        "ciphertexts": list(ciphertexts),
    }
    connection.execute(_PUT, values)


_PUT = text(
    """
    insert into secrets (id, workspace_id, name, ciphertexts)
    values (:id, :workspace_id, :name, cast(:ciphertexts as bytea[]))
    on conflict (workspace_id, name) do update
    set ciphertexts = excluded.ciphertexts, updated_at = whenthen_now()
    """
)


def delete(connection: Connection, workspace_id: UUID, name: str) -> bool:
    """Delete a secret; return whether there was one."""
    values = {"workspace_id": workspace_id, "name": name}
    return connection.execute(_DELETE, values).rowcount > 0


_DELETE = text("delete from secrets where workspace_id = :workspace_id and name = :name")


def ciphertexts(
    connection: Connection, workspace_id: UUID, names: Sequence[str]
) -> dict[str, list[bytes]]:
    """Return name → ciphertexts of those secrets of the workspace that there are."""
    values = {"workspace_id": workspace_id, "names": list(names)}
    rows = connection.execute(_CIPHERTEXTS, values).mappings()
    return {row["name"]: [bytes(part) for part in row["ciphertexts"]] for row in rows}


_CIPHERTEXTS = text(
    """
    select name, ciphertexts from secrets
    where workspace_id = :workspace_id and name = any(cast(:names as text[]))
    """
)
