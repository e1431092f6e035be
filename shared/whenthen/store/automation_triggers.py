"""The triggers of every automation's present version, opened up for matching."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy
from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.domain import json_text
from whenthen.domain.errors import InvalidError


@dataclass(frozen=True, slots=True)
class TriggerRow:
    """One trigger; without a `secret_hash` the present one stays."""

    id: UUID
    type: str
    scope_id: UUID | None
    config: Mapping[str, Any]
    secret_hash: bytes | None = None
    require_signature: bool = False


def replace(
    connection: Connection, automation_id: UUID, workspace_id: UUID, triggers: Sequence[TriggerRow]
) -> None:
    """Make `triggers` all that the automation has, in their order; known ids are kept rows.

    Raises:
        InvalidError: `SECRET_INVALID`, another automation has this webhook secret.

    """
    rows = json_text.dumps([_row(n, trigger) for n, trigger in enumerate(triggers)])
    values = {"automation_id": automation_id, "workspace_id": workspace_id, "triggers": rows}
    try:
        connection.execute(_REPLACE, values)
    except sqlalchemy.exc.DBAPIError as error:
        if not _is_taken_secret(error):
            raise
        # Not chained: the driver's message repeats the digest.
        raise InvalidError("SECRET_INVALID", "this webhook secret cannot be used") from None


_REPLACE = text(
    """
    with wanted as (
        select * from jsonb_to_recordset(cast(:triggers as jsonb)) as t(
            id uuid, position integer, type text, scope_id uuid, config jsonb, secret_hash text,
            require_signature boolean)
    ),
    gone as (
        delete from automation_triggers t
        where t.automation_id = :automation_id
            and not exists (select 1 from wanted w where w.id = t.id)
    )
    insert into automation_triggers as t (id, automation_id, position, type, workspace_id, scope_id,
        config, secret_hash, require_signature)
    select id, :automation_id, position, type, :workspace_id, scope_id, config,
        decode(secret_hash, 'hex'), require_signature
    from wanted
    on conflict (id) do update set position = excluded.position, scope_id = excluded.scope_id,
        config = excluded.config, require_signature = excluded.require_signature,
        secret_hash = coalesce(excluded.secret_hash, t.secret_hash)
    """
)


def secret_hash(connection: Connection, automation_id: UUID) -> bytes | None:
    """Return the digest of the automation's webhook secret; None when it has none."""
    row = connection.execute(_SECRET_HASH, {"automation_id": automation_id}).one_or_none()
    return bytes(row.secret_hash) if row else None


_SECRET_HASH = text(
    """
    select secret_hash from automation_triggers
    where automation_id = :automation_id and secret_hash is not null
    """
)


def _is_taken_secret(error: sqlalchemy.exc.DBAPIError) -> bool:
    facts = error.orig.args[0] if error.orig and error.orig.args else None
    return isinstance(facts, dict) and facts.get("n") == "automation_triggers_secret_hash_key"


def _row(position: int, trigger: TriggerRow) -> dict[str, Any]:
    return {
        "id": str(trigger.id),
        "position": position,
        "type": trigger.type,
        "scope_id": str(trigger.scope_id) if trigger.scope_id else None,
        "config": trigger.config,
        "secret_hash": trigger.secret_hash.hex() if trigger.secret_hash else None,
        "require_signature": trigger.require_signature,
    }
