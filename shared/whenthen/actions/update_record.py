"""UPDATE_RECORD: merges property values into a record of the run's workspace."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.engine import Connection

from whenthen.actions.answers import in_order, split
from whenthen.actions.named_ids import not_found, record_key
from whenthen.actions.people import People, WorkspacePeople
from whenthen.actions.record_events import emitted
from whenthen.actions.requests import NotGroupableError, StepAnswer, StepRequest, StepSuccess
from whenthen.domain.kinds import EventType
from whenthen.domain.rules import data_events
from whenthen.domain.rules.property_values import changed_properties, check_values, merge
from whenthen.store import records
from whenthen.store.records import RecordChange, RecordRow


@dataclass(frozen=True, slots=True)
class _Change:
    old: RecordRow
    properties: Mapping[str, Any]
    changed: Sequence[str]


def apply(connection: Connection, requests: Sequence[StepRequest]) -> list[StepAnswer]:
    """Update the record of each request; the output is `{"recordId", "changedProperties"}`.

    Null clears a property. An update that changes no value writes nothing and emits nothing.

    Raises:
        NotGroupableError: two requests name the same record.

    """
    keys, unread = split(range(len(requests)), lambda place: record_key(requests[place]))
    if len(set(keys.values())) < len(keys):
        raise NotGroupableError
    rows = records.lock(connection, list(keys.values()))
    people = People(connection)
    changes, refused = split(
        keys,
        lambda place: _change(
            rows.get(keys[place]),
            requests[place].config["propertyValues"],
            people.of(requests[place].workspace_id),
        ),
    )
    written = records.update(
        connection,
        [RecordChange(c.old.id, c.properties) for c in changes.values() if c.changed],
    )
    successes = {
        place: _success(requests[place], change, written.get(change.old.id))
        for place, change in changes.items()
    }
    return in_order(successes, unread | refused)


def _change(row: RecordRow | None, values: Mapping[str, Any], people: WorkspacePeople) -> _Change:
    if row is None:
        raise not_found("record")
    checked = check_values(row.schema, values, people=people)
    properties = merge(row.properties, checked)
    return _Change(row, properties, changed_properties(row.properties, properties))


def _success(request: StepRequest, change: _Change, new: RecordRow | None) -> StepSuccess:
    output = {"recordId": str(change.old.id), "changedProperties": list(change.changed)}
    if new is None:
        return StepSuccess(output)
    payload = data_events.record_updated(
        new.database_id,
        new.id,
        new.properties,
        new.version,
        changed_properties=change.changed,
        previous=change.old.properties,
    )
    return StepSuccess(output, [emitted(request, EventType.RECORD_UPDATED, payload)])
