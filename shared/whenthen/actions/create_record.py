"""CREATE_RECORD: adds a record to a database of the run's workspace."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.engine import Connection

from whenthen.actions.answers import in_order, split
from whenthen.actions.named_ids import not_found, read_id
from whenthen.actions.people import People
from whenthen.actions.record_events import emitted
from whenthen.actions.requests import StepAnswer, StepRequest, StepSuccess
from whenthen.domain.kinds import EventType
from whenthen.domain.rules import data_events
from whenthen.domain.rules.property_values import check_values, merge
from whenthen.store import records
from whenthen.store.database_schemas import DatabaseKey, schemas
from whenthen.store.new_id import new_id
from whenthen.store.records import NewRecord, RecordRow


def apply(connection: Connection, requests: Sequence[StepRequest]) -> list[StepAnswer]:
    """Create the record of each request; the output is `{"recordId"}`."""
    keys, unread = split(range(len(requests)), lambda place: _database(requests[place]))
    found = schemas(connection, list(keys.values()))
    people = People(connection)

    def plan(place: int) -> NewRecord:
        schema = found.get(keys[place])
        if schema is None:
            raise not_found("database")
        request = requests[place]
        values = _values(request, schema, people)
        return NewRecord(new_id(), request.workspace_id, keys[place].id, values)

    new, refused = split(keys, plan)
    rows = records.insert(connection, list(new.values()))
    successes = {
        place: _success(requests[place], row) for place, row in zip(new, rows, strict=True)
    }
    return in_order(successes, unread | refused)


def _database(request: StepRequest) -> DatabaseKey:
    return DatabaseKey(request.workspace_id, read_id(request.config.get("databaseId"), "database"))


def _values(
    request: StepRequest, schema: Sequence[Mapping[str, Any]], people: People
) -> Mapping[str, Any]:
    checked = check_values(
        schema, request.config["propertyValues"], people=people.of(request.workspace_id)
    )
    return merge({}, checked)


def _success(request: StepRequest, row: RecordRow) -> StepSuccess:
    payload = data_events.record_created(row.database_id, row.id, row.properties, row.version)
    return StepSuccess(
        {"recordId": str(row.id)}, [emitted(request, EventType.RECORD_CREATED, payload)]
    )
