"""Requests become API Gateway's events, and answers become responses."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from devstack.gateway_event import Request, gateway_event, http_response
from devstack.sandbox import Invocation

GOLDEN = Path(__file__).parents[3] / "events" / "http_create_automation.json"


def event_of(
    target: str = "/a",
    headers: list[tuple[str, str]] | None = None,
    body: bytes = b"",
    method: str = "GET",
) -> dict[str, Any]:
    return gateway_event(Request(method, target, headers or [], body, "192.0.2.1"))


def test_an_event_has_the_shape_of_the_golden_one() -> None:
    golden = json.loads(GOLDEN.read_text("utf-8"))
    made = event_of(
        golden["rawPath"],
        [(name.title(), value) for name, value in golden["headers"].items()],
        golden["body"].encode(),
        "POST",
    )
    for part in (golden, made):
        for name in ("requestId", "time", "timeEpoch", "apiId"):
            part["requestContext"].pop(name)
    assert made == golden


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        ("/", "/", ""),
        ("/a%2Fb%20c?x=%20y", "/a/b c", "x=%20y"),
        ("/a?b?c", "/a", "b?c"),
        ("/a?", "/a", ""),
    ],
)
def test_the_path_is_decoded_and_the_query_is_not(target: str, path: str, query: str) -> None:
    event = event_of(target)
    assert (event["rawPath"], event["rawQueryString"]) == (path, query)
    assert event["requestContext"]["http"]["path"] == path


def test_the_route_key_is_the_template_and_never_the_path() -> None:
    assert event_of("/")["routeKey"] == "ANY /"
    assert event_of("/webhooks/incoming/secret")["routeKey"] == "ANY /{proxy+}"


def test_repeated_headers_and_parameters_are_joined_and_names_are_lower_case() -> None:
    event = event_of("/a?x=1&x=2&y=", [("X-Tag", "one"), ("x-tag", "two"), ("ACCEPT", "*/*")])
    assert event["headers"] == {"x-tag": "one,two", "accept": "*/*"}
    assert event["queryStringParameters"] == {"x": "1,2", "y": ""}


def test_cookies_have_a_list_of_their_own() -> None:
    event = event_of(headers=[("Cookie", "a=1; b=2"), ("Cookie", "c=3")])
    assert event["cookies"] == ["a=1", "b=2", "c=3"]
    assert "cookie" not in event["headers"]


@pytest.mark.parametrize(
    ("content_type", "body", "encoded"),
    [
        ("application/json", b'{"a":1}', False),
        ("Application/JSON; charset=utf-8", '"é"'.encode(), False),
        ("text/plain", b"x", False),
        ("application/json", b"\xff\xfe", True),
        ("application/x-www-form-urlencoded", b"a=1", True),
        ("application/octet-stream", b"\x00", True),
        ("", b"x", True),
    ],
)
def test_only_text_travels_as_text(content_type: str, body: bytes, *, encoded: bool) -> None:
    event = event_of(headers=[("content-type", content_type)], body=body, method="POST")
    assert event["isBase64Encoded"] is encoded
    sent = base64.b64decode(event["body"]) if encoded else event["body"].encode()
    assert sent == body


@pytest.mark.parametrize(
    ("invocation", "status", "body"),
    [
        (Invocation({"statusCode": 201, "body": "x"}), 201, b"x"),
        (Invocation({"statusCode": "204"}), 204, b""),
        (Invocation({"statusCode": 200, "body": "AAE=", "isBase64Encoded": True}), 200, b"\0\x01"),
        (Invocation({"hello": 1}), 200, b'{"hello": 1}'),
        (Invocation("text"), 200, b"text"),
        (Invocation({"statusCode": "x"}), 500, b'{"message": "Internal Server Error"}'),
        (Invocation({"statusCode": 200, "body": 5}), 500, b'{"message": "Internal Server Error"}'),
        (
            Invocation(error={"errorType": "KeyError"}),
            500,
            b'{"message": "Internal Server Error"}',
        ),
        (
            Invocation(error={"errorType": "Sandbox.Timedout"}),
            503,
            b'{"message": "Service Unavailable"}',
        ),
    ],
)
def test_an_answer_becomes_a_response(invocation: Invocation, status: int, body: bytes) -> None:
    response = http_response(invocation)
    assert (response.status, response.body) == (status, body)


def test_headers_and_cookies_of_an_answer_are_kept() -> None:
    response = http_response(
        Invocation({"statusCode": 200, "headers": {"X-A": 1}, "cookies": ["a=1", "b=2"]})
    )
    assert response.headers == [
        ("x-a", "1"),
        ("set-cookie", "a=1"),
        ("set-cookie", "b=2"),
        ("content-type", "text/plain;charset=UTF-8"),
    ]
