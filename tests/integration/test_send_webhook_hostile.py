"""Targets that stall, flood, explode or break off: an end in time, little memory, nothing open."""

import errno
import gc
import gzip
import socket
import threading
import tracemalloc
import zlib
from collections.abc import Callable, Iterator

import pytest

from tests.faults.matrix_report import MEMORY_PROPERTY
from tests.integration.webhook_target import (
    Behaviour,
    Hit,
    Target,
    bomb_block,
    hang,
    repeat,
    reset,
    respond,
    send,
    took,
    wait_for,
    webhook,
)
from whenthen.actions.send_webhook import Network, perform
from whenthen.domain import json_text
from whenthen.domain.errors import ActionTimeoutError, FatalError
from whenthen.domain.rules.classify import classify_error

CAP = 16 * 1024
OK = b"HTTP/1.1 200 OK\r\n"
PLAIN = OK + b"content-type: text/plain\r\n"
# An answer of 5 GB.
HUGE = PLAIN + b"content-length: 5368709120\r\n\r\n"
GZIPPED = PLAIN + b"content-encoding: gzip\r\n\r\n"
GO_AHEAD = b"HTTP/1.1 100 Continue\r\n\r\n"
CHUNKED = PLAIN + b"transfer-encoding: chunked\r\n\r\n"

BOMB_HEAD, BOMB_BLOCK = bomb_block(10_000_000)
# Blocks that unpack to nothing at all.
EMPTY_HEAD, EMPTY_BLOCK = bomb_block(0)


@pytest.fixture
def target() -> Iterator[Target]:
    made = Target()
    threads_before = threading.active_count()
    yield made
    made.wait_until_idle()
    wait_for(lambda: threading.active_count() <= threads_before)
    made.close()


