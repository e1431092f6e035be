"""Which user a person from the identity provider is, when they come for the first time."""

from typing import TYPE_CHECKING

from sqlalchemy import text

from whenthen.store import tenants
from whenthen.store.new_id import new_id

if TYPE_CHECKING:
    from uuid import UUID

    from sqlalchemy.engine import Connection

    from whenthen.domain.credentials import OidcIdentity


def bind(connection: "Connection", identity: "OidcIdentity") -> None:
    """Bind the identity to the user of its verified address, else to a new one without any.

    Afterwards issuer and subject find the user. An address that another subject of the same issuer
    is bound to stays theirs: companies give a leaver's address to somebody else. A binding to a
    former issuer, which nobody can sign for any more, gives way.
    """
    if identity.email is not None:
        user_id = tenants.create_user(connection, identity.email, identity.name)
        if _bind_known(connection, identity, user_id):
            return
    connection.execute(
        _ADD,
        {
            "id": new_id(),
            "name": identity.name,
            "issuer": identity.issuer,
            "subject": identity.subject,
        },
    )


def _bind_known(connection: "Connection", identity: "OidcIdentity", user_id: "UUID") -> bool:
    values = {"id": user_id, "issuer": identity.issuer, "subject": identity.subject}
    return connection.execute(_BIND, values).rowcount > 0


# True as well when a request at the same time has bound it to the same identity.
_BIND = text(
    """
    update users set oidc_issuer = :issuer, oidc_subject = :subject
    where id = :id
        and (oidc_subject is null or oidc_issuer <> :issuer or oidc_subject = :subject)
    """
)
_ADD = text(
    """
    insert into users (id, name, oidc_issuer, oidc_subject)
    values (:id, cast(:name as text), :issuer, :subject)
    on conflict (oidc_issuer, oidc_subject) do nothing
    """
)
