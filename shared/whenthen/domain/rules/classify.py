"""Whether an error is worth another try, and the code by which people find it.

Errors of libraries are told apart by the look of them (module, class name, attributes): the
domain imports none of those libraries, and a function that does not use one need not load it.
"""

import errno
import struct
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from socket import EAI_AGAIN, gaierror
from typing import Any, Final

from whenthen.domain.errors import ActionTimeoutError, FatalError, RetryableError

# A chain this long is no chain of causes any more; cycles end anyway.
_CHAIN_MAX: Final = 64

# Postgres, appendix A: deadlock, serialization, admin shutdown, lock not available, query
# cancelled (statement_timeout), too many connections.
_TRANSIENT_STATES: Final = frozenset({"40P01", "40001", "57P01", "55P03", "57014", "53300"})
# Crash shutdown, cannot connect now, and read only: after a failover the old primary still answers.
_LOST_STATES: Final = frozenset({"57P02", "57P03", "25006"})
_LOST_CLASS: Final = "08"

_TRANSIENT_ERRNOS: Final = frozenset(
    {
        errno.ECONNRESET,
        errno.ETIMEDOUT,
        errno.EPIPE,
        errno.ECONNREFUSED,
        errno.EHOSTUNREACH,
        errno.ENETUNREACH,
    }
)
# Python's own classes are often raised without a number, as by http.client.RemoteDisconnected.
# TimeoutError is left out on purpose: without a number it may be anybody's timer.
_ERRNO_OF_CLASS: Final[Mapping[type[OSError], int]] = {
    ConnectionResetError: errno.ECONNRESET,
    BrokenPipeError: errno.EPIPE,
    ConnectionRefusedError: errno.ECONNREFUSED,
}

# Source: botocore/retries/standard.py, ThrottledRetryableChecker and TransientRetryableChecker.
AWS_RETRYABLE_CODES: Final = frozenset(
    {
        "BandwidthLimitExceeded",
        "EC2ThrottledException",
        "LimitExceededException",
        "PriorRequestNotComplete",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "RequestTimeout",
        "RequestTimeoutException",
        "SlowDown",
        "ThrottledException",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "TransactionInProgressException",
    }
)
# SSLError is not among them: a certificate does not become valid by waiting.
AWS_CONNECTION_ERRORS: Final = frozenset(
    {
        "ConnectTimeoutError",
        "ConnectionClosedError",
        "EndpointConnectionError",
        "ProxyConnectionError",
        "ReadTimeoutError",
    }
)


@dataclass(frozen=True, slots=True)
class Classification:
    """The verdict on one error; `retry_after_s` is the target's own wish, if it had one."""

    retryable: bool
    code: str
    retry_after_s: float | None = None


def classify_error(exc: BaseException, *, after_deadline: bool = False) -> Classification:
    """Return the verdict on `exc`, raised by a step; `after_deadline`: past its own deadline.

    The exception, then what it was raised from (`.orig`, `__cause__`, `__context__`), from the
    outside in: the first that one of the table's rows knows decides. What none of them knows is
    fatal, since an unknown error must not burn the retry budget.

    Source: docs/architecture.md, "Errors".
    """
    if after_deadline:
        # Whatever it is, it came too late, and what happened outside is unknown.
        return Classification(retryable=False, code="ACTION_TIMEOUT")
    for link in _chain(exc):
        verdict = _own(link) or _database(link) or _network(link) or _aws(link) or _mail(link)
        if verdict is not None:
            return verdict
    return Classification(retryable=False, code="UNEXPECTED")


