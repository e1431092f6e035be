"""API tokens as their owner sees them: never their text, of which only a digest is stored."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.store import paging
from whenthen.store.paging import Page, PageRequest


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A token that has not been revoked; an expired one is still shown."""

    id: UUID
    name: str
    expires_at: datetime | None
    last_used_at: datetime | None
    created_at: datetime


_TOKENS = """
    select t.id, t.name, t.expires_at, t.last_used_at, t.created_at
    from api_tokens t where t.user_id = :user_id and t.revoked_at is null
"""


def page(connection: Connection, user_id: UUID, request: PageRequest) -> Page[TokenRow]:
    """Return a page of a person's tokens."""
    values = {"user_id": user_id, **paging.parameters(request)}
    sql = text(f"{_TOKENS} {paging.rest_sql(request, 't')}")
    rows = [TokenRow(**row) for row in connection.execute(sql, values).mappings()]
    return paging.cut(rows, request)


def get(connection: Connection, user_id: UUID, token_id: UUID) -> TokenRow:
    """Return one of a person's tokens, which is known to be there."""
    values = {"user_id": user_id, "id": token_id}
    return TokenRow(**connection.execute(_GET, values).mappings().one())


_GET = text(f"{_TOKENS} and t.id = :id")


def revoke(connection: Connection, user_id: UUID, token_id: UUID) -> str | None:
    """Make a person's token worthless at once and return its name; None if it is none of theirs."""
    name = connection.execute(_REVOKE, {"user_id": user_id, "id": token_id}).scalar()
    return None if name is None else str(name)


_REVOKE = text(
    """
    update api_tokens set revoked_at = whenthen_now()
    where id = :id and user_id = :user_id and revoked_at is null
    returning name
    """
)


def workspaces_of(connection: Connection, user_id: UUID) -> list[UUID]:
    """Return the workspaces that a person's tokens reach: as a member, or by a grant."""
    return [row.id for row in connection.execute(_WORKSPACES, {"user_id": user_id})]


_WORKSPACES = text(
    """
    select workspace_id as id from members where user_id = :user_id
    union
    select d.workspace_id from database_grants g join databases d on d.id = g.database_id
    where g.user_id = :user_id
    """
)
