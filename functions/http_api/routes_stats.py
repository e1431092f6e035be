"""The route of a workspace's statistics."""

from datetime import datetime

from http_api import stats_body
from http_api.bodies import JsonObject
from http_api.dispatch import Call
from http_api.needs import VIEW_WORKSPACE
from http_api.query import instant_in
from http_api.routing import route
from whenthen.engine import read_stats


@route(
    "GET",
    "/workspaces/{workspaceId}/automations/stats",
    needs=VIEW_WORKSPACE,
    answers="Stats",
    query={"from": datetime, "to": datetime},
)
def get_stats(call: Call[None]) -> JsonObject:
    query = call.request.query
    since, until = instant_in(query, "from"), instant_in(query, "to")
    window, found = read_stats.stats(call.connection, call.caller, since, until)
    return stats_body.stats(window, found)
