"""Who asks, and whether they may: the first statement of every request's transaction."""

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from whenthen.domain.errors import ForbiddenError, NotFoundError, UnauthenticatedError
from whenthen.domain.rules.permissions import Access, Level, Needs, Subject, require
from whenthen.store import access as access_store
from whenthen.store.tenants import hash_of

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


@dataclass(frozen=True, slots=True)
class Caller:
    """A person in the workspace of the row that their request names (None: it names none)."""

    user_id: UUID
    workspace: UUID | None
    access: Access

    @property
    def workspace_id(self) -> UUID:
        if self.workspace is None:
            raise LookupError("this route names no workspace")
        return self.workspace


def identify(connection: "Connection", token: str, needs: Needs, subject_id: UUID | None) -> Caller:
    """Return the caller when the token is good and covers `needs` for the row `subject_id`.

    Raises:
        UnauthenticatedError: the token is unknown, expired or revoked.
        NotFoundError: the row is unknown, or the caller has no part in its workspace.
        ForbiddenError: the caller may see it but not do this.

    """
    found = access_store.of_token(connection, hash_of(token), needs.subject, subject_id)
    if found is None:
        raise UnauthenticatedError("UNAUTHENTICATED", "the token is not valid")
    if needs.subject is not Subject.CALLER:
        if found.workspace_id is None:
            raise NotFoundError
        require(found.access, needs, found.database_id)
    return Caller(found.user_id, found.workspace_id, found.access)


def require_on(caller: Caller, database_id: UUID | None, level: Level) -> None:
    """Return when the caller holds `level` for automations scoped to this database.

    Raises:
        ForbiddenError: neither their role nor a grant gives it.

    """
    if not caller.access.on(database_id, level):
        raise ForbiddenError("FORBIDDEN", f"this needs {level.name} on the database")
