"""Tells the right people of a run's death, once; and what becomes of messages SQS gave up on."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy.engine import Connection

from whenthen.domain.kinds import Role
from whenthen.domain.schemas.messages import RunMessage, decode
from whenthen.domain.schemas.notices import DeathNotice
from whenthen.engine.context import Context
from whenthen.store import audit, deaths, notifications
from whenthen.store.audit import AuditEntry
from whenthen.store.deaths import Death
from whenthen.store.new_id import new_id
from whenthen.store.notifications import NewNotification

_log = logging.getLogger("whenthen.deaths")

_CRASHED = "WORKER_CRASHED"
_TOLD = frozenset({Role.OWNER, Role.ADMIN})


@dataclass(frozen=True, slots=True)
class Announcement:
    """A death that has just been told in the product, and whom else to tell by mail.

    `addresses` is empty where this deployment sends no mail.
    """

    death: Death
    number: int
    title: str
    body: str
    addresses: Mapping[UUID, str] = field(default_factory=dict)


def report_death(context: Context, notice: DeathNotice) -> Announcement | None:
    """Announce one death: a notification per OWNER and ADMIN, an audit entry, the metric.

    All in one transaction that only the first delivery of the notice passes; the others get None.
    """
    by_mail = context.settings.mail_from is not None
    announced = context.database.transact(
        lambda connection: _announce(connection, notice, by_mail=by_mail)
    )
    if announced is None:
        return None
    context.metrics.count("automations.dead_letter")
    death = announced.death
    told = {"run_id": str(death.run_id), "story": dict(death.story)}
    _log.warning("run dead-lettered", extra=told)
    return announced


def take_back_messages(context: Context, bodies: Sequence[str]) -> int:
    """See to run messages that the queue moved away after too many receives; return how many rows.

    Such a message never kills a run: its row wakes now, and the sweep decides.
    """
    messages = [decode(body) for body in bodies]
    run_ids: list[UUID] = [what.run_id for what in messages if isinstance(what, RunMessage)]
    context.metrics.count("automations.poison_messages", len(bodies))
    _log.error("messages given up by the queue", extra={"messages": len(bodies)})
    return context.database.transact(lambda connection: deaths.wake(connection, run_ids))


def _announce(connection: Connection, notice: DeathNotice, *, by_mail: bool) -> Announcement | None:
    death = deaths.announce(connection, notice.run_id, notice.death)
    if death is None:
        return None
    members = notifications.members(connection, [death.workspace_id])[death.workspace_id]
    told = [user_id for user_id, role in members.items() if role in _TOLD]
    title, body = _title(death), _body(death)
    notifications.insert(
        connection,
        [
            NewNotification(new_id(), death.workspace_id, user_id, title, body, death.run_id)
            for user_id in told
        ],
    )
    audit.add(connection, [_audit_entry(death)])
    addresses = notifications.addresses(connection, told) if by_mail else {}
    return Announcement(death, notice.death, title, body, addresses)


def _title(death: Death) -> str:
    name = death.automation_name
    if death.story["code"] == _CRASHED:
        return f'Automation "{name}" failed (worker crash)'
    return f'Automation "{name}" dead-lettered'


def _body(death: Death) -> str:
    story = death.story
    return f"Failed after {story['attempts']} attempts: {story['code']} — {story['message']}"


def _audit_entry(death: Death) -> AuditEntry:
    crashed = death.story["code"] == _CRASHED
    return AuditEntry(
        workspace_id=death.workspace_id,
        action="automation.worker_crashed" if crashed else "automation.dead_lettered",
        actor_type="SYSTEM",
        actor_id=f"automation:{death.automation_id}",
        resource_type="automation_run",
        resource_id=str(death.run_id),
        data=death.story,
    )
