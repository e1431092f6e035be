"""Which errors are worth another try, told by the real exceptions of the real libraries."""

import errno
import http.client
import smtplib
import socket
import struct
from typing import Any

import botocore.exceptions
import httpcore
import httpx
import pg8000.exceptions
import pytest
import sqlalchemy.exc
from botocore.retries.standard import ThrottledRetryableChecker, TransientRetryableChecker

from whenthen.domain.errors import ActionTimeoutError, FatalError, RetryableError
from whenthen.domain.rules.classify import AWS_RETRYABLE_CODES, Classification, classify_error

UNEXPECTED = Classification(retryable=False, code="UNEXPECTED")
TIMED_OUT = Classification(retryable=False, code="ACTION_TIMEOUT")
LOST = Classification(retryable=True, code="DB_CONNECTION_LOST")
MAIL = Classification(retryable=True, code="EMAIL_RETRIABLE")


def retryable(code: str) -> Classification:
    return Classification(retryable=True, code=code)


def pg_error(state: str) -> Exception:
    fields = {"S": "ERROR", "V": "ERROR", "C": state, "M": "words of the server"}
    return pg8000.exceptions.DatabaseError(fields)  # type: ignore[no-any-return]


def wrapped(orig: Exception, *, invalidated: bool = False) -> Exception:
    """Return what SQLAlchemy raises for an error of its driver."""
    error = sqlalchemy.exc.DBAPIError("select 1", {}, orig, connection_invalidated=invalidated)
    error.__cause__ = orig
    return error


def aws_error(code: str | None, status: int | None) -> Exception:
    response: dict[str, Any] = {}
    if code is not None:
        response["Error"] = {"Code": code, "Message": "words of AWS"}
    if status is not None:
        response["ResponseMetadata"] = {"HTTPStatusCode": status}
    return botocore.exceptions.ClientError(response, "PutRecords")  # type: ignore[arg-type]


def caused(outer: Exception, *inner: Exception) -> Exception:
    """Return `outer`, raised from the first of `inner`, which was raised from the next."""
    link = outer
    for cause in inner:
        link.__cause__ = cause
        link = cause
    return outer


# ---- past the deadline


@pytest.mark.parametrize(
    "exc",
    [
        ValueError("x"),
        FatalError("NOT_FOUND", "no such record"),
        RetryableError("WEBHOOK_HTTP_RETRIABLE", "answered 503"),
        pg_error("57014"),
        ConnectionResetError(errno.ECONNRESET, "reset"),
        KeyboardInterrupt(),
    ],
    ids=repr,
)
def test_whatever_comes_after_the_deadline_is_a_timeout(exc: BaseException) -> None:
    assert classify_error(exc, after_deadline=True) == TIMED_OUT


def test_a_cancelled_statement_before_the_deadline_is_transient() -> None:
    assert classify_error(pg_error("57014")) == retryable("DB_TRANSIENT_57014")


# ---- the engine's own


def test_the_race_around_a_step_ends_in_a_timeout() -> None:
    assert classify_error(ActionTimeoutError("30 s are over")) == TIMED_OUT


def test_a_fatal_error_keeps_its_code() -> None:
    expected = Classification(retryable=False, code="NOT_FOUND")
    assert classify_error(FatalError("NOT_FOUND", "no such record")) == expected


def test_a_retryable_error_keeps_its_code_and_the_wish_of_its_target() -> None:
    exc = RetryableError("WEBHOOK_HTTP_RETRIABLE", "answered 503", 30.0)
    assert classify_error(exc) == Classification(
        retryable=True, code="WEBHOOK_HTTP_RETRIABLE", retry_after_s=30.0
    )


def test_a_fatal_error_stops_the_walk_before_what_caused_it() -> None:
    exc = caused(FatalError("AI_REJECTED", "refused"), aws_error("ThrottlingException", 429))
    assert classify_error(exc).code == "AI_REJECTED"
    assert not classify_error(exc).retryable


@pytest.mark.parametrize(
    ("inner", "code"),
    [
        (FatalError("NOT_FOUND", "no"), "NOT_FOUND"),
        (RetryableError("X", "y"), "X"),
        (ActionTimeoutError("late"), "ACTION_TIMEOUT"),
    ],
    ids=repr,
)
def test_an_own_error_inside_a_strange_one_decides(inner: Exception, code: str) -> None:
    assert classify_error(caused(ValueError("outer"), inner)).code == code


