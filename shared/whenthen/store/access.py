"""Who a credential belongs to, and what that person holds where a request points to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.domain.credentials import OidcIdentity
from whenthen.domain.kinds import Role
from whenthen.domain.rules.permissions import Access, Level, Subject


@dataclass(frozen=True, slots=True)
class Standing:
    """A person, and the row a request names: its workspace (None: no such row) and database."""

    user_id: UUID
    workspace_id: UUID | None
    database_id: UUID | None
    access: Access


def of_token(
    connection: Connection, token_hash: bytes, subject: Subject, subject_id: UUID | None
) -> Standing | None:
    """Return where the token's owner stands towards the subject; None for no good token.

    One statement for credential, row, membership and grants. It also notes the token's use, at
    most once in five minutes and never waiting for another request that does the same.
    """
    return _standing(connection, _OF_TOKEN, {"token_hash": token_hash}, subject, subject_id)


def of_identity(
    connection: Connection, identity: OidcIdentity, subject: Subject, subject_id: UUID | None
) -> Standing | None:
    """Return where the person of a JWT stands towards the subject; None if not known yet."""
    values = {"issuer": identity.issuer, "oidc_subject": identity.subject}
    return _standing(connection, _OF_IDENTITY, values, subject, subject_id)


def _standing(
    connection: Connection,
    statements: Mapping[Subject, Any],
    credential: Mapping[str, Any],
    subject: Subject,
    subject_id: UUID | None,
) -> Standing | None:
    values = dict(credential)
    if subject is not Subject.CALLER:
        values["subject_id"] = subject_id
    found = connection.execute(statements[subject], values).one_or_none()
    if found is None:
        return None
    grants = {UUID(key): Level[level] for key, level in (found.grants or {}).items()}
    access = Access(Role(found.role) if found.role else None, grants)
    return Standing(found.user_id, found.workspace_id, found.database_id, access)


_CREDENTIAL_BY_HASH = """
    with credential as (
        select id, user_id from api_tokens
        where token_hash = :token_hash and revoked_at is null
            and (expires_at is null or expires_at > whenthen_now())
    ),
    used as (
        update api_tokens set last_used_at = whenthen_now()
        where id = (
            select t.id from api_tokens t join credential c on c.id = t.id
            where t.last_used_at is null
                or t.last_used_at < whenthen_now() - interval '5 minutes'
            for no key update of t skip locked)
    )
"""
_CREDENTIAL_BY_SUBJECT = """
    with credential as (
        select id as user_id from users
        where oidc_issuer = :issuer and oidc_subject = :oidc_subject
    )
"""

_SUBJECT_SQL = {
    Subject.CALLER: "select cast(null as uuid) as workspace_id, cast(null as uuid) as database_id",
    Subject.WORKSPACE: "select id as workspace_id, cast(null as uuid) as database_id"
    " from workspaces",
    Subject.AUTOMATION: "select workspace_id, database_id from automations",
    Subject.DATABASE: "select workspace_id, id as database_id from databases",
    Subject.RECORD: "select workspace_id, database_id from records",
    Subject.PAGE: "select workspace_id, cast(null as uuid) as database_id from pages",
}


def _standing_sql(credential_sql: str, subject_sql: str, where: str) -> str:
    return f"""
    {credential_sql},
    subject as ({subject_sql} {where})
    select c.user_id, s.workspace_id, s.database_id, m.role, g.grants
    from credential c
    left join subject s on true
    left join members m on m.workspace_id = s.workspace_id and m.user_id = c.user_id
    left join lateral (
        select jsonb_object_agg(dg.database_id, dg.level) as grants
        from database_grants dg join databases d on d.id = dg.database_id
        where dg.user_id = c.user_id and d.workspace_id = s.workspace_id
    ) g on true
    """  # noqa: S608  # only constants of this module


def _statements(credential_sql: str) -> dict[Subject, Any]:
    by_id = "where id = cast(:subject_id as uuid)"
    return {
        subject: text(
            _standing_sql(credential_sql, sql, "" if subject is Subject.CALLER else by_id)
        )
        for subject, sql in _SUBJECT_SQL.items()
    }


_OF_TOKEN = _statements(_CREDENTIAL_BY_HASH)
_OF_IDENTITY = _statements(_CREDENTIAL_BY_SUBJECT)
