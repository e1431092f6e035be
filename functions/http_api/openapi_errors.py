"""Which refusals a route can give, and how the document shows them."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from http_api.openapi_schemas import reference
from http_api.routing import Route
from whenthen.domain.rules.permissions import Level, Subject


class ErrorCode(NamedTuple):
    """One code of the error envelope."""

    status: int
    message: str
    details: Any = None


_DETAILS: Final = [{"path": "name", "message": "is required", "type": "missing"}]
_MOVE: Final = {"reason": "no_op", "from": "ACTIVE", "to": "ACTIVE"}

ERROR_CODES: Final[dict[str, ErrorCode]] = {
    "BAD_JSON": ErrorCode(400, "not JSON: Expecting value at character 0"),
    "BAD_CURSOR": ErrorCode(400, "this cursor is not one of this list"),
    "BAD_HEADER": ErrorCode(400, "If-Match is a version number"),
    "UNAUTHENTICATED": ErrorCode(401, "the token is not valid"),
    "WEBHOOK_SIGNATURE_INVALID": ErrorCode(401, "no signature fits the body"),
    "FORBIDDEN": ErrorCode(403, "this needs EDIT"),
    "NOT_FOUND": ErrorCode(404, "not found"),
    "METHOD_NOT_ALLOWED": ErrorCode(405, "this path does not know the method"),
    "INVALID_TRANSITION": ErrorCode(409, "the status cannot change so", _MOVE),
    "NOT_RETRYABLE": ErrorCode(
        409, "only an ended run can be retried", {"reason": "no_op", "status": "RUNNING"}
    ),
    "ARCHIVED": ErrorCode(409, "the automation is archived"),
    "NO_WEBHOOK_TRIGGER": ErrorCode(409, "the automation has no WEBHOOK trigger"),
    "LAST_OWNER": ErrorCode(409, "the last owner stays"),
    "IDEMPOTENCY_CONFLICT": ErrorCode(409, "the key was used for another body"),
    "IDEMPOTENCY_IN_PROGRESS": ErrorCode(409, "the first request with this key has not ended yet"),
    "VERSION_MISMATCH": ErrorCode(412, "the automation has changed", {"version": 4}),
    "TOO_LARGE": ErrorCode(413, "a body has at most 1048576 bytes"),
    "UNSUPPORTED_MEDIA_TYPE": ErrorCode(415, "send application/json"),
    "VALIDATION_FAILED": ErrorCode(422, "name: is required", _DETAILS),
    "CRON_INVALID": ErrorCode(422, "triggers[0].config.cron: has no such day"),
    "CRON_TOO_FREQUENT": ErrorCode(422, "fires more than once a minute"),
    "TIME_ZONE_INVALID": ErrorCode(422, "is no IANA time zone"),
    "DATABASE_UNKNOWN": ErrorCode(422, "there is no such database"),
    "CONDITION_INVALID": ErrorCode(422, "condition.operator: is not a known operator"),
    "TEMPLATE_INVALID": ErrorCode(422, "actions[0].config.title: is not a known root"),
    "WEBHOOK_URL_FORBIDDEN": ErrorCode(422, "must be a public address"),
    "SECRET_INVALID": ErrorCode(422, "this webhook secret cannot be used"),
    "EVENT_TYPE_UNKNOWN": ErrorCode(422, "must be an event of the host"),
    "RETRY_POINT_INVALID": ErrorCode(422, "must not be behind the failed action"),
    "RATE_LIMITED": ErrorCode(429, "too many requests"),
    "UNAVAILABLE": ErrorCode(503, "try again shortly"),
}

_DESCRIPTIONS: Final = {
    400: "The request cannot be read.",
    401: "No, or no good, credential or signature.",
    403: "Visible, but not allowed.",
    404: "Unknown, or in another workspace.",
    409: "The present state refuses it.",
    412: "If-Match names another version.",
    413: "A body above its cap.",
    415: "A content type that is not understood.",
    422: "Understood, but against the rules.",
    429: "Too many requests.",
    503: "The database is out of reach.",
}
_RETRY_AFTER: Final = {"retry-after": {"schema": {"type": "string", "pattern": "^[0-9]+$"}}}
_HEADERS: Final[dict[str, dict[str, Any]]] = {
    "UNAUTHENTICATED": {"www-authenticate": {"schema": {"const": "Bearer"}}},
    "RATE_LIMITED": _RETRY_AFTER,
    "UNAVAILABLE": _RETRY_AFTER,
}
REQUEST_ID: Final = {"x-request-id": {"schema": {"type": "string"}}}

ERROR_SCHEMAS: Final = {
    "Error": {
        "description": "Why a request was refused; `requestId` is also a header.",
        "type": "object",
        "properties": {
            "error": {
                "type": "object",
                "properties": {
                    "code": {"enum": list(ERROR_CODES)},
                    "message": {"type": "string"},
                    "details": {
                        "anyOf": [
                            {
                                "type": "array",
                                "maxItems": 50,
                                "items": {"$ref": "#/components/schemas/ErrorDetail"},
                            },
                            {"type": "object"},
                        ]
                    },
                    "requestId": {"type": "string"},
                },
                "required": ["code", "message", "requestId"],
                "additionalProperties": False,
            }
        },
        "required": ["error"],
        "additionalProperties": False,
    },
    "ErrorDetail": {
        "description": "What is wrong with one part of the request; the input is never repeated.",
        "type": "object",
        "properties": {
            "path": {"type": "string", "examples": ["actions[0].config.url"]},
            "message": {"type": "string"},
            "type": {"type": "string"},
        },
        "required": ["path", "message", "type"],
        "additionalProperties": False,
    },
}


def codes_of(entry: Route) -> list[str]:
    """Return every code that `entry` can answer with, in the order of `ERROR_CODES`."""
    contract = entry.contract
    codes = {*contract.get("errors", ()), *_by_access(entry)}
    if entry.body is not None:
        codes |= {"BAD_JSON", "TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE", "VALIDATION_FAILED"}
    if "lists" in contract:
        codes |= {"BAD_CURSOR", "VALIDATION_FAILED"}
    if "query" in contract:
        codes.add("VALIDATION_FAILED")
    if contract.get("if_match"):
        codes |= {"BAD_HEADER", "VERSION_MISMATCH"}
    return [code for code in ERROR_CODES if code in codes]


def _by_access(entry: Route) -> set[str]:
    needs = entry.needs
    if needs is None:
        return set()
    codes = {"UNAUTHENTICATED", "RATE_LIMITED", "UNAVAILABLE"}
    if entry.variables:
        codes.add("NOT_FOUND")
    if needs.subject is not Subject.CALLER and needs.level > Level.VIEW:
        codes.add("FORBIDDEN")
    if entry.method == "POST":
        codes |= {"BAD_HEADER", "IDEMPOTENCY_CONFLICT", "IDEMPOTENCY_IN_PROGRESS"}
    return codes


def error_responses(entry: Route) -> dict[str, Any]:
    """Return references to the responses of `entry` that refuse, by their status."""
    return {
        str(status): {"$ref": f"#/components/responses/{_name(codes)}"}
        for status, codes in _by_status(entry).items()
    }


def error_components(routes: Iterable[Route]) -> dict[str, Any]:
    """Return each response that refuses any of `routes`, by the name that routes refer to."""
    found = {
        _name(codes): _response(status, codes)
        for entry in routes
        for status, codes in _by_status(entry).items()
    }
    return dict(sorted(found.items()))


def _by_status(entry: Route) -> dict[int, list[str]]:
    by_status: dict[int, list[str]] = defaultdict(list)
    for code in codes_of(entry):
        by_status[ERROR_CODES[code].status].append(code)
    return dict(sorted(by_status.items()))


def _name(codes: list[str]) -> str:
    return ".".join(codes)


def _response(status: int, codes: list[str]) -> dict[str, Any]:
    narrowed = {"properties": {"error": {"properties": {"code": {"enum": codes}}}}}
    return {
        "description": _DESCRIPTIONS[status],
        "headers": {**REQUEST_ID, **_HEADERS.get(codes[0], {})},
        "content": {
            "application/json": {
                "schema": {"allOf": [reference("Error"), narrowed]},
                "examples": {code: {"value": _example(code)} for code in codes},
            }
        },
    }


def _example(code: str) -> dict[str, Any]:
    known = ERROR_CODES[code]
    details = {} if known.details is None else {"details": known.details}
    inside = {"code": code, "message": known.message, **details}
    return {"error": {**inside, "requestId": "JKJaXmPLvHcESHA="}}
