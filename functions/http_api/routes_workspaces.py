"""Routes about workspaces themselves."""

from http_api import account_bodies
from http_api.bodies import JsonObject
from http_api.dispatch import Call
from http_api.needs import SIGNED_IN
from http_api.routing import route
from whenthen.domain.schemas.people import CreateWorkspace
from whenthen.engine import manage_workspaces


@route(
    "POST",
    "/workspaces",
    needs=SIGNED_IN,
    body=CreateWorkspace,
    status=201,
    answers="Workspace",
)
def create_workspace(call: Call[CreateWorkspace]) -> JsonObject:
    made = manage_workspaces.create(call.connection, call.caller, call.body.name)
    return account_bodies.workspace(made)
