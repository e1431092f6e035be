"""The front door: bodies of any kind and size, and the gateway's own refusals."""

import base64
import http.client
import json
import queue
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from devstack.errors import StackError
from devstack.http_server import BODY_MAX_BYTES, HEADERS_MAX_BYTES, HttpServer
from devstack.sandbox import Invocation


def echo(event: Any, _wait_s: float) -> Invocation:
    """Answer as the path says."""
    if event["rawPath"] == "/busy":
        raise queue.Empty
    if event["rawPath"] == "/none":
        return Invocation({"statusCode": 204, "body": ""})
    if event["rawPath"] == "/split":
        return Invocation({"statusCode": 200, "headers": {"x-a": "1\r\nx-b: 2"}, "body": "x"})
    body = event.get("body", "")
    size = len(base64.b64decode(body)) if event["isBase64Encoded"] else len(body.encode())
    return Invocation({"statusCode": 200, "body": json.dumps({"size": size, "event": event})})


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    server = HttpServer(0, echo)
    server.start()
    yield int(server.url.rsplit(":", 1)[1])
    server.stop()
    server.close()


def call(port: int, method: str, path: str, body: Any = None, **headers: str) -> Any:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, body=body, headers=headers)
        response = connection.getresponse()
        response.body = response.read()  # type: ignore[attr-defined]
        return response
    finally:
        connection.close()


@pytest.mark.parametrize("size", [0, 1, 1 << 20, BODY_MAX_BYTES])
def test_a_body_arrives_whole(port: int, size: int) -> None:
    answer = call(port, "POST", "/", b"\x00" * size)
    assert (answer.status, json.loads(answer.body)["size"]) == (200, size)


def test_a_body_above_the_gateways_limit_is_refused(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as raw:
        raw.sendall(f"POST / HTTP/1.1\r\ncontent-length: {BODY_MAX_BYTES + 1}\r\n\r\n".encode())
        assert raw.recv(100).startswith(b"HTTP/1.1 413 ")


def test_a_chunked_body_arrives_whole(port: int) -> None:
    answer = call(port, "POST", "/", iter([b"ab", b"cde"]))
    assert json.loads(answer.body)["size"] == 5


@pytest.mark.parametrize(
    "request_text",
    [
        "POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n",
        "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nnot hex\r\n",
    ],
)
def test_a_body_that_cannot_be_read_is_a_bad_request(port: int, request_text: str) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as raw:
        raw.sendall(request_text.encode())
        assert raw.recv(100).startswith(b"HTTP/1.1 400 ")


def test_headers_above_the_gateways_limit_are_refused(port: int) -> None:
    answer = call(port, "GET", "/", **{"x-long": "x" * HEADERS_MAX_BYTES})
    assert answer.status == 431


def test_a_connection_serves_one_request_after_the_other(port: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for n in range(3):
        connection.request("POST", f"/{n}", body=b"x" * n)
        assert json.loads(connection.getresponse().read())["size"] == n
    connection.close()


def test_head_has_the_length_and_no_body(port: int) -> None:
    answer = call(port, "HEAD", "/")
    assert int(answer.headers["content-length"]) > 0
    assert answer.body == b""


def test_no_content_has_neither_body_nor_length(port: int) -> None:
    answer = call(port, "DELETE", "/none")
    assert (answer.status, answer.headers["content-length"], answer.body) == (204, None, b"")


def test_a_line_break_in_an_answers_header_does_not_make_a_second_header(port: int) -> None:
    answer = call(port, "GET", "/split")
    assert (answer.headers["x-a"], answer.headers["x-b"]) == ("1  x-b: 2", None)


def test_no_free_process_within_the_gateways_patience_is_unavailable(port: int) -> None:
    assert call(port, "GET", "/busy").status == 503


def test_a_port_in_use_is_said_so(port: int) -> None:
    with pytest.raises(StackError, match=f"port {port} is not free"):
        HttpServer(port, echo)


def test_a_caller_that_hangs_up_in_a_body_reaches_no_function(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as raw:
        raw.sendall(b"POST / HTTP/1.1\r\ncontent-length: 10\r\n\r\nhalf")
        raw.shutdown(socket.SHUT_WR)
        assert raw.recv(100) == b""
