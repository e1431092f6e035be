"""The one exception tree.

::

    WhenthenError                 code, retryable
    ├── FatalError                a step that must not be tried again
    ├── RetryableError            a step that may be tried again, with retry_after_s
    ├── ActionTimeoutError        a step past its deadline (fatal)
    └── RequestError              a caller's mistake, with details
        ├── BadRequestError       not JSON, bad cursor, bad header          (400)
        ├── UnauthenticatedError  no or no good credential                  (401)
        ├── WebhookSignatureError an incoming webhook not signed as it must (401)
        ├── ForbiddenError        the credential may not do this            (403)
        ├── NotFoundError         unknown, or another workspace's           (404)
        ├── ConflictError         the object's state refuses it             (409)
        ├── PreconditionError     If-Match names another version            (412)
        ├── TooLargeError         a body or value above its cap             (413)
        ├── MediaTypeError        a content type that is not understood     (415)
        ├── InvalidError          understood, but against the rules         (422)
        ├── RateLimitedError      too many requests with one credential     (429)
        └── UnavailableError      something that the request needs is away  (503)

A message states facts; it never holds a secret, a whole payload or the input it refuses.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar


class WhenthenError(Exception):
    """Base of everything the engine raises on purpose."""

    retryable: ClassVar[bool] = False

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class FatalError(WhenthenError):
    """Raised when a step cannot succeed by being tried again."""


class RetryableError(WhenthenError):
    """Raised when a step may succeed later; `retry_after_s` is the target's own wish, if any."""

    retryable = True

    def __init__(self, code: str, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(code, message)
        self.retry_after_s = retry_after_s


class ActionTimeoutError(WhenthenError):
    """Raised when a step has passed its deadline; fatal, as the outcome outside is unknown."""

    def __init__(self, message: str) -> None:
        super().__init__("ACTION_TIMEOUT", message)


class RequestError(WhenthenError):
    """Raised when a caller's request cannot be carried out; `status` is its HTTP status."""

    status: ClassVar[int] = 400

    def __init__(
        self,
        code: str,
        message: str,
        details: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        super().__init__(code, message)
        self.details = details


class BadRequestError(RequestError):
    """Raised when the request cannot be read."""

    status = 400


class UnauthenticatedError(RequestError):
    """Raised when the credential is absent, unknown, expired or revoked."""

    status = 401


class WebhookSignatureError(RequestError):
    """Raised when the signature of an incoming webhook is wrong, too old, or missing."""

    status = 401

    def __init__(self, message: str) -> None:
        super().__init__("WEBHOOK_SIGNATURE_INVALID", message)


class ForbiddenError(RequestError):
    """Raised when the caller may see the object but not do this to it."""

    status = 403


class NotFoundError(RequestError):
    """Raised when the object does not exist for this caller; the same for unknown and foreign."""

    status = 404

    def __init__(self) -> None:
        super().__init__("NOT_FOUND", "not found")


class ConflictError(RequestError):
    """Raised when the object's present state refuses the request."""

    status = 409


class PreconditionError(RequestError):
    """Raised when If-Match names another version than the present one."""

    status = 412


class TooLargeError(RequestError):
    """Raised when a body or value is above its cap."""

    status = 413


class MediaTypeError(RequestError):
    """Raised when the content type is not understood."""

    status = 415


class InvalidError(RequestError):
    """Raised when the request is well-formed but against the rules."""

    status = 422


class RateLimitedError(RequestError):
    """Raised when a credential has used up its requests; a new allowance comes in a while."""

    status = 429

    def __init__(self, retry_after_s: int) -> None:
        super().__init__("RATE_LIMITED", "too many requests with this credential")
        self.retry_after_s = retry_after_s


class UnavailableError(RequestError):
    """Raised when the request needs something that does not answer, or is not set up."""

    status = 503

    def __init__(self, message: str) -> None:
        super().__init__("UNAVAILABLE", message)
