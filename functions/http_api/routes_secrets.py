"""Routes about the secrets of a workspace; a value goes in and never comes out."""

from http_api import account_bodies
from http_api.bodies import JsonObject
from http_api.dispatch import Call
from http_api.needs import ADMIN_WORKSPACE
from http_api.paging import page_body, page_request
from http_api.routing import route
from whenthen.domain.schemas.secrets import SecretBody
from whenthen.engine import manage_secrets


@route(
    "GET",
    "/workspaces/{workspaceId}/secrets",
    needs=ADMIN_WORKSPACE,
    lists="Secret",
)
def list_secrets(call: Call[None]) -> JsonObject:
    scope = f"secrets:{call.caller.workspace_id}"
    request = page_request(call.request.query, scope)
    page = manage_secrets.secrets_of(call.connection, call.caller, request)
    return page_body(page, scope, account_bodies.secret)


@route(
    "PUT",
    "/workspaces/{workspaceId}/secrets/{name}",
    needs=ADMIN_WORKSPACE,
    body=SecretBody,
    status=204,
    errors=("SECRET_INVALID",),
)
def put_secret(call: Call[SecretBody]) -> None:
    key, name = call.context.secrets_key, call.request.variables["name"]
    manage_secrets.put(call.connection, call.caller, key, name, call.body.value)


@route("DELETE", "/workspaces/{workspaceId}/secrets/{name}", needs=ADMIN_WORKSPACE, status=204)
def delete_secret(call: Call[None]) -> None:
    manage_secrets.delete(call.connection, call.caller, call.request.variables["name"])
