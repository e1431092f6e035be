"""What a route takes beside its body: variables of its path, its query, its headers."""

from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from http_api.routing import Route
from whenthen.domain import limits
from whenthen.domain.schemas.events import CLIENT_ID_MAX_CHARS

_ID: Final[dict[str, Any]] = {
    "type": "string",
    "format": "uuid",
    "examples": ["019cafe0-3c5a-7b1e-9f00-5d2f8c6a1b20"],
}
# Variables that are no ids.
_VARIABLES: Final[dict[str, Any]] = {
    "build": {"type": "string", "pattern": "^[0-9a-f]{16}$", "examples": ["5d2f8c6a1b2019ca"]},
    "file": {"type": "string", "pattern": "^[a-z_]{1,40}\\.(css|js|svg)$", "examples": ["app.js"]},
    "name": {"type": "string", "pattern": "^[A-Z][A-Z0-9_]{0,63}$", "examples": ["CRM_KEY"]},
    "token": {"type": "string", "pattern": "^[A-Za-z0-9_-]{32,86}$", "examples": ["q83v" * 8]},
    "version": {"type": "integer", "minimum": 1, "maximum": 999_999_999, "examples": [3]},
}
# Of what a client names by itself.
_KEY: Final[dict[str, Any]] = {
    "type": "string",
    "pattern": f"^[!-~]{{1,{CLIENT_ID_MAX_CHARS}}}$",
    "examples": ["order-17"],
}
_TEXT: Final[dict[str, Any]] = {"type": "string"}
_LIST: Final[list[dict[str, Any]]] = [
    {
        "name": "cursor",
        "in": "query",
        "description": "`nextCursor` of the page before, of the same list and filters.",
        "schema": _TEXT,
    },
    {
        "name": "limit",
        "in": "query",
        "schema": {
            "type": "integer",
            "minimum": 1,
            "maximum": limits.PAGE_MAX,
            "default": limits.PAGE_DEFAULT,
        },
    },
]
_IDEMPOTENCY_KEY: Final[dict[str, Any]] = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "The same key and body again gets the first answer again.",
    "schema": _KEY,
}
_IF_MATCH: Final[dict[str, Any]] = {
    "name": "If-Match",
    "in": "header",
    "description": "The version that is meant to be changed, or `*`.",
    "schema": {
        "type": "string",
        "pattern": r'^(\*|(W/)?"?[0-9]{1,9}"?)$',
        "examples": ["3"],
    },
}
_WEBHOOK_HEADERS: Final = [
    {"name": name, "in": "header", "description": description, "schema": schema}
    for name, description, schema in (
        ("webhook-id", "The delivery, as its sender names it; repeated, it changes nothing.", _KEY),
        ("Idempotency-Key", "The same, where there is no `webhook-id`.", _KEY),
        ("webhook-timestamp", "Seconds since 1970, as they were signed.", _TEXT),
        ("webhook-signature", "Signatures as Standard Webhooks has them.", _TEXT),
        ("webhook-event", "What the run shows as its trigger type.", _TEXT),
    )
]


def parameters_of(entry: Route) -> list[dict[str, Any]]:
    """Return the parameters of `entry`, those of its path first."""
    contract = entry.contract
    parameters: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": _VARIABLES.get(name, _ID)}
        for name in entry.variables
    ]
    parameters += [
        {"name": name, "in": "query", "schema": _schema_of(type_)}
        for name, type_ in contract.get("query", {}).items()
    ]
    if "lists" in contract:
        parameters += _LIST
    if entry.method == "POST" and entry.needs is not None:
        parameters.append(_IDEMPOTENCY_KEY)
    if contract.get("if_match"):
        parameters.append(_IF_MATCH)
    if contract.get("standard_webhook"):
        parameters += _WEBHOOK_HEADERS
    return parameters


def _schema_of(type_: type) -> dict[str, Any]:
    if issubclass(type_, StrEnum):
        return {"type": "string", "enum": [word.value for word in type_]}
    if type_ is UUID:
        return _ID
    if type_ is datetime:
        return {"type": "string", "format": "date-time", "examples": ["2026-01-01T00:00:00Z"]}
    return _TEXT
