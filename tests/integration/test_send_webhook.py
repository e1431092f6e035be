"""What a webhook says, and what is made of its answer."""

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from tests.integration.webhook_target import Hit, Target, echo, respond, send, webhook
from whenthen.actions.send_webhook import perform
from whenthen.domain.errors import FatalError, RetryableError


@pytest.fixture
def target() -> Iterator[Target]:
    made = Target()
    yield made
    made.wait_until_idle()
    made.close()


def sent(target: Target, **config: Any) -> Hit:
    """Send a webhook to an echo, and return what arrived."""
    perform(webhook(target.on("/echo", echo), **config))
    return target.hits[-1]


# ---------------------------------------------------------------------------------- request


def test_a_webhook_is_a_post_with_json_and_its_identity(target: Target) -> None:
    request = webhook(target.on("/hook", echo), body={"name": "é", "n": 1})
    before = int(datetime.now(UTC).timestamp())
    perform(request)
    (hit,) = target.hits
    timestamp = hit.headers["webhook-timestamp"]
    assert before <= int(timestamp) <= before + 5
    message = f"msg_{request.run_id}_0_{request.action_id}"
    assert (hit.method, hit.target, hit.body) == ("POST", "/hook", '{"name":"é","n":1}'.encode())
    assert hit.headers == {
        "accept": "*/*",
        "accept-encoding": "identity",
        "user-agent": "whenthen",
        "content-type": "application/json",
        "content-length": str(len(hit.body)),
        "host": f"127.0.0.1:{target.port}",
        "connection": "close",
        "webhook-id": message,
        "webhook-timestamp": timestamp,
        "idempotency-key": message,
    }


@pytest.mark.parametrize(
    ("body", "arrived", "content_type"),
    [
        ({"a": None, "b": []}, '{"a":null,"b":[]}', "application/json"),
        ([1, "x"], '[1,"x"]', "application/json"),
        ([], "[]", "application/json"),
        (0, "0", "application/json"),
        (False, "false", "application/json"),
        (Decimal("1.10"), "1.10", "application/json"),
        (8202522731445525542, "8202522731445525542", "application/json"),
        ({'"': "\n\u2028"}, '{"\\"":"\\n\u2028"}', "application/json"),
        ("plain é", "plain é", "text/plain; charset=utf-8"),
        ("", "", "text/plain; charset=utf-8"),
    ],
)
def test_case_075_a_body_goes_out_as_its_json_and_text_as_it_is(
    target: Target, body: Any, arrived: str, content_type: str
) -> None:
    hit = sent(target, body=body)
    assert (hit.body.decode(), hit.headers["content-type"]) == (arrived, content_type)


@pytest.mark.parametrize(
    ("method", "length"),
    [("POST", "0"), ("PUT", "0"), ("PATCH", "0"), ("GET", None), ("DELETE", None)],
)
def test_without_a_body_there_is_none_and_methods_made_for_one_say_so(
    target: Target, method: str, length: str | None
) -> None:
    hit = sent(target, method=method)
    assert (hit.method, hit.body, hit.headers.get("content-length")) == (method, b"", length)
    assert "content-type" not in hit.headers


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_a_body_goes_with_every_method(target: Target, method: str) -> None:
    assert sent(target, method=method, body={"a": 1}).body == b'{"a":1}'


def test_the_actions_own_headers_take_the_place_of_ours(target: Target) -> None:
    hit = sent(
        target,
        body="a=b",
        headers={
            "Content-Type": "application/x-www-form-urlencoded",
            "User-Agent": "me",
            "AUTHORIZATION": "Bearer x",
            "X-Umlaut": " ü\tx ",
        },
    )
    assert hit.headers["content-type"] == "application/x-www-form-urlencoded"
    assert hit.headers["user-agent"] == "me"
    assert hit.headers["authorization"] == "Bearer x"
    assert hit.headers["x-umlaut"] == "ü\tx"


def test_a_filled_in_header_may_be_any_value(target: Target) -> None:
    request = webhook(target.on("/echo", echo), headers={"x-a": "?"})
    config = {**request.config, "headers": {"x-a": 1, "x-b": None, "x-c": ["ü"], "x-d": True}}
    perform(replace(request, config=config))
    found = {name: target.hits[0].headers[name] for name in config["headers"]}
    assert found == {"x-a": "1", "x-b": "", "x-c": '["ü"]', "x-d": "true"}


@pytest.mark.parametrize("char", ["\r", "\n", "\r\nx-evil: 1\r\n", "\0", "\x1b", "\x7f"])
def test_a_filled_in_header_cannot_begin_another_one(target: Target, char: str) -> None:
    request = webhook(target.on("/echo", echo), headers={"x-a": "?"})
    config = {**request.config, "headers": {"x-a": f"a{char}b"}}
    with pytest.raises(FatalError, match=r"^headers.x-a: has a character") as caught:
        perform(replace(request, config=config))
    assert caught.value.code == "ACTION_CONFIG_INVALID"
    assert target.accepted == 0


