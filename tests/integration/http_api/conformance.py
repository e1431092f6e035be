"""Holds answers against the OpenAPI document: status, body, content type, headers."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import jsonschema_rs

from http_api.openapi import document
from http_api.routing import ROUTES, Route


def require_conformity(
    method: str, path: str, status: int, headers: Mapping[str, str], text: str
) -> None:
    """Assert that the answer to a request is one that the document knows.

    A 500 is none; tests that bring one about look at it themselves. The document does not speak of
    unknown paths and methods.
    """
    entry = route_of(method, path)
    if entry is None or status == 500:
        return
    responses = operation_of(entry)["responses"]
    where = f"{method} {entry.path} → {status}"
    assert str(status) in responses, f"{where} is not documented: {text[:500]}"
    response = resolved(responses[str(status)])
    for name in response["headers"]:
        assert name in headers, f"{where} lacks the header {name}"
    if "content" not in response:
        assert text == "", where
        return
    assert headers["content-type"] in response["content"], where
    if headers["content-type"] != "application/json":
        return
    problems = [error.message for error in _validator(entry, status).iter_errors(json.loads(text))]
    assert problems == [], f"{where}: {problems[:3]} in {text[:1_000]}"


def route_of(method: str, path: str) -> Route | None:
    """Return the route that a request meets, a literal path before one with variables."""
    fitting = [entry for entry in ROUTES if entry.method == method and entry.fits(path)]
    return min(fitting, key=lambda entry: len(entry.variables), default=None)


def operation_of(entry: Route) -> dict[str, Any]:
    found: dict[str, Any] = document()["paths"][entry.path][entry.method.lower()]
    return found


def resolved(part: dict[str, Any]) -> dict[str, Any]:
    """Return what `part` refers to, or itself."""
    if "$ref" not in part:
        return part
    found: Any = document()
    for step in part["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    return dict(found)


def validator_of(schema: Mapping[str, Any]) -> jsonschema_rs.Validator:
    """Return a validator of a schema that stands in the document."""
    whole = {**schema, "components": document()["components"]}
    return jsonschema_rs.validator_for(whole, validate_formats=True)


@cache
def _validators() -> dict[tuple[str, str, int], jsonschema_rs.Validator]:
    return {}


def _validator(entry: Route, status: int) -> jsonschema_rs.Validator:
    key = (entry.method, entry.path, status)
    if key not in _validators():
        response = resolved(operation_of(entry)["responses"][str(status)])
        schema = response["content"]["application/json"]["schema"]
        _validators()[key] = validator_of(schema)
    return _validators()[key]
