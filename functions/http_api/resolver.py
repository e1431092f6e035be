"""The table of routes on Powertools' resolver, and how an answer looks on the wire."""

import logging
from collections.abc import Callable
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError as UnknownPathError

from http_api import (
    routes_automations,
    routes_databases,
    routes_definitions,
    routes_health,
    routes_me,
    routes_pages,
    routes_records,
    routes_runs,
)
from http_api.dispatch import carry_out
from http_api.errors import MethodNotAllowedError, answer_to
from http_api.request import read_event
from http_api.routing import ROUTES, Route, methods_of
from whenthen.domain import json_text
from whenthen.domain.errors import NotFoundError
from whenthen.engine.composition import process_context

SERVICE = "http-api"

# Importing a module of routes enters them into the table.
ROUTE_MODULES = (
    routes_automations,
    routes_databases,
    routes_definitions,
    routes_health,
    routes_me,
    routes_pages,
    routes_records,
    routes_runs,
)

_log = logging.getLogger("whenthen.http_api")


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
        request = read_event(app.current_event.raw_event, variables)
        # The route's template, not its path: paths may hold secrets.
        _log.info("request", extra={"route": f"{entry.method} {entry.path}", "request": request.id})
        body = carry_out(process_context(SERVICE), entry, request)
        return _response(request.id, entry.status, body)

    return answer


def _refuse_path(app: APIGatewayHttpResolver) -> Callable[[UnknownPathError], Response[Any]]:
    def refuse(_: UnknownPathError) -> Response[Any]:
        allowed = methods_of(app.current_event.path)
        error = MethodNotAllowedError(allowed) if allowed else NotFoundError()
        return _refuse(app)(error)

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
    return Response(
        status_code=status,
        content_type="application/json",
        body=json_text.dumps(body),
        headers={**every},
    )
