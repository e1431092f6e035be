"""Routes about databases."""

from http_api import bodies
from http_api.bodies import JsonObject
from http_api.dispatch import Call
from http_api.needs import ADMIN_DATABASE, ADMIN_WORKSPACE, VIEW_DATABASE, VIEW_WORKSPACE
from http_api.paging import page_body, page_request
from http_api.routing import route
from whenthen.domain.schemas.data import CreateDatabase, PatchDatabase
from whenthen.engine import manage_databases


@route(
    "GET",
    "/workspaces/{workspaceId}/databases",
    needs=VIEW_WORKSPACE,
    lists="Database",
)
def list_databases(call: Call[None]) -> JsonObject:
    scope = f"databases:{call.caller.workspace_id}"
    request = page_request(call.request.query, scope)
    page = manage_databases.databases_of(call.connection, call.caller, request)
    return page_body(page, scope, bodies.database)


@route(
    "POST",
    "/workspaces/{workspaceId}/databases",
    needs=ADMIN_WORKSPACE,
    body=CreateDatabase,
    status=201,
    answers="Database",
)
def create_database(call: Call[CreateDatabase]) -> JsonObject:
    return bodies.database(manage_databases.create(call.connection, call.caller, call.body))


@route(
    "GET",
    "/databases/{databaseId}",
    needs=VIEW_DATABASE,
    answers="Database",
)
def get_database(call: Call[None]) -> JsonObject:
    found = manage_databases.database(call.connection, call.path_id("databaseId"))
    return bodies.database(found)


@route(
    "PATCH",
    "/databases/{databaseId}",
    needs=ADMIN_DATABASE,
    body=PatchDatabase,
    answers="Database",
)
def patch_database(call: Call[PatchDatabase]) -> JsonObject:
    database_id = call.path_id("databaseId")
    return bodies.database(manage_databases.patch(call.connection, database_id, call.body))