def test_the_outer_of_two_own_errors_decides() -> None:
    exc = caused(RetryableError("OUTER", "x"), FatalError("INNER", "y"))
    assert classify_error(exc) == retryable("OUTER")


# ---- database


@pytest.mark.parametrize("state", ["40P01", "40001", "57P01", "55P03", "57014", "53300"])
def test_case_122_a_transient_state_is_named_bare_and_wrapped(state: str) -> None:
    expected = retryable(f"DB_TRANSIENT_{state}")
    assert classify_error(pg_error(state)) == expected
    assert classify_error(wrapped(pg_error(state))) == expected
    assert classify_error(wrapped(pg_error(state), invalidated=True)) == expected


@pytest.mark.parametrize("state", ["08000", "08003", "08006", "08P01", "57P02", "57P03", "25006"])
def test_a_state_that_tells_of_a_lost_connection_is_that(state: str) -> None:
    assert classify_error(pg_error(state)) == LOST
    assert classify_error(wrapped(pg_error(state))) == LOST


@pytest.mark.parametrize("state", ["23505", "42P01", "22P02", "57P04", "53200", "40002", "25P02"])
def test_any_other_state_is_unexpected(state: str) -> None:
    assert classify_error(wrapped(pg_error(state))) == UNEXPECTED


@pytest.mark.parametrize(
    "exc",
    [
        pg8000.exceptions.InterfaceError("network error"),
        wrapped(pg8000.exceptions.InterfaceError("connection is closed")),
        wrapped(pg8000.exceptions.DatabaseError("no fields"), invalidated=True),
        sqlalchemy.exc.InterfaceError("s", {}, pg8000.exceptions.InterfaceError("network error")),
        caused(ValueError("outer"), pg8000.exceptions.InterfaceError("network error")),
        caused(pg8000.exceptions.InterfaceError("can't connect"), ConnectionRefusedError(111, "x")),
    ],
    ids=repr,
)
def test_case_121_an_interface_error_is_a_lost_connection(exc: Exception) -> None:
    assert classify_error(exc) == LOST


def test_case_121_an_answer_cut_short_is_a_lost_connection() -> None:
    with pytest.raises(struct.error) as caught:
        struct.unpack("!ci", b"")
    assert classify_error(caught.value) == LOST


def test_a_message_that_cannot_be_packed_is_a_fault_of_ours() -> None:
    with pytest.raises(struct.error) as caught:
        struct.pack("!H", 70_000)
    assert classify_error(caught.value) == UNEXPECTED


def test_case_121_a_broken_pipe_is_retryable() -> None:
    assert classify_error(BrokenPipeError(errno.EPIPE, "broken pipe")) == retryable("NET_EPIPE")


@pytest.mark.parametrize(
    "exc",
    [
        pg8000.exceptions.DatabaseError(),
        pg8000.exceptions.DatabaseError("text"),
        pg8000.exceptions.DatabaseError({"S": "ERROR"}),
        sqlalchemy.exc.ResourceClosedError("closed"),
        ValueError({"C": "40P01"}),
    ],
    ids=repr,
)
def test_an_error_without_a_state_of_postgres_has_none(exc: Exception) -> None:
    assert classify_error(exc) == UNEXPECTED


# ---- network


@pytest.mark.parametrize(
    "name", ["ECONNRESET", "ETIMEDOUT", "EPIPE", "ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH"]
)
def test_a_transient_errno_is_named(name: str) -> None:
    assert classify_error(OSError(getattr(errno, name), "x")) == retryable(f"NET_{name}")


@pytest.mark.parametrize("name", ["ECONNABORTED", "ENOENT", "EACCES", "EMFILE", "ENOSPC"])
def test_any_other_errno_is_unexpected(name: str) -> None:
    assert classify_error(OSError(getattr(errno, name), "x")) == UNEXPECTED


@pytest.mark.parametrize(
    ("exc", "name"),
    [
        (ConnectionResetError(), "ECONNRESET"),
        (http.client.RemoteDisconnected("no answer"), "ECONNRESET"),
        (BrokenPipeError(), "EPIPE"),
        (ConnectionRefusedError(), "ECONNREFUSED"),
    ],
    ids=repr,
)
def test_a_class_that_stands_for_an_errno_is_as_good_as_its_number(
    exc: Exception, name: str
) -> None:
    assert classify_error(exc) == retryable(f"NET_{name}")


