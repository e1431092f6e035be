"""The route by which a host application reports its events."""

from functools import partial

from http_api.bodies import JsonObject
from http_api.dispatch import Call
from http_api.needs import EDIT_WORKSPACE
from http_api.routing import route
from whenthen.domain.schemas.host_events import EventsBody
from whenthen.engine import report_events
from whenthen.engine.publish import publish


@route(
    "POST",
    "/workspaces/{workspaceId}/events",
    needs=EDIT_WORKSPACE,
    body=EventsBody,
    status=202,
    answers="EventsReported",
    errors=("DATABASE_UNKNOWN", "EVENT_TYPE_UNKNOWN"),
)
def report(call: Call[EventsBody]) -> JsonObject:
    reported = report_events.report(
        call.connection, call.caller, call.body, sanitized=call.sanitized
    )
    call.after_commit(partial(publish, events=reported.events))
    return {"eventIds": list(reported.event_ids)}
