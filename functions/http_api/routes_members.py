"""Routes about the members of a workspace."""

from http_api import account_bodies
from http_api.bodies import JsonObject
from http_api.dispatch import Call
from http_api.needs import ADMIN_WORKSPACE, VIEW_WORKSPACE
from http_api.paging import page_body, page_request
from http_api.routing import route
from whenthen.domain.schemas.people import AddMember
from whenthen.engine import manage_members


@route(
    "GET",
    "/workspaces/{workspaceId}/members",
    needs=VIEW_WORKSPACE,
    lists="Member",
)
def list_members(call: Call[None]) -> JsonObject:
    scope = f"members:{call.caller.workspace_id}"
    request = page_request(call.request.query, scope)
    page = manage_members.members_of(call.connection, call.caller, request)
    return page_body(page, scope, account_bodies.member)


@route(
    "POST",
    "/workspaces/{workspaceId}/members",
    needs=ADMIN_WORKSPACE,
    body=AddMember,
    status=201,
    answers="Member",
    errors=("LAST_OWNER",),
)
def add_member(call: Call[AddMember]) -> JsonObject:
    return account_bodies.member(manage_members.add(call.connection, call.caller, call.body))


@route(
    "DELETE",
    "/workspaces/{workspaceId}/members/{userId}",
    needs=ADMIN_WORKSPACE,
    status=204,
    errors=("LAST_OWNER",),
)
def remove_member(call: Call[None]) -> None:
    manage_members.remove(call.connection, call.caller, call.path_id("userId"))