@pytest.mark.parametrize("exc", [TimeoutError(), TimeoutError("timed out"), OSError("x")], ids=repr)
def test_a_timeout_without_errno_is_unexpected(exc: Exception) -> None:
    assert classify_error(exc) == UNEXPECTED


def test_a_name_server_that_says_try_again_is_tried_again() -> None:
    exc = socket.gaierror(socket.EAI_AGAIN, "temporary failure in name resolution")
    assert classify_error(exc) == retryable("NET_EAI_AGAIN")


@pytest.mark.parametrize("number", [socket.EAI_NONAME, errno.ECONNRESET])
def test_any_other_answer_of_the_name_server_is_unexpected(number: int) -> None:
    assert classify_error(socket.gaierror(number, "x")) == UNEXPECTED


def test_an_errno_below_the_transport_errors_of_httpx_wins() -> None:
    exc = caused(
        httpx.ConnectError("x"),
        httpcore.ConnectError("x"),
        ConnectionRefusedError(errno.ECONNREFUSED, "refused"),
    )
    assert classify_error(exc) == retryable("NET_ECONNREFUSED")


def test_a_connection_that_the_kernel_gave_up_has_an_errno() -> None:
    exc = caused(httpx.ConnectTimeout("x"), TimeoutError(errno.ETIMEDOUT, "timed out"))
    assert classify_error(exc) == retryable("NET_ETIMEDOUT")


@pytest.mark.parametrize(
    "exc",
    [
        caused(httpx.ConnectTimeout("x"), httpcore.ConnectTimeout("x"), TimeoutError("timed out")),
        httpx.ReadTimeout("x"),
        httpx.PoolTimeout("x"),
        httpx.RemoteProtocolError("x"),
    ],
    ids=repr,
)
def test_a_transport_error_of_httpx_without_errno_is_unexpected(exc: Exception) -> None:
    assert classify_error(exc) == UNEXPECTED


# ---- AWS and mail


def test_the_codes_of_aws_are_those_that_its_own_client_retries() -> None:
    botocores = {
        *ThrottledRetryableChecker()._throttled_error_codes,  # type: ignore[attr-defined]
        *TransientRetryableChecker()._transient_error_codes,  # type: ignore[attr-defined]
    }
    assert botocores == AWS_RETRYABLE_CODES


@pytest.mark.parametrize(
    ("code", "status", "expected"),
    [
        ("ThrottlingException", 400, "AWS_ThrottlingException"),
        (
            "ProvisionedThroughputExceededException",
            400,
            "AWS_ProvisionedThroughputExceededException",
        ),
        ("ModelNotReadyException", 429, "AWS_ModelNotReadyException"),
        ("InternalFailure", 500, "AWS_InternalFailure"),
        ("ServiceUnavailable", 503, "AWS_ServiceUnavailable"),
        (None, 502, "AWS_Unknown"),
        ("SlowDown", None, "AWS_SlowDown"),
    ],
)
def test_throttling_and_faults_of_aws_are_retryable(
    code: str | None, status: int | None, expected: str
) -> None:
    assert classify_error(aws_error(code, status)) == retryable(expected)


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("AccessDeniedException", 400),
        ("ValidationException", 400),
        ("NoSuchKey", 404),
        ("RequestEntityTooLarge", 428),
        ("Forbidden", 430),
        ("Odd", 499),
        (None, None),
    ],
)
def test_a_refusal_of_aws_is_unexpected(code: str | None, status: int | None) -> None:
    assert classify_error(aws_error(code, status)) == UNEXPECTED


URL = "https://sqs.eu-central-1.amazonaws.com"


@pytest.mark.parametrize(
    ("exc", "code"),
    [
        (
            botocore.exceptions.EndpointConnectionError(endpoint_url=URL),
            "AWS_EndpointConnectionError",
        ),
        (botocore.exceptions.ConnectTimeoutError(endpoint_url=URL), "AWS_ConnectTimeoutError"),
        (botocore.exceptions.ReadTimeoutError(endpoint_url=URL), "AWS_ReadTimeoutError"),
        (botocore.exceptions.ConnectionClosedError(endpoint_url=URL), "AWS_ConnectionClosedError"),
        (botocore.exceptions.ProxyConnectionError(proxy_url=URL), "AWS_ProxyConnectionError"),
    ],
)
def test_a_connection_to_aws_that_fails_is_retryable(exc: Exception, code: str) -> None:
    assert classify_error(exc) == retryable(code)