@pytest.mark.parametrize(
    ("secret", "key"),
    [
        ("whsec_" + base64.b64encode(b"k" * 32).decode(), b"k" * 32),
        ("a text of my own", b"a text of my own"),
        ("whsec_?", b"whsec_?"),
    ],
)
@pytest.mark.parametrize("body", [{"a": "é"}, "text", None])
def test_a_signed_webhook_verifies_on_the_exact_bytes(
    target: Target, secret: str, key: bytes, body: Any
) -> None:
    hit = sent(target, body=body, signingSecret=secret)
    identity = f"{hit.headers['webhook-id']}.{hit.headers['webhook-timestamp']}."
    digest = hmac.new(key, identity.encode() + hit.body, hashlib.sha256).digest()
    assert hit.headers["webhook-signature"] == f"v1,{base64.b64encode(digest).decode()}"


@pytest.mark.parametrize(
    "secret",
    [
        "whsec_" + base64.b64encode(b"k" * 24).decode(),
        "whsec_" + base64.b64encode(b"k" * 25).decode().rstrip("="),
    ],
)
def test_the_reference_library_accepts_a_signed_webhook(target: Target, secret: str) -> None:
    hit = sent(target, body={"a": "é", "n": [1.5, None]}, signingSecret=secret)
    assert Webhook(secret).verify(hit.body, dict(hit.headers)) == {"a": "é", "n": [1.5, None]}
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(hit.body + b" ", dict(hit.headers))


def test_without_a_signing_secret_there_is_no_signature(target: Target) -> None:
    assert "webhook-signature" not in sent(target).headers


@pytest.mark.parametrize("value", [None, ""])
def test_a_signing_secret_without_a_value_sends_nothing(target: Target, value: Any) -> None:
    request = webhook(target.on("/echo", echo), signingSecret="{{trigger.none}}")
    config = {**request.config, "signingSecret": value}
    with pytest.raises(FatalError) as caught:
        perform(replace(request, config=config))
    assert caught.value.code == "TEMPLATE_MISSING"
    assert target.accepted == 0


def test_path_and_query_arrive_escaped(target: Target) -> None:
    target.on("/a%20b/%C3%A9", echo)
    perform(webhook(f"{target.url}/a b/é?q=x y&r[]=%2F#gone"))
    assert target.hits[0].target == "/a%20b/%C3%A9?q=x%20y&r[]=%2F"


# ----------------------------------------------------------------------------------- answer


def test_an_answer_is_shown_with_its_status_headers_and_json(target: Target) -> None:
    url = target.on(
        "/ok",
        respond(
            201,
            '{"ok":true,"amount":1.10,"id":9007199254740993}',
            content_type="application/json",
            x_request_id="r-1",
            location="/things/1",
            retry_after="7",
            set_cookie="a=b",
            server="nginx",
        ),
    )
    output = dict(perform(webhook(url)).output)
    assert isinstance(output.pop("ms"), int)
    assert output == {
        "status": 201,
        "headers": {
            "content-type": "application/json",
            "retry-after": "7",
            "location": "/things/1",
            "x-request-id": "r-1",
        },
        "body": {"ok": True, "amount": Decimal("1.10"), "id": 9007199254740993},
        "bodyTruncated": False,
    }


@pytest.mark.parametrize(
    ("body", "content_type", "value"),
    [
        (b'{"a":1}', "application/json; charset=utf-8", {"a": 1}),
        (b'{"a":1}', "Application/Problem+JSON", {"a": 1}),
        (b"\xef\xbb\xbf[1]", "application/json", [1]),
        (b"null", "application/json", None),
        (b'"x"', "application/json", "x"),
        # No JSON after all, or none that we take.
        (b"{", "application/json", "{"),
        (b"", "application/json", ""),
        (b"NaN", "application/json", "NaN"),
        (b"[" * 65 + b"]" * 65, "application/json", "[" * 65 + "]" * 65),
        # Text stays text, whatever it looks like.
        (b"123", "text/plain", "123"),
        (b'{"a":1}', "text/html", '{"a":1}'),
        ("é".encode(), "text/plain", "é"),
        (b"a\xff\xfeb\xc3", "text/plain", "a\ufffd\ufffdb\ufffd"),
        (b"\x80", "application/json", "\ufffd"),
        (b"a\x00b", "text/plain", "a\x00b"),
    ],
)
def test_a_body_is_json_if_it_says_so_and_is_else_text(
    target: Target, body: bytes, content_type: str, value: Any
) -> None:
    output = perform(webhook(target.on("/", respond(200, body, content_type=content_type)))).output
    assert (output["body"], output["bodyTruncated"]) == (value, False)


@pytest.mark.parametrize(
    ("body", "value"), [(b'{"a":1}', {"a": 1}), (b"ok", "ok"), (b"12", 12), (b"", "")]
)
def test_a_body_that_does_not_say_what_it_is_is_json_if_it_can_be(
    target: Target, body: bytes, value: Any
) -> None:
    assert perform(webhook(target.on("/", respond(200, body)))).output["body"] == value


