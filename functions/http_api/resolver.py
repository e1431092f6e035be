"""The table of routes on Powertools' resolver, and how an answer looks on the wire."""

import logging
from collections.abc import Callable
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError as UnknownPathError

from http_api import (
    routes_audit,
    routes_automations,
    routes_console,
    routes_databases,
    routes_definitions,
    routes_dry_run,
    routes_events,
    routes_forms,
    routes_grants,
    routes_health,
    routes_me,
    routes_members,
    routes_openapi,
    routes_pages,
    routes_records,
    routes_runs,
    routes_schedules,
    routes_secrets,
    routes_stats,
    routes_tokens,
    routes_versions,
    routes_webhooks,
    routes_workspace_runs,
    routes_workspaces,
)
from http_api.dispatch import carry_out
from http_api.errors import MethodNotAllowedError, answer_to
from http_api.request import read_event
from http_api.routing import ROUTES, Route, methods_of
from http_api.served import Served
from whenthen.domain import json_text
from whenthen.domain.errors import NotFoundError
from whenthen.engine.composition import process_context

SERVICE = "http-api"

# Importing a module of routes enters them into the table.
ROUTE_MODULES = (
    routes_audit,
    routes_automations,
    routes_console,
    routes_databases,
    routes_definitions,
    routes_dry_run,
    routes_events,
    routes_forms,
    routes_grants,
    routes_health,
    routes_me,
    routes_members,
    routes_openapi,
    routes_pages,
    routes_records,
    routes_runs,
    routes_schedules,
    routes_secrets,
    routes_stats,
    routes_tokens,
    routes_versions,
    routes_webhooks,
    routes_workspace_runs,
    routes_workspaces,
)

_log = logging.getLogger("whenthen.http_api")
# Below INFO it writes the variables of each path, a webhook's token among them (measured).
logging.getLogger("aws_lambda_powertools.event_handler").setLevel(logging.INFO)


def build_resolver() -> APIGatewayHttpResolver:
    """Return a resolver that knows every route of the table."""
    app = APIGatewayHttpResolver(debug=False)
    for entry in ROUTES:
        app.route(entry.rule, method=entry.method)(_answering(app, entry))
    app.not_found(_refuse_path(app))
    app.exception_handler(Exception)(_refuse(app))
    return app


def _answering(app: APIGatewayHttpResolver, entry: Route) -> Callable[..., Response[Any]]:
    def answer(**variables: str) -> Response[Any]:
        if app.current_event.path.endswith("\n"):
            # The framework's pattern of a path lets one line break through at its end.
            raise NotFoundError
        request = read_event(app.current_event.raw_event, variables)
        # The route's template, not its path: paths may hold secrets.
        _log.info("request", extra={"route": f"{entry.method} {entry.path}", "request": request.id})
        given = carry_out(process_context(SERVICE), entry, request)
        return _response(request.id, given.status, given.body)

    return answer


def _refuse_path(app: APIGatewayHttpResolver) -> Callable[[UnknownPathError], Response[Any]]:
    def refuse(_: UnknownPathError) -> Response[Any]:
        allowed = methods_of(app.current_event.path)
        # With a method that is known, it is a variable that holds what no path can.
        is_known = not allowed or app.current_event.http_method in allowed
        return _refuse(app)(NotFoundError() if is_known else MethodNotAllowedError(allowed))

    return refuse


def _refuse(app: APIGatewayHttpResolver) -> Callable[[Exception], Response[Any]]:
    def refuse(error: Exception) -> Response[Any]:
        request_id = read_event(app.current_event.raw_event, {}).id
        answer = answer_to(error)
        body = {"error": {**answer.error, "requestId": request_id}}
        return _response(request_id, answer.status, body, answer.headers)

    return refuse


def _response(
    request_id: str, status: int, body: Any, headers: dict[str, str] | None = None
) -> Response[Any]:
    every = {"x-request-id": request_id, "cache-control": "no-store", **(headers or {})}
    if body is None:
        return Response(status_code=status, headers={**every})
    if isinstance(body, Served):
        return Response(status, body.media_type, body.body, {**every, **body.headers})
    return Response(
        status_code=status,
        content_type="application/json",
        body=json_text.dumps(body),
        headers={**every},
    )