@pytest.mark.parametrize(
    "exc",
    [
        botocore.exceptions.NoCredentialsError(),
        botocore.exceptions.SSLError(endpoint_url=URL, error=ValueError("x")),
    ],
    ids=repr,
)
def test_a_client_that_is_not_set_up_is_unexpected(exc: Exception) -> None:
    assert classify_error(exc) == UNEXPECTED


def test_a_class_of_the_same_name_from_elsewhere_is_not_of_aws() -> None:
    class EndpointConnectionError(Exception):
        response = {"Error": {"Code": "Throttling"}}  # noqa: RUF012 - as botocore has it

    assert classify_error(EndpointConnectionError()) == UNEXPECTED


@pytest.mark.parametrize(
    ("code", "expected"),
    [(399, UNEXPECTED), (400, MAIL), (421, MAIL), (450, MAIL), (499, MAIL), (500, UNEXPECTED)],
)
def test_an_answer_of_the_mail_server_is_retryable_from_400_to_499(
    code: int, expected: Classification
) -> None:
    assert classify_error(smtplib.SMTPResponseException(code, "x")) == expected
    assert classify_error(smtplib.SMTPRecipientsRefused({"a@b": (code, b"x")})) == expected


@pytest.mark.parametrize(
    "exc",
    [
        smtplib.SMTPRecipientsRefused({"a@b": (450, b"later"), "c@d": (550, b"no")}),
        smtplib.SMTPRecipientsRefused({}),
        smtplib.SMTPServerDisconnected("x"),
        smtplib.SMTPAuthenticationError(535, b"no"),
    ],
    ids=repr,
)
def test_a_refusal_of_the_mail_server_is_unexpected(exc: Exception) -> None:
    assert classify_error(exc) == UNEXPECTED


# ---- the chain


@pytest.mark.parametrize(
    "exc", [ValueError("x"), KeyError("Status"), MemoryError(), SystemExit(1)], ids=repr
)
def test_an_unknown_error_does_not_burn_the_retry_budget(exc: BaseException) -> None:
    assert classify_error(exc) == UNEXPECTED


def fail_while_handling(*, hide: bool) -> None:
    try:
        reset()
    except ConnectionResetError:
        if hide:
            raise KeyError("absent") from None
        raise KeyError("absent")  # noqa: B904 - the missing `from` is what the test is about


def reset() -> None:
    raise ConnectionResetError(errno.ECONNRESET, "reset")


def test_an_error_raised_while_another_was_handled_leads_to_that() -> None:
    with pytest.raises(KeyError) as caught:
        fail_while_handling(hide=False)
    assert classify_error(caught.value) == retryable("NET_ECONNRESET")


def test_an_error_that_was_raised_from_none_leads_nowhere() -> None:
    with pytest.raises(KeyError) as caught:
        fail_while_handling(hide=True)
    assert classify_error(caught.value) == UNEXPECTED


def test_the_outermost_error_that_is_known_decides() -> None:
    exc = caused(ValueError("x"), pg_error("40001"), ConnectionResetError(errno.ECONNRESET, "x"))
    assert classify_error(exc) == retryable("DB_TRANSIENT_40001")


def test_a_circle_of_causes_ends() -> None:
    first, second = ValueError("a"), ValueError("b")
    first.__cause__, second.__cause__ = second, first
    second.__context__ = first
    assert classify_error(first) == UNEXPECTED


@pytest.mark.parametrize(("length", "code"), [(62, "NET_EPIPE"), (63, "UNEXPECTED")])
def test_a_chain_is_walked_64_links_deep(length: int, code: str) -> None:
    middle = [ValueError(str(number)) for number in range(length)]
    exc = caused(ValueError("outer"), *middle, OSError(errno.EPIPE, "x"))
    assert classify_error(exc).code == code


def test_an_orig_that_is_no_exception_is_passed_over() -> None:
    exc = ValueError("x")
    exc.orig = "text"  # type: ignore[attr-defined]
    assert classify_error(exc) == UNEXPECTED


def test_a_pool_that_is_used_up_is_as_retryable_as_a_server_that_is_full() -> None:
    error = sqlalchemy.exc.TimeoutError("QueuePool limit of size 5 reached")
    assert classify_error(error) == Classification(retryable=True, code="DB_TRANSIENT_53300")
