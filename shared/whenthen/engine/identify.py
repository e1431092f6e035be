"""Who asks, and whether they may: the first statement of every request's transaction."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from whenthen.domain.credentials import ApiToken, Credential, OidcIdentity
from whenthen.domain.errors import ForbiddenError, NotFoundError, UnauthenticatedError
from whenthen.domain.rules.permissions import Access, Level, Needs, Subject, require
from whenthen.store import access as access_store
from whenthen.store import oidc_users
from whenthen.store.access import Standing

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from whenthen.domain.schemas.events import AutomationContext


@dataclass(frozen=True, slots=True)
class Caller:
    """A person in the workspace of the row that their request names (None: it names none)."""

    user_id: UUID
    workspace: UUID | None
    access: Access
    # The run that made this request, where it comes from a webhook of this deployment.
    cause: "AutomationContext | None" = None

    @property
    def automation_context(self) -> "dict[str, Any] | None":
        """What the events carry that this request makes true."""
        return None if self.cause is None else self.cause.to_json()

    @property
    def workspace_id(self) -> UUID:
        if self.workspace is None:
            raise LookupError("this route names no workspace")
        return self.workspace


def authenticate(
    connection: "Connection", credential: Credential, subject: Subject, subject_id: UUID | None
) -> Standing:
    """Return whose the credential is, and where they stand towards the row `subject_id`.

    A person whom the identity provider sends for the first time becomes a user.

    Raises:
        UnauthenticatedError: the token is unknown, expired or revoked.

    """
    found = _standing(connection, credential, subject, subject_id)
    if found is None and isinstance(credential, OidcIdentity):
        oidc_users.bind(connection, credential)
        found = _standing(connection, credential, subject, subject_id)
    if found is None:
        raise UnauthenticatedError("UNAUTHENTICATED", "the token is not valid")
    return found


def authorize(standing: Standing, needs: Needs) -> Caller:
    """Return the caller when where they stand covers `needs`.

    Raises:
        NotFoundError: the row is unknown, or the caller has no part in its workspace.
        ForbiddenError: the caller may see it but not do this.

    """
    if needs.subject is not Subject.CALLER:
        if standing.workspace_id is None:
            raise NotFoundError
        require(standing.access, needs, standing.database_id)
    return Caller(standing.user_id, standing.workspace_id, standing.access)


def require_on(caller: Caller, database_id: UUID | None, level: Level) -> None:
    """Return when the caller holds `level` for automations scoped to this database.

    Raises:
        ForbiddenError: neither their role nor a grant gives it.

    """
    if not caller.access.on(database_id, level):
        raise ForbiddenError("FORBIDDEN", f"this needs {level.name} on the database")


def _standing(
    connection: "Connection", credential: Credential, subject: Subject, subject_id: UUID | None
) -> Standing | None:
    if isinstance(credential, ApiToken):
        return access_store.of_token(connection, credential.digest, subject, subject_id)
    return access_store.of_identity(connection, credential, subject, subject_id)
