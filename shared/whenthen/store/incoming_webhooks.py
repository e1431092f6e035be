"""What an incoming webhook meets: the automation of its secret, and the outbox."""

from dataclasses import dataclass, replace
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.domain import json_text
from whenthen.store import outbox
from whenthen.store.outbox import OutboxEvent


@dataclass(frozen=True, slots=True)
class WebhookTarget:
    """An ACTIVE automation; `now_s` is the database's clock, in seconds since 1970."""

    automation_id: UUID
    workspace_id: UUID
    require_signature: bool
    now_s: float


def target_of(connection: Connection, secret_hash: bytes) -> WebhookTarget | None:
    """Return the automation that a secret of this digest calls; None: unknown, or not ACTIVE."""
    row = connection.execute(_TARGET, {"secret_hash": secret_hash}).mappings().one_or_none()
    return WebhookTarget(**row) if row else None


_TARGET = text(
    """
    select t.automation_id, t.workspace_id, t.require_signature,
        cast(extract(epoch from whenthen_now()) as float8) as now_s
    from automation_triggers t
    join automations a on a.id = t.automation_id
    where t.secret_hash = :secret_hash and t.type = 'WEBHOOK' and a.status = 'ACTIVE'
    """
)


def add_once(connection: Connection, event: OutboxEvent, automation_id: UUID) -> OutboxEvent | None:
    """Write `event` with its instant; None when it was accepted before, waiting or by its run.

    A repetition has the same outbox id. One that comes while the first is being matched may be
    written again: the matcher then finds the run.
    """
    row = connection.execute(
        _ADD_ONCE,
        {"event": json_text.dumps([outbox.as_row(event)]), "automation_id": automation_id},
    ).one_or_none()
    return replace(event, occurred_at=row.occurred_at) if row else None


_ADD_ONCE = text(
    f"""
    {outbox.INSERT_SELECT}
    from jsonb_to_recordset(cast(:event as jsonb)) as e({outbox.ROW_TYPE})
    where not exists (
        select 1 from automation_runs r
        where r.automation_id = :automation_id and r.event_id = e.event_id
    )
    on conflict (id) do nothing
    returning occurred_at
    """  # noqa: S608  # only constants of two modules
)


def replace_secret(connection: Connection, automation_id: UUID, secret_hash: bytes) -> bool:
    """Give a locked automation's webhook another secret; return whether it has a webhook."""
    values = {"automation_id": automation_id, "secret_hash": secret_hash}
    return connection.execute(_REPLACE_SECRET, values).rowcount > 0


_REPLACE_SECRET = text(
    """
    update automation_triggers set secret_hash = :secret_hash
    where automation_id = :automation_id and type = 'WEBHOOK'
    """
)
