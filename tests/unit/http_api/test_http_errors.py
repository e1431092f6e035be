import errno

import pytest

from http_api.errors import MethodNotAllowedError, answer_to
from http_api.identity import bearer_token
from whenthen.domain.errors import (
    BadRequestError,
    ConflictError,
    FatalError,
    ForbiddenError,
    InvalidError,
    MediaTypeError,
    NotFoundError,
    PreconditionError,
    RequestError,
    TooLargeError,
    UnauthenticatedError,
)

STATUSES: list[tuple[RequestError, int]] = [
    (BadRequestError("BAD_JSON", "m"), 400),
    (UnauthenticatedError("UNAUTHENTICATED", "m"), 401),
    (ForbiddenError("FORBIDDEN", "m"), 403),
    (NotFoundError(), 404),
    (MethodNotAllowedError(["GET"]), 405),
    (ConflictError("ARCHIVED", "m"), 409),
    (PreconditionError("VERSION_MISMATCH", "m"), 412),
    (TooLargeError("TOO_LARGE", "m"), 413),
    (MediaTypeError("UNSUPPORTED_MEDIA_TYPE", "m"), 415),
    (InvalidError("VALIDATION_FAILED", "m"), 422),
]


@pytest.mark.parametrize(("error", "status"), STATUSES)
def test_each_refusal_has_its_status_and_code(error: RequestError, status: int) -> None:
    answer = answer_to(error)
    assert answer.status == status
    assert answer.error == {"code": error.code, "message": error.message}


def test_details_are_shown_when_there_are_some() -> None:
    details = {"reason": "no_op", "from": "ACTIVE", "to": "ACTIVE"}
    answer = answer_to(ConflictError("INVALID_TRANSITION", "m", details))
    assert answer.error["details"] == details


def test_a_401_names_the_scheme_and_a_405_the_methods() -> None:
    assert answer_to(UnauthenticatedError("UNAUTHENTICATED", "m")).headers == {
        "www-authenticate": "Bearer"
    }
    assert answer_to(MethodNotAllowedError(["GET", "PUT"])).headers == {"allow": "GET, PUT"}


def test_an_unreachable_database_is_unavailable_for_now() -> None:
    answer = answer_to(ConnectionRefusedError(errno.ECONNREFUSED, "refused"))
    assert (answer.status, answer.error["code"]) == (503, "UNAVAILABLE")
    assert answer.headers == {"retry-after": "1"}


@pytest.mark.parametrize("error", [KeyError("secret"), FatalError("X", "secret"), ValueError()])
def test_what_nobody_foresaw_is_our_fault_and_tells_nothing(error: Exception) -> None:
    answer = answer_to(error)
    assert answer.status == 500
    assert answer.error == {"code": "INTERNAL", "message": "this is our fault"}


@pytest.mark.parametrize("header", ["Bearer wt_abc", "bearer wt_abc", " BEARER   wt_abc "])
def test_a_bearer_token_is_read(header: str) -> None:
    assert bearer_token({"authorization": header}) == "wt_abc"


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Basic eA==", "wt_abc", "Bearer a b", "Bearer é", "Bearer\0x"],
)
def test_any_other_authorization_is_unauthenticated(header: str) -> None:
    with pytest.raises(UnauthenticatedError):
        bearer_token({"authorization": header})
