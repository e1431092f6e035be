"""A form's submission: a record, and the events that say so."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from whenthen.domain.kinds import EventType
from whenthen.domain.rules import data_events
from whenthen.engine import write_records
from whenthen.engine.identify import Caller
from whenthen.store import outbox
from whenthen.store.outbox import OutboxEvent

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


@dataclass(frozen=True, slots=True)
class Submitted:
    """The record, and its events to publish after the commit: `form.submitted` comes first."""

    record_id: UUID
    events: Sequence[OutboxEvent]


def submit(
    connection: "Connection",
    caller: Caller,
    database_id: UUID,
    values: Mapping[str, Any],
    *,
    sanitized: bool,
) -> Submitted:
    """Add a record to the database; it emits `form.submitted` and `record.created`.

    `sanitized`: characters of the values that cannot be stored were replaced.

    Raises:
        ConflictError: `ARCHIVED`, the database is.
        InvalidError: a value does not fit its property.

    """
    written = write_records.create(connection, caller, database_id, values)
    row = written.record
    payload = data_events.form_submitted(row.database_id, row.id, row.properties, row.version)
    if sanitized:
        payload["sanitized"] = True
    event = outbox.new_event(
        workspace_id=caller.workspace_id,
        type=EventType.FORM_SUBMITTED.value,
        payload=payload,
        actor_id=caller.user_id,
        automation_context=caller.automation_context,
    )
    return Submitted(row.id, [*outbox.add(connection, [event]), *written.events])
