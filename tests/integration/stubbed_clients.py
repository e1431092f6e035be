"""Real clients of AWS whose answers are given, one client of a service for all tests."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from botocore.stub import Stubber

from whenthen.aws.clients import ActionClient, make_client


@cache
def client_of(service: str) -> Any:
    # Making one takes a third of a second.
    return make_client(service, attempts=1)


def gives(client: Any) -> ActionClient:
    """Whatever service is wanted, and however soon, it is `client`."""
    return lambda _service, _timeout_s: client


@contextmanager
def stubbed(service: str, *answers: Callable[[Stubber], None]) -> Iterator[ActionClient]:
    """A client that gives `answers` in their order, and is asked as often as there are."""
    with Stubber(client_of(service)) as stubber:
        for answer in answers:
            answer(stubber)
        yield gives(client_of(service))
        stubber.assert_no_pending_responses()
