"""Secrets of a workspace as admins manage them: set, listed by name, deleted; never shown."""

from typing import TYPE_CHECKING
from uuid import UUID

from whenthen.domain.errors import InvalidError, NotFoundError
from whenthen.domain.schemas.details import detail
from whenthen.domain.schemas.secrets import is_secret_name
from whenthen.engine.identify import Caller
from whenthen.store import audit, secrets
from whenthen.store.paging import Page, PageRequest
from whenthen.store.secrets import SecretRow

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from whenthen.aws.secrets_key import SecretsKey


def secrets_of(connection: "Connection", caller: Caller, request: PageRequest) -> Page[SecretRow]:
    """Return a page of the workspace's secrets, without their values."""
    return secrets.page(connection, caller.workspace_id, request)


def put(connection: "Connection", caller: Caller, key: "SecretsKey", name: str, value: str) -> None:
    """Set a secret to `value`; runs use it from the commit on.

    Raises:
        InvalidError: `SECRET_INVALID`, it cannot be named so.

    """
    if not is_secret_name(name):
        message = "must be 1 to 64 of A-Z, 0-9 and _, a letter first"
        raise InvalidError(
            "SECRET_INVALID", "the name is not valid", [detail(["name"], message, "name")]
        )
    # Encrypted within the transaction, so only for those who may; it is rare and its wait short.
    ciphertexts = key.encrypt(value, encryption_context(caller.workspace_id, name))
    secrets.put(connection, caller.workspace_id, name, ciphertexts)
    _note(connection, caller, "secret.set", name)


def delete(connection: "Connection", caller: Caller, name: str) -> None:
    """Delete a secret; runs that name it fail from the commit on.

    Raises:
        NotFoundError: there is none of this name.

    """
    if not secrets.delete(connection, caller.workspace_id, name):
        raise NotFoundError
    _note(connection, caller, "secret.deleted", name)


def encryption_context(workspace_id: UUID, name: str) -> dict[str, str]:
    """Return what a secret's ciphertext is bound to."""
    return {"workspaceId": str(workspace_id), "name": name}


def _note(connection: "Connection", caller: Caller, action: str, name: str) -> None:
    entry = audit.by_user(caller.workspace_id, caller.user_id, action, on=("secret", name))
    audit.add(connection, [entry])
