"""Workspaces, users, members and their API tokens."""

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.domain.kinds import Role
from whenthen.domain.rules.property_schema import normalise_schema
from whenthen.store import database_rows
from whenthen.store.new_id import new_id

TOKEN_PREFIX = "wt_"  # noqa: S105  # the public beginning of every token
TOKEN_BYTES = 32


@dataclass(frozen=True, slots=True)
class User:
    """A person with the workspaces they belong to: `[{"id", "name", "role"}]`, oldest first."""

    id: UUID
    email: str
    name: str | None
    workspaces: Sequence[Mapping[str, Any]]


def hash_of(token: str) -> bytes:
    """Return what is stored of a token: it has 256 random bits, so a plain digest suffices."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def create_workspace(connection: Connection, name: str) -> UUID:
    """Insert a workspace and return its id."""
    workspace_id = new_id()
    connection.execute(_INSERT_WORKSPACE, {"id": workspace_id, "name": name})
    return workspace_id


_INSERT_WORKSPACE = text("insert into workspaces (id, name) values (:id, :name)")


def create_user(connection: Connection, email: str, name: str | None) -> UUID:
    """Return the id of the user with this address (letter case aside), made if unknown."""
    found = connection.execute(_ENSURE_USER, {"id": new_id(), "email": email, "name": name})
    return UUID(str(found.scalar_one()))


_ENSURE_USER = text(
    """
    insert into users (id, email, name) values (:id, :email, cast(:name as text))
    on conflict (lower(email)) do update set email = users.email
    returning id
    """
)


def add_member(connection: Connection, workspace_id: UUID, user_id: UUID, role: Role) -> None:
    """Give a user a role in a workspace; a second call changes the role."""
    connection.execute(
        _SET_MEMBER, {"workspace_id": workspace_id, "user_id": user_id, "role": role.value}
    )


_SET_MEMBER = text(
    """
    insert into members (workspace_id, user_id, role) values (:workspace_id, :user_id, :role)
    on conflict (workspace_id, user_id) do update set role = excluded.role
    """
)


def create_token(
    connection: Connection, user_id: UUID, name: str, expires_at: datetime | None
) -> tuple[UUID, str]:
    """Return a new token's id and its text, which is nowhere stored."""
    token_id, token = new_id(), TOKEN_PREFIX + secrets.token_urlsafe(TOKEN_BYTES)
    connection.execute(
        _INSERT_TOKEN,
        {
            "id": token_id,
            "user_id": user_id,
            "name": name,
            "token_hash": hash_of(token),
            "expires_at": expires_at,
        },
    )
    return token_id, token


_INSERT_TOKEN = text(
    """
    insert into api_tokens (id, user_id, name, token_hash, expires_at)
    values (:id, :user_id, :name, :token_hash, cast(:expires_at as timestamptz))
    """
)


def create_database(
    connection: Connection, workspace_id: UUID, name: str, properties: Sequence[Mapping[str, Any]]
) -> UUID:
    """Insert a database with its properties (`[{"name", "type", "options"?}]`); return its id.

    Raises:
        InvalidError: the properties are not valid.

    """
    schema = normalise_schema(list(properties))
    return database_rows.insert(connection, workspace_id, name, schema).id


def user(connection: Connection, user_id: UUID) -> User:
    """Return the user of a valid credential, who therefore exists."""
    return User(**connection.execute(_USER, {"id": user_id}).mappings().one())


_USER = text(
    """
    select u.id, u.email, u.name, coalesce(
        jsonb_agg(jsonb_build_object('id', w.id, 'name', w.name, 'role', m.role)
                  order by m.created_at, w.id) filter (where w.id is not null), '[]') as workspaces
    from users u
    left join members m on m.user_id = u.id
    left join workspaces w on w.id = m.workspace_id
    where u.id = :id
    group by u.id
    """
)