@pytest.fixture
def report_peak(
    request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> Callable[[int], None]:
    """Let the session's end tell how much memory the test has seen in use."""

    def report(peak_bytes: int) -> None:
        figures = {"target": request.node.callspec.id, "peak_bytes": peak_bytes}
        record_property(MEMORY_PROPERTY, json_text.dumps(figures))

    return report


@pytest.mark.parametrize(
    "behaviour",
    [
        pytest.param(hang, id="silent"),
        pytest.param(repeat(PLAIN + b"\r\n", b"x", 0.02), id="slow drip"),
        pytest.param(repeat(HUGE, b"x", 0.02), id="slow drip with a length"),
        pytest.param(repeat(CHUNKED, b"1\r\nx\r\n", 0.02), id="slow chunks"),
        pytest.param(repeat(OK, b"x", 0.02), id="slow header"),
        pytest.param(repeat(OK, b"x-a: b\r\n", 0.02), id="never-ending headers"),
        pytest.param(repeat(b"", b"H", 0.02), id="slow status line"),
        pytest.param(repeat(b"", GO_AHEAD, 0.02), id="slow go-aheads"),
        pytest.param(repeat(GZIPPED + EMPTY_HEAD, EMPTY_BLOCK, 0.02), id="slow nothings"),
        pytest.param(repeat(CHUNKED + b"1;", b"x", 0.02), id="slow extensions"),
    ],
)
def test_a_target_that_does_not_come_to_an_end_is_left_at_the_deadline(
    target: Target, behaviour: Behaviour
) -> None:
    with took(0.3, 60), pytest.raises(ActionTimeoutError) as caught:
        perform(webhook(target.on("/", behaviour), timeout_s=0.6))
    assert classify_error(caught.value).code == "ACTION_TIMEOUT"


def test_a_target_that_does_not_read_is_left_at_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        port = deaf.getsockname()[1]
        request = webhook(f"http://127.0.0.1:{port}/", timeout_s=0.6, body={"a": "x" * 20_000_000})
        with took(0.3, 60), pytest.raises(ActionTimeoutError):
            perform(request)


FLOODS = [
    pytest.param(repeat(PLAIN + b"\r\n", b"x" * 65_536), "x" * CAP, id="endless"),
    pytest.param(repeat(HUGE, b"x" * 65_536), "x" * CAP, id="5 GB"),
    pytest.param(repeat(CHUNKED, b"1\r\nx\r\n" * 10_000), "x" * CAP, id="small chunks"),
    pytest.param(repeat(GZIPPED + BOMB_HEAD, BOMB_BLOCK), "\0" * CAP, id="gzip bomb"),
    pytest.param(
        repeat(GZIPPED.replace(b"gzip", b"br"), BOMB_BLOCK), "", id="bomb of an unknown kind"
    ),
    pytest.param(
        repeat(GZIPPED.replace(b"gzip", b"gzip, gzip"), BOMB_BLOCK), "", id="bomb in a bomb"
    ),
    pytest.param(repeat(GZIPPED + EMPTY_HEAD, EMPTY_BLOCK * 1_000), "", id="endless nothings"),
    pytest.param(
        repeat(GZIPPED + b"\x1f\x8b\x08\x08\0\0\0\0\0\xff", b"x" * 65_536), "", id="endless name"
    ),
    pytest.param(
        repeat(GZIPPED + gzip.compress(b"ended"), b"x" * 65_536), "ended", id="more after the end"
    ),
]


@pytest.mark.parametrize(("behaviour", "kept"), FLOODS)
def test_a_flood_is_cut_and_memory_stays_flat(
    target: Target, behaviour: Behaviour, kept: str, report_peak: Callable[[int], None]
) -> None:
    request = webhook(target.on("/", behaviour), timeout_s=60)
    perform(webhook(target.on("/warm-up", respond(200))))
    gc.collect()
    tracemalloc.start()
    try:
        output = perform(request).output
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert output["body"] == kept
    assert output["bodyTruncated"] is (kept != "ended")
    # The answers' server runs in this process too; what it sends was made before.
    assert peak_bytes < 1_000_000
    report_peak(peak_bytes)


@pytest.mark.parametrize(
    "behaviour",
    [
        pytest.param(repeat(OK, b"x-a: " + b"b" * 8_000 + b"\r\n"), id="headers"),
        pytest.param(repeat(OK, b"x" * 65_536), id="one header"),
        pytest.param(repeat(b"", b"x" * 65_536), id="status line"),
        pytest.param(repeat(b"", GO_AHEAD * 1_000), id="go-aheads"),
    ],
)
def test_what_comes_before_an_answer_is_refused_once_it_is_too_much(
    target: Target, behaviour: Behaviour, report_peak: Callable[[int], None]
) -> None:
    url = target.on("/", behaviour)
    gc.collect()
    tracemalloc.start()
    try:
        with pytest.raises(FatalError, match="did not answer in valid HTTP"):
            perform(webhook(url))
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 1_000_000
    report_peak(peak_bytes)


# ----------------------------------------------------------------------------- compressed


@pytest.mark.parametrize(
    ("coding", "packed"),
    [
        ("gzip", gzip.compress(b'{"a":1}')),
        ("x-gzip", gzip.compress(b'{"a":1}')),
        ("GZip ", gzip.compress(b'{"a":1}')),
        ("deflate", zlib.compress(b'{"a":1}')),
        ("identity", b'{"a":1}'),
    ],
    ids=["gzip", "x-gzip", "GZip", "deflate", "identity"],
)
def test_a_compressed_answer_is_unpacked_though_nobody_asked_for_it(
    target: Target, coding: str, packed: bytes
) -> None:
    answer = respond(200, packed, content_encoding=coding, content_type="application/json")
    output = perform(webhook(target.on("/", answer))).output
    assert (output["body"], output["bodyTruncated"]) == ({"a": 1}, False)


@pytest.mark.parametrize(("size", "truncated"), [(CAP, False), (CAP + 1, True)])
def test_the_cap_counts_what_is_unpacked(target: Target, size: int, *, truncated: bool) -> None:
    answer = respond(200, gzip.compress(b"x" * size), content_encoding="gzip")
    output = perform(webhook(target.on("/", answer))).output
    assert (output["body"], output["bodyTruncated"]) == ("x" * CAP, truncated)


@pytest.mark.parametrize(
    ("packed", "body", "truncated"),
    [
        (b"", "", False),
        (b"not gzip", "", True),
        (gzip.compress(b"x" * 100)[:-4], "x" * 100, True),
        # A wrong checksum: nothing is kept of the piece in which it shows.
        (gzip.compress(b"x" * 100)[:-8] + b"\0" * 8, "", True),
    ],
    ids=["nothing", "not gzip", "broken off", "wrong checksum"],
)
def test_a_damaged_body_is_cut_where_the_damage_is(
    target: Target, packed: bytes, body: str, *, truncated: bool
) -> None:
    answer = respond(200, packed, content_encoding="gzip", content_type="text/plain")
    output = perform(webhook(target.on("/", answer))).output
    assert (output["body"], output["bodyTruncated"]) == (body, truncated)


# ------------------------------------------------------------------------------ breaking off


def after_a_while(said: bytes) -> Behaviour:
    """Say it, and break off once it is read: a reset discards what is still on its way."""

    def behave(connection: socket.socket, hit: Hit) -> None:
        connection.sendall(said)
        threading.Event().wait(0.2)
        reset(connection, hit)

    return behave


def end_of(url: str, network: Network | None = None, timeout_s: float = 60) -> tuple[bool, str]:
    """Return how the engine classifies what the target does."""
    with pytest.raises(Exception) as caught:  # noqa: PT011  # whatever it is, it is classified
        perform(webhook(url, timeout_s=timeout_s, body={"a": "b"}), network or Network())
    verdict = classify_error(caught.value)
    return verdict.retryable, verdict.code


@pytest.mark.parametrize("behaviour", [reset, after_a_while(OK)], ids=["silent", "headers"])
def test_a_connection_reset_before_the_answer_is_worth_another_try(
    target: Target, behaviour: Behaviour
) -> None:
    assert end_of(target.on("/", behaviour)) == (True, "NET_ECONNRESET")


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 2", OK])
def test_a_connection_closed_before_the_answer_is_the_end(target: Target, said: bytes) -> None:
    assert end_of(target.on("/", send(said))) == (False, "UNEXPECTED")


@pytest.mark.parametrize(
    "behaviour",
    [
        send(PLAIN + b"content-length: 100\r\n\r\nhello"),
        send(CHUNKED + b"5\r\nhello\r\n"),
        send(CHUNKED + b"5\r\nhello\r\nnot a length\r\n"),
        after_a_while(PLAIN + b"content-length: 100\r\n\r\nhello"),
    ],
    ids=["too short", "no last chunk", "bad chunk", "reset"],
)
def test_a_success_whose_body_breaks_off_is_a_success_and_not_sent_again(
    target: Target, behaviour: Behaviour
) -> None:
    output = perform(webhook(target.on("/", behaviour))).output
    assert (output["status"], output["body"], output["bodyTruncated"]) == (200, "hello", True)


def test_the_body_of_a_refusal_is_not_waited_for(target: Target) -> None:
    url = target.on("/", repeat(b"HTTP/1.1 503 Busy\r\n\r\n", b"x", 0.02))
    with took(0, 60):
        assert end_of(url, timeout_s=90) == (True, "WEBHOOK_HTTP_RETRIABLE")


class Unheard(socket.socket):
    """Sends the headers; the body breaks the pipe, as when the other side has hung up."""

    sends = 0

    def send(self, data: object, flags: int = 0) -> int:
        self.sends += 1
        if self.sends > 1:
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")
        return super().send(data, flags)  # type: ignore[arg-type]


class Unreached(socket.socket):
    """Reports, as the system does, that nothing has come back for too long."""

    def recv(self, *_: object) -> bytes:
        raise TimeoutError(errno.ETIMEDOUT, "Connection timed out")


def dialling(kind: type[socket.socket]) -> Network:
    """Connect with sockets of `kind`."""

    def dial(address: str, port: int, timeout_s: float) -> socket.socket:
        connection = kind(socket.AF_INET, socket.SOCK_STREAM)
        connection.settimeout(timeout_s)
        connection.connect((address, port))
        return connection

    return Network(dial=dial)


@pytest.mark.parametrize(
    ("behaviour", "end"),
    [
        (respond(413), (False, "WEBHOOK_HTTP_ERROR")),
        (respond(503), (True, "WEBHOOK_HTTP_RETRIABLE")),
        (send(b""), (True, "NET_EPIPE")),
    ],
    ids=["413", "503", "nothing"],
)
def test_what_a_target_says_before_it_has_read_everything_counts(
    target: Target, behaviour: Behaviour, end: tuple[bool, str]
) -> None:
    target.reads_bodies = False
    assert end_of(target.on("/", behaviour), dialling(Unheard)) == end


def test_a_timeout_that_the_network_reports_is_worth_another_try(target: Target) -> None:
    assert end_of(target.on("/", hang), dialling(Unreached)) == (True, "NET_ETIMEDOUT")