def _chain(exc: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    waiting: deque[Any] = deque([exc])
    while waiting and len(seen) < _CHAIN_MAX:
        link = waiting.popleft()
        if not isinstance(link, BaseException) or id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        waiting += (getattr(link, "orig", None), link.__cause__)
        if not link.__suppress_context__:
            waiting.append(link.__context__)


def _own(exc: BaseException) -> Classification | None:
    match exc:
        case ActionTimeoutError() | FatalError():
            return Classification(retryable=False, code=exc.code)
        case RetryableError():
            return Classification(retryable=True, code=exc.code, retry_after_s=exc.retry_after_s)
        case _:
            return None


def _database(exc: BaseException) -> Classification | None:
    # A wrapper of SQLAlchemy is read together with what it wraps: a state says more than
    # "invalidated".
    inner = getattr(exc, "orig", None) if _is_from(exc, "sqlalchemy") else exc
    state = _sql_state(inner)
    if state in _TRANSIENT_STATES:
        return Classification(retryable=True, code=f"DB_TRANSIENT_{state}")
    if _is_from(exc, "sqlalchemy") and type(exc).__name__ == "TimeoutError":
        # The process's own pool is used up: what the server would call "too many connections".
        return Classification(retryable=True, code="DB_TRANSIENT_53300")
    if (
        state in _LOST_STATES
        or state.startswith(_LOST_CLASS)
        or getattr(exc, "connection_invalidated", False) is True
        or (_is_from(inner, "pg8000") and type(inner).__name__ == "InterfaceError")
        or (isinstance(inner, struct.error) and str(inner).startswith("unpack"))
    ):
        return Classification(retryable=True, code="DB_CONNECTION_LOST")
    return None


def _sql_state(exc: object) -> str:
    """Return the SQLSTATE that pg8000 keeps in its error's first argument under "C", or ""."""
    if _is_from(exc, "pg8000") and isinstance(exc, BaseException) and exc.args:
        fields = exc.args[0]
        if isinstance(fields, Mapping):
            return str(fields.get("C", ""))
    return ""


def _network(exc: BaseException) -> Classification | None:
    if isinstance(exc, gaierror):
        # Its number is not an errno: on some systems EAI_AGAIN is the number of ENOENT.
        name = "EAI_AGAIN" if exc.errno == EAI_AGAIN else None
    else:
        name = _errno_name(exc)
    return None if name is None else Classification(retryable=True, code=f"NET_{name}")


def _errno_name(exc: BaseException) -> str | None:
    if not isinstance(exc, OSError):
        return None
    number = exc.errno
    if number is None:
        classes = (n for cls, n in _ERRNO_OF_CLASS.items() if isinstance(exc, cls))
        number = next(classes, None)
    return errno.errorcode[number] if number in _TRANSIENT_ERRNOS else None


def _aws(exc: BaseException) -> Classification | None:
    if not _is_from(exc, "botocore"):
        return None
    response = getattr(exc, "response", None)
    if isinstance(response, Mapping):
        code = str(response.get("Error", {}).get("Code", "Unknown"))
        status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if code in AWS_RETRYABLE_CODES or status == 429 or status >= 500:
            return Classification(retryable=True, code=f"AWS_{code}")
        return None
    known = (cls.__name__ for cls in type(exc).__mro__ if cls.__name__ in AWS_CONNECTION_ERRORS)
    name = next(known, None)
    return None if name is None else Classification(retryable=True, code=f"AWS_{name}")


def _mail(exc: BaseException) -> Classification | None:
    codes = _smtp_codes(exc) if _is_from(exc, "smtplib") else ()
    if codes and all(400 <= code < 500 for code in codes):
        return Classification(retryable=True, code="EMAIL_RETRIABLE")
    return None


def _smtp_codes(exc: BaseException) -> tuple[int, ...]:
    """Return the answers that the mail server gave; greylisting comes once per recipient."""
    recipients = getattr(exc, "recipients", None)
    if isinstance(recipients, Mapping):
        return tuple(code for code, _ in recipients.values())
    code = getattr(exc, "smtp_code", None)
    return (code,) if isinstance(code, int) else ()


def _is_from(exc: object, package: str) -> bool:
    return any(cls.__module__.partition(".")[0] == package for cls in type(exc).__mro__)
