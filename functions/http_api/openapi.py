"""The OpenAPI document: the table of routes as other programs read it.

Built when it is first asked for: a cold start does not wait for it.
"""

from functools import cache
from typing import Any, Final

from http_api.openapi_errors import (
    ERROR_SCHEMAS,
    REQUEST_ID,
    error_components,
    error_responses,
)
from http_api.openapi_examples import example_of
from http_api.openapi_parameters import parameters_of
from http_api.openapi_schemas import Schemas, component_schemas, page_schema, reference
from http_api.routing import ROUTES, Route

_TEXT: Final = (
    "An automation engine: when something happens, then an ordered list of actions runs. "
    "Keys are in camelCase and always present, instants in UTC. docs/api.md says it in words."
)


@cache
def document() -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of every route."""
    schemas: Schemas = {**component_schemas(ROUTES), **ERROR_SCHEMAS}
    paths: dict[str, dict[str, Any]] = {}
    for entry in sorted(ROUTES, key=lambda entry: entry.path):
        paths.setdefault(entry.path, {})[entry.method.lower()] = _operation(entry, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "whenthen", "version": "1", "description": _TEXT},
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "responses": error_components(ROUTES),
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An API token (`wt_…`) or a JWT of the configured issuer.",
                }
            },
        },
    }


def _operation(entry: Route, schemas: Schemas) -> dict[str, Any]:
    name = entry.function.__name__
    operation = {
        "operationId": _camel(name),
        "summary": name.replace("_", " ").capitalize(),
        "tags": [entry.function.__module__.rsplit("routes_", 1)[-1]],
        "security": [{"bearer": []}] if entry.needs is not None else [],
        "parameters": parameters_of(entry),
        "responses": {**_successes(entry, schemas), **error_responses(entry)},
    }
    if entry.function.__doc__:
        operation["description"] = entry.function.__doc__
    if entry.body is not None:
        operation["requestBody"] = _json_body(entry.body.__name__, schemas)
    if entry.contract.get("standard_webhook"):
        operation["requestBody"] = {"required": False, "content": _WEBHOOK_CONTENT}
    return operation


_WEBHOOK_CONTENT: Final = {
    "application/json": {"schema": {}, "example": {"event": "order.paid", "orderId": 17}},
    "application/x-www-form-urlencoded": {
        "schema": {"type": "object"},
        "example": {"event": "order.paid"},
    },
    "text/plain": {"schema": {"type": "string"}, "example": "order paid"},
}


def _json_body(name: str, schemas: Schemas) -> dict[str, Any]:
    # An empty body is read as an empty object.
    is_required = bool(schemas[name].get("required")) or "type" not in schemas[name]
    return {"required": is_required, "content": _json(reference(name), schemas)}


def _successes(entry: Route, schemas: Schemas) -> dict[str, Any]:
    contract = entry.contract
    response: dict[str, Any] = {"description": "Done.", "headers": REQUEST_ID}
    if "lists" in contract:
        response["content"] = _json(page_schema(contract["lists"]), schemas)
    elif contract.get("answers"):
        response["content"] = _json(reference(contract["answers"]), schemas)
    elif "serves" in contract:
        text = {"schema": {"type": "string"}, "example": "…"}
        response["content"] = dict.fromkeys(contract["serves"], text)
        unchanged = {"description": "What If-None-Match names.", "headers": REQUEST_ID}
        return {str(entry.status): response, "304": unchanged}
    statuses = sorted({entry.status, contract.get("also_status", entry.status)})
    return {str(status): response for status in statuses}


def _json(schema: dict[str, Any], schemas: Schemas) -> dict[str, Any]:
    return {"application/json": {"schema": schema, "example": example_of(schema, schemas)}}


def _camel(snake: str) -> str:
    first, *others = snake.split("_")
    return first + "".join(word.capitalize() for word in others)
