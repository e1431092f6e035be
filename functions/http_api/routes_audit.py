"""The route of a workspace's audit log."""

from http_api import account_bodies
from http_api.bodies import JsonObject
from http_api.dispatch import Call
from http_api.needs import ADMIN_WORKSPACE
from http_api.paging import page_body, page_request
from http_api.routing import route
from whenthen.engine import read_audit


@route(
    "GET",
    "/workspaces/{workspaceId}/audit",
    needs=ADMIN_WORKSPACE,
    lists="AuditEntry",
)
def list_audit(call: Call[None]) -> JsonObject:
    scope = f"audit:{call.caller.workspace_id}"
    request = page_request(call.request.query, scope)
    page = read_audit.entries_of(call.connection, call.caller, request)
    return page_body(page, scope, account_bodies.audit_entry)
