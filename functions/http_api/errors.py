"""Exceptions become answers here, and nowhere else: one envelope for all of them."""

import logging
from dataclasses import dataclass, field
from typing import Any, Final

from whenthen.domain.errors import RequestError, UnauthenticatedError
from whenthen.domain.rules.classify import classify_error

_log = logging.getLogger("whenthen.http_api")

# A transaction that lost a race or its connection may be tried again at once.
RETRY_AFTER_S: Final = 1


class MethodNotAllowedError(RequestError):
    """Raised when the path is known, but not with this method."""

    status = 405

    def __init__(self, allowed: list[str]) -> None:
        super().__init__("METHOD_NOT_ALLOWED", "this path does not know the method")
        self.allowed = allowed


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
        return ErrorAnswer(error.status, _inside(error), _headers_of(error))
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


def _inside(error: RequestError) -> dict[str, Any]:
    inside: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.details is not None:
        inside["details"] = error.details
    return inside


def _headers_of(error: RequestError) -> dict[str, str]:
    match error:
        case UnauthenticatedError():
            return {"www-authenticate": "Bearer"}
        case MethodNotAllowedError():
            return {"allow": ", ".join(error.allowed)}
        case _:
            return {}
