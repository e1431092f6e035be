"""Records as people read and write them; each write puts its event beside the fact."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from whenthen.actions.people import WorkspacePeople
from whenthen.domain.errors import ConflictError, NotFoundError
from whenthen.domain.kinds import EventType
from whenthen.domain.rules import data_events
from whenthen.domain.rules.property_values import changed_properties, merge, value_problems
from whenthen.domain.schemas import problems
from whenthen.domain.schemas.details import DETAILS_MAX
from whenthen.engine.identify import Caller
from whenthen.engine.manage_databases import database
from whenthen.store import data_lists, outbox, records
from whenthen.store.new_id import new_id
from whenthen.store.outbox import OutboxEvent
from whenthen.store.paging import Page, PageRequest
from whenthen.store.records import NewRecord, RecordChange, RecordKey, RecordRow

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


@dataclass(frozen=True, slots=True)
class Written:
    """A record as it is now, and the events to publish after the commit."""

    record: RecordRow
    events: Sequence[OutboxEvent]


def records_of(
    connection: "Connection", database_id: UUID, request: PageRequest
) -> Page[RecordRow]:
    """Return a page of the records of a database that the caller may see."""
    return data_lists.records(connection, database_id, request)


def record(connection: "Connection", record_id: UUID) -> RecordRow:
    """Return a record that the caller may see.

    Raises:
        NotFoundError: there is none.

    """
    found = records.get(connection, record_id)
    if found is None:
        raise NotFoundError
    return found


def create(
    connection: "Connection", caller: Caller, database_id: UUID, values: Mapping[str, Any]
) -> Written:
    """Add a record; it emits `record.created`.

    Raises:
        ConflictError: `ARCHIVED`, the database is.
        InvalidError: a value does not fit its property.

    """
    parent = database(connection, database_id)
    if parent.archived_at is not None:
        raise _archived()
    checked = _checked(connection, caller, parent.properties, values)
    new = NewRecord(new_id(), caller.workspace_id, database_id, merge({}, checked))
    (row,) = records.insert(connection, [new])
    payload = data_events.record_created(row.database_id, row.id, row.properties, row.version)
    return Written(row, _emit(connection, caller, EventType.RECORD_CREATED, payload))


def update(
    connection: "Connection", caller: Caller, record_id: UUID, values: Mapping[str, Any]
) -> Written:
    """Merge values into a record, null clearing one; what changes nothing writes nothing.

    A change emits `record.updated`.

    Raises:
        NotFoundError: it is gone.
        ConflictError: `ARCHIVED`, its database is.
        InvalidError: a value does not fit its property.

    """
    key = RecordKey(caller.workspace_id, record_id)
    old = records.lock(connection, [key]).get(key)
    if old is None:
        raise _not_writable(connection, record_id)
    properties = merge(old.properties, _checked(connection, caller, old.schema, values))
    changed = changed_properties(old.properties, properties)
    if not changed:
        return Written(old, ())
    row = records.update(connection, [RecordChange(record_id, properties)])[record_id]
    payload = data_events.record_updated(
        row.database_id,
        row.id,
        row.properties,
        row.version,
        changed_properties=changed,
        previous=old.properties,
    )
    return Written(row, _emit(connection, caller, EventType.RECORD_UPDATED, payload))


def delete(connection: "Connection", caller: Caller, record_id: UUID) -> None:
    """Delete a record; no trigger listens to that, so nothing is emitted.

    Raises:
        NotFoundError: it is gone already.
        ConflictError: `ARCHIVED`, its database is.

    """
    key = RecordKey(caller.workspace_id, record_id)
    if key not in records.delete(connection, [key]):
        raise _not_writable(connection, record_id)


def _not_writable(connection: "Connection", record_id: UUID) -> Exception:
    return NotFoundError() if records.get(connection, record_id) is None else _archived()


def _archived() -> ConflictError:
    return ConflictError("ARCHIVED", "the database is archived")


def _checked(
    connection: "Connection",
    caller: Caller,
    schema: Sequence[Mapping[str, Any]],
    values: Mapping[str, Any],
) -> Mapping[str, Any]:
    people = WorkspacePeople(connection, caller.workspace_id)
    checked, faults = value_problems(schema, values, people)
    if faults:
        raise problems.invalid(faults[:DETAILS_MAX])
    return checked


def _emit(
    connection: "Connection", caller: Caller, kind: EventType, payload: Mapping[str, Any]
) -> list[OutboxEvent]:
    event = outbox.new_event(
        workspace_id=caller.workspace_id,
        type=kind.value,
        payload=payload,
        actor_id=caller.user_id,
        automation_context=caller.automation_context,
    )
    return outbox.add(connection, [event])
