"""API tokens as their owner manages them."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID

from whenthen.domain.errors import NotFoundError
from whenthen.domain.schemas import problems
from whenthen.domain.schemas.data import CreateToken
from whenthen.domain.schemas.details import detail
from whenthen.engine.identify import Caller
from whenthen.store import api_tokens, audit, clock, tenants
from whenthen.store.api_tokens import TokenRow
from whenthen.store.paging import Page, PageRequest

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


@dataclass(frozen=True, slots=True)
class MadeToken:
    """A new token; its text is nowhere stored."""

    row: TokenRow
    text: str = field(repr=False)


def tokens_of(connection: "Connection", caller: Caller, request: PageRequest) -> Page[TokenRow]:
    """Return a page of the caller's tokens, revoked ones excepted."""
    return api_tokens.page(connection, caller.user_id, request)


def create(connection: "Connection", caller: Caller, body: CreateToken) -> MadeToken:
    """Make a token for the caller, with all that they may do, now and later.

    Raises:
        InvalidError: it would have expired already.

    """
    if body.expires_at is not None and body.expires_at <= clock.now(connection):
        raise problems.invalid([detail(["expiresAt"], "must lie in the future", "past")])
    token_id, token = tenants.create_token(connection, caller.user_id, body.name, body.expires_at)
    _note(connection, caller, "token.created", token_id, body.name)
    return MadeToken(api_tokens.get(connection, caller.user_id, token_id), token)


def revoke(connection: "Connection", caller: Caller, token_id: UUID) -> None:
    """Make one of the caller's tokens worthless, from the commit on.

    Raises:
        NotFoundError: it is none of theirs, or revoked already.

    """
    name = api_tokens.revoke(connection, caller.user_id, token_id)
    if name is None:
        raise NotFoundError
    _note(connection, caller, "token.revoked", token_id, name)


def _note(connection: "Connection", caller: Caller, action: str, token_id: UUID, name: str) -> None:
    # A token belongs to a person, but it opens workspaces: the admins of each are told.
    reached = api_tokens.workspaces_of(connection, caller.user_id)
    entries = [
        audit.by_user(one, caller.user_id, action, on=("token", token_id), data={"name": name})
        for one in reached
    ]
    audit.add(connection, entries)
