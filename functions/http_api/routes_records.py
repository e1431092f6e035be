"""Routes about records."""

from functools import partial

from http_api import bodies
from http_api.bodies import JsonObject
from http_api.dispatch import Call
from http_api.needs import EDIT_IN_DATABASE, EDIT_RECORD, VIEW_DATABASE, VIEW_RECORD
from http_api.paging import page_body, page_request
from http_api.routing import route
from whenthen.domain.schemas.data import RecordBody
from whenthen.engine import write_records
from whenthen.engine.publish import publish


@route(
    "GET",
    "/databases/{databaseId}/records",
    needs=VIEW_DATABASE,
    lists="Record",
)
def list_records(call: Call[None]) -> JsonObject:
    database_id = call.path_id("databaseId")
    scope = f"records:{database_id}"
    request = page_request(call.request.query, scope)
    page = write_records.records_of(call.connection, database_id, request)
    return page_body(page, scope, bodies.record)


@route(
    "POST",
    "/databases/{databaseId}/records",
    needs=EDIT_IN_DATABASE,
    body=RecordBody,
    status=201,
    answers="Record",
    errors=("ARCHIVED",),
)
def create_record(call: Call[RecordBody]) -> JsonObject:
    database_id, values = call.path_id("databaseId"), call.body.properties
    written = write_records.create(call.connection, call.caller, database_id, values)
    call.after_commit(partial(publish, events=written.events))
    return bodies.record(written.record)


@route(
    "GET",
    "/records/{recordId}",
    needs=VIEW_RECORD,
    answers="Record",
)
def get_record(call: Call[None]) -> JsonObject:
    return bodies.record(write_records.record(call.connection, call.path_id("recordId")))


@route(
    "PATCH",
    "/records/{recordId}",
    needs=EDIT_RECORD,
    body=RecordBody,
    answers="Record",
    errors=("ARCHIVED",),
)
def patch_record(call: Call[RecordBody]) -> JsonObject:
    record_id, values = call.path_id("recordId"), call.body.properties
    written = write_records.update(call.connection, call.caller, record_id, values)
    call.after_commit(partial(publish, events=written.events))
    return bodies.record(written.record)


@route("DELETE", "/records/{recordId}", needs=EDIT_RECORD, status=204, errors=("ARCHIVED",))
def delete_record(call: Call[None]) -> None:
    write_records.delete(call.connection, call.caller, call.path_id("recordId"))
