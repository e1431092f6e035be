"""Routes about pages."""

from functools import partial

from http_api import bodies
from http_api.bodies import JsonObject
from http_api.dispatch import Call
from http_api.needs import EDIT_WORKSPACE, VIEW_PAGE, VIEW_WORKSPACE
from http_api.paging import page_body, page_request
from http_api.routing import route
from whenthen.domain.schemas.data import CreatePage
from whenthen.engine import write_pages
from whenthen.engine.publish import publish


@route(
    "GET",
    "/workspaces/{workspaceId}/pages",
    needs=VIEW_WORKSPACE,
    lists="Page",
)
def list_pages(call: Call[None]) -> JsonObject:
    scope = f"pages:{call.caller.workspace_id}"
    request = page_request(call.request.query, scope)
    page = write_pages.pages_of(call.connection, call.caller, request)
    return page_body(page, scope, bodies.page)


@route(
    "POST",
    "/workspaces/{workspaceId}/pages",
    needs=EDIT_WORKSPACE,
    body=CreatePage,
    status=201,
    answers="Page",
)
def create_page(call: Call[CreatePage]) -> JsonObject:
    written = write_pages.create(call.connection, call.caller, call.body)
    call.after_commit(partial(publish, events=written.events))
    return bodies.page(written.page)


@route(
    "GET",
    "/pages/{pageId}",
    needs=VIEW_PAGE,
    answers="Page",
)
def get_page(call: Call[None]) -> JsonObject:
    return bodies.page(write_pages.page(call.connection, call.path_id("pageId")))
