"""The route of form submissions."""

from functools import partial

from http_api.bodies import JsonObject
from http_api.dispatch import Call
from http_api.needs import EDIT_IN_DATABASE
from http_api.routing import route
from whenthen.domain.schemas.data import RecordBody
from whenthen.engine.publish import publish
from whenthen.engine.submit_form import submit


@route(
    "POST",
    "/databases/{databaseId}/forms/submissions",
    needs=EDIT_IN_DATABASE,
    body=RecordBody,
    status=201,
    answers="FormSubmitted",
    errors=("ARCHIVED",),
)
def submit_form(call: Call[RecordBody]) -> JsonObject:
    submitted = submit(
        call.connection,
        call.caller,
        call.path_id("databaseId"),
        call.body.properties,
        sanitized=call.sanitized,
    )
    call.after_commit(partial(publish, events=submitted.events))
    return {
        "recordId": str(submitted.record_id),
        "eventIds": [event.event_id for event in submitted.events],
    }
