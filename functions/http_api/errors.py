"""Exceptions become answers here, and nowhere else: one envelope for all of them."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from whenthen.domain.errors import (
    RateLimitedError,
    RequestError,
    UnauthenticatedError,
    UnavailableError,
)
from whenthen.domain.rules.classify import classify_error
from whenthen.domain.schemas.details import DETAILS_MAX

_log = logging.getLogger("whenthen.http_api")

# A transaction that lost a race or its connection may be tried again at once.
RETRY_AFTER_S: Final = 1


class MethodNotAllowedError(RequestError):
    """Raised when the path is known, but not with this method."""

    status = 405

    def __init__(self, allowed: list[str]) -> None:
        super().__init__("METHOD_NOT_ALLOWED", "this path does not know the method")
        self.allowed = allowed


class RepeatedRefusalError(Exception):
    """Raised to give a refusal again as it was given first; `inside` is that of the envelope."""

    def __init__(self, status: int, inside: dict[str, Any]) -> None:
        super().__init__(inside["code"])
        self.status = status
        self.inside = inside


@dataclass(frozen=True, slots=True)
class ErrorAnswer:
    """Status, extra headers and the inside of the envelope."""

    status: int
    error: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict)


def answer_to(error: Exception) -> ErrorAnswer:
    """Return what the caller is told of `error`; what is not the caller's doing is logged.

    ::

        {"code": "NOT_FOUND", "message": "not found"}
    """
    if isinstance(error, RequestError):
        return ErrorAnswer(error.status, inside_of(error), _headers_of(error))
    if isinstance(error, RepeatedRefusalError):
        return ErrorAnswer(error.status, error.inside)
    verdict = classify_error(error)
    if verdict.retryable:
        _log.warning("database unavailable", extra={"code": verdict.code}, exc_info=error)
        return ErrorAnswer(
            503,
            {"code": "UNAVAILABLE", "message": "try again shortly"},
            {"retry-after": str(RETRY_AFTER_S)},
        )
    _log.error("request failed", exc_info=error)
    return ErrorAnswer(500, {"code": "INTERNAL", "message": "this is our fault"})


def inside_of(error: RequestError) -> dict[str, Any]:
    """Return the inside of the envelope: code, message, and details where there are any."""
    inside: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.details is not None:
        # A hostile body has a fault in each of its thousand parts; nobody reads more than these.
        many = error.details
        inside["details"] = many if isinstance(many, Mapping) else many[:DETAILS_MAX]
    return inside


def _headers_of(error: RequestError) -> dict[str, str]:
    match error:
        case UnauthenticatedError():
            return {"www-authenticate": "Bearer"}
        case RateLimitedError():
            return {"retry-after": str(error.retry_after_s)}
        case UnavailableError():
            return {"retry-after": str(RETRY_AFTER_S)}
        case MethodNotAllowedError():
            return {"allow": ", ".join(error.allowed)}
        case _:
            return {}
