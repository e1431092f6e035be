"""Routes about the caller's own API tokens."""

from http_api import account_bodies
from http_api.bodies import JsonObject
from http_api.dispatch import Call
from http_api.needs import SIGNED_IN
from http_api.paging import page_body, page_request
from http_api.routing import route
from whenthen.domain.schemas.data import CreateToken
from whenthen.engine import manage_tokens


@route(
    "GET",
    "/me/tokens",
    needs=SIGNED_IN,
    lists="Token",
)
def list_tokens(call: Call[None]) -> JsonObject:
    scope = f"tokens:{call.caller.user_id}"
    request = page_request(call.request.query, scope)
    page = manage_tokens.tokens_of(call.connection, call.caller, request)
    return page_body(page, scope, account_bodies.token)


@route(
    "POST",
    "/me/tokens",
    needs=SIGNED_IN,
    body=CreateToken,
    status=201,
    answers="MadeToken",
)
def create_token(call: Call[CreateToken]) -> JsonObject:
    made = manage_tokens.create(call.connection, call.caller, call.body)
    return account_bodies.made_token(made)


@route("DELETE", "/me/tokens/{tokenId}", needs=SIGNED_IN, status=204)
def revoke_token(call: Call[None]) -> None:
    manage_tokens.revoke(call.connection, call.caller, call.path_id("tokenId"))