CAP = 16 * 1024


@pytest.mark.parametrize(
    ("size", "kept", "truncated"),
    [(CAP - 1, CAP - 1, False), (CAP, CAP, False), (CAP + 1, CAP, True), (4 * CAP, CAP, True)],
)
def test_the_first_16_kb_of_a_body_are_kept(
    target: Target, size: int, kept: int, *, truncated: bool
) -> None:
    output = perform(webhook(target.on("/", respond(200, b"x" * size)))).output
    assert (output["body"], output["bodyTruncated"]) == ("x" * kept, truncated)


def test_a_body_is_not_cut_inside_a_character(target: Target) -> None:
    body = "x" + "é" * CAP
    output = perform(webhook(target.on("/", respond(200, body)))).output
    assert output["body"] == "x" + "é" * (CAP // 2 - 1)


def test_json_above_the_cap_is_text(target: Target) -> None:
    text = json.dumps({"a": "x" * CAP})
    answer = respond(200, text, content_type="application/json")
    output = perform(webhook(target.on("/", answer))).output
    assert (output["body"], output["bodyTruncated"]) == (text[:CAP], True)


def test_a_shown_header_is_short_and_the_first_of_its_name(target: Target) -> None:
    said = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nX-Request-Id: %s\r\nx-request-id: b\r\n\r\n"
    output = perform(webhook(target.on("/", send(said % (b"\xe9" * 2000))))).output
    assert output["headers"] == {"x-request-id": "é" * 1024}


def test_chunks_informational_answers_and_trailers_are_understood(target: Target) -> None:
    said = (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
        b"2;ext=1\r\nab\r\n1\r\nc\r\n0\r\ntrailer: x\r\n\r\n"
    )
    assert perform(webhook(target.on("/", send(said)))).output["body"] == "abc"


def test_a_body_without_a_length_ends_with_its_connection(target: Target) -> None:
    url = target.on("/", send(b"HTTP/1.0 200 OK\r\n\r\nhello"))
    output = perform(webhook(url)).output
    assert (output["body"], output["bodyTruncated"]) == ("hello", False)


# ----------------------------------------------------------------------------------- status


@pytest.mark.parametrize("status", [200, 201, 202, 204, 206, 299])
def test_every_2xx_is_a_success(target: Target, status: int) -> None:
    assert perform(webhook(target.on("/", respond(status)))).output["status"] == status


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 599])
def test_429_and_5xx_are_worth_another_try(target: Target, status: int) -> None:
    with pytest.raises(RetryableError, match=f"^answered {status}$") as caught:
        perform(webhook(target.on("/", respond(status, "s3cret of the target"))))
    assert (caught.value.code, caught.value.retry_after_s) == ("WEBHOOK_HTTP_RETRIABLE", None)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 409, 410, 422, 428, 430, 499, 600])
def test_any_other_status_is_the_end(target: Target, status: int) -> None:
    with pytest.raises(FatalError, match=f"^answered {status}$") as caught:
        perform(webhook(target.on("/", respond(status, "s3cret of the target"))))
    assert caught.value.code == "WEBHOOK_HTTP_ERROR"


@pytest.mark.parametrize("status", [300, 301, 302, 303, 304, 307, 308])
def test_case_095_a_redirect_is_not_followed(target: Target, status: int) -> None:
    target.on("/inside", respond(200))
    url = target.on("/", respond(status, location="/inside"))
    with pytest.raises(FatalError, match=f"^answered {status}; redirects are not") as caught:
        perform(webhook(url, headers={"X-Api-Key": "k"}, signingSecret="s"))
    assert caught.value.code == "WEBHOOK_HTTP_ERROR"
    assert (target.accepted, [hit.target for hit in target.hits]) == (1, ["/"])


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"<html>s3cret</html>\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ns3cret without a colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n",
        # Nobody asked for it.
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
    ],
)
def test_case_096_what_does_not_answer_in_http_is_not_quoted(target: Target, said: bytes) -> None:
    with pytest.raises(FatalError, match=r"^the target did not answer in valid HTTP$") as caught:
        perform(webhook(target.on("/", send(said))))
    assert caught.value.code == "UNEXPECTED"


@pytest.mark.parametrize(
    ("header", "low_s", "high_s"),
    [
        ("120", 120, 120),
        ("0", 0, 0),
        ("DATE", 500, 601),
        ("-1", None, None),
        ("soon", None, None),
        ("", None, None),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_the_targets_own_wish_is_handed_on(
    target: Target, status: int, header: str, low_s: float | None, high_s: float | None
) -> None:
    in_ten_minutes = datetime.now(UTC) + timedelta(seconds=600)
    text = header.replace("DATE", in_ten_minutes.strftime("%a, %d %b %Y %H:%M:%S GMT"))
    with pytest.raises(RetryableError) as caught:
        perform(webhook(target.on("/", respond(status, retry_after=text))))
    wish_s = caught.value.retry_after_s
    assert wish_s is None if low_s is None or high_s is None else low_s <= (wish_s or 0) <= high_s
