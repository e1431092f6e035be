"""Routes about the grants on a database."""

from http_api import account_bodies
from http_api.bodies import JsonObject
from http_api.dispatch import Call
from http_api.needs import ADMIN_DATABASE, VIEW_DATABASE
from http_api.paging import page_body, page_request
from http_api.routing import route
from whenthen.domain.schemas.people import AddGrant
from whenthen.engine import manage_grants


@route(
    "GET",
    "/databases/{databaseId}/grants",
    needs=VIEW_DATABASE,
    lists="Grant",
)
def list_grants(call: Call[None]) -> JsonObject:
    database_id = call.path_id("databaseId")
    scope = f"grants:{database_id}"
    request = page_request(call.request.query, scope)
    page = manage_grants.grants_on(call.connection, database_id, request)
    return page_body(page, scope, account_bodies.grant)


@route(
    "POST",
    "/databases/{databaseId}/grants",
    needs=ADMIN_DATABASE,
    body=AddGrant,
    status=201,
    answers="Grant",
)
def add_grant(call: Call[AddGrant]) -> JsonObject:
    database_id = call.path_id("databaseId")
    granted = manage_grants.add(call.connection, call.caller, database_id, call.body)
    return account_bodies.grant(granted)


@route("DELETE", "/databases/{databaseId}/grants/{userId}", needs=ADMIN_DATABASE, status=204)
def remove_grant(call: Call[None]) -> None:
    database_id, user_id = call.path_id("databaseId"), call.path_id("userId")
    manage_grants.remove(call.connection, call.caller, database_id, user_id)
