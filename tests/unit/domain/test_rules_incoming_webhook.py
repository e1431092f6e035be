"""What an incoming webhook's request says."""

from base64 import urlsafe_b64encode
from typing import Any

import pytest

from whenthen.domain.errors import BadRequestError, MediaTypeError
from whenthen.domain.rules.incoming_webhook import delivery_id, read_content, token_key

# ---- the token


@pytest.mark.parametrize("size", [24, 25, 26, 32, 64])
def test_a_token_is_the_secrets_bytes_in_url_safe_base64(size: int) -> None:
    key = bytes(range(256))[-size:]
    assert token_key(urlsafe_b64encode(key).rstrip(b"=").decode()) == key


@pytest.mark.parametrize(
    "token",
    [
        "",
        "x",
        "A" * 31,  # 23 bytes
        "A" * 87,  # 65 bytes
        "A" * 42 + "B",  # not canonical: the last bits count for nothing
        "A" * 43 + "=",
        "A" * 41 + "+/",
        "A" * 43 + "\n",
        " " + "A" * 43,
        "A" * 20 + "." + "A" * 23,
        "é" * 43,
        "A" * 41,  # no length of base64
        "A" * 100_000,
    ],
)
def test_any_other_text_is_no_token(token: str) -> None:
    assert token_key(token) is None


# ---- the id of the delivery


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"webhook-id": "msg_1"}, "msg_1"),
        ({"idempotency-key": "key-1"}, "key-1"),
        ({"idempotency-key": "key-1", "webhook-id": "msg_1"}, "msg_1"),
        ({"webhook-id": "x" * 255}, "x" * 255),
        ({"webhook-id": "!/:~"}, "!/:~"),
    ],
)
def test_webhook_id_comes_before_idempotency_key(
    headers: dict[str, str], expected: str | None
) -> None:
    assert delivery_id(headers) == expected


@pytest.mark.parametrize("given", ["", " ", "a b", "x" * 256, "é", "\0", "a\n", "\ud800"])
@pytest.mark.parametrize("name", ["webhook-id", "idempotency-key"])
def test_an_id_that_cannot_be_kept_is_a_bad_header(name: str, given: str) -> None:
    with pytest.raises(BadRequestError) as caught:
        delivery_id({name: given})
    assert caught.value.code == "BAD_HEADER"


# ---- the body

FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    ("raw", "content_type", "expected"),
    [
        (b"", None, {}),
        (b"", "image/png", {}),
        (b'{"a": 1}', None, {"a": 1}),
        (b'{"a": 1}', "application/json", {"a": 1}),
        (b'{"a": 1}', "Application/JSON; charset=UTF-8; profile=x", {"a": 1}),
        (b'{"a": 1}', "application/vnd.github.v3+json", {"a": 1}),
        (b'\xef\xbb\xbf{"a": 1}', "application/json", {"a": 1}),
        (b'{"a": 1, "a": 2}\n', "application/json", {"a": 2}),
        (b"[1, 2]", "application/json", {"body": [1, 2]}),
        (b"null", "application/json", {"body": None}),
        (b'"x"', "application/json", {"body": "x"}),
        (b"a=1&b=x+y&c=%C3%A9&d", FORM, {"a": "1", "b": "x y", "c": "é", "d": ""}),
        (b"a=1&a=2&b=3", f"{FORM}; charset=utf-8", {"a": ["1", "2"], "b": "3"}),
        ("a=é".encode(), FORM, {"a": "é"}),
        (b"&&", FORM, {}),
        (b"hello", "text/plain", {"body": "hello"}),
        (b"<p>", "TEXT/HTML", {"body": "<p>"}),
        ("é".encode(), "text/plain; charset=utf-8", {"body": "é"}),
        ("é".encode("latin-1"), 'text/plain; charset="ISO-8859-1"', {"body": "é"}),
        (b"{broken", "text/csv", {"body": "{broken"}),
    ],
)
def test_a_body_becomes_an_object(
    raw: bytes, content_type: str | None, expected: dict[str, Any]
) -> None:
    content = read_content(raw, content_type)
    assert (content.payload, content.sanitized) == (expected, False)


@pytest.mark.parametrize(
    ("raw", "content_type", "expected"),
    [
        (b'{"note": "a\\u0000b"}', "application/json", {"note": "a\ufffdb"}),
        (b'{"a\\u0000": 1}', "application/json", {"a\ufffd": 1}),
        (b'{"s": "\\ud800"}', "application/json", {"s": "\ufffd"}),
        (b'"\\ud800"', "application/json", {"body": "\ufffd"}),
        (b"a=%00&b=%ff", FORM, {"a": "\ufffd", "b": "\ufffd"}),
        (b"a=\xff", FORM, {"a": "\ufffd"}),
        (b"a\0b\xff", "text/plain", {"body": "a\ufffdb\ufffd"}),
        (b"\xe9", "text/plain; charset=us-ascii", {"body": "\ufffd"}),
    ],
)
def test_case_101_case_102_what_cannot_be_stored_is_replaced_and_said(
    raw: bytes, content_type: str, expected: dict[str, Any]
) -> None:
    content = read_content(raw, content_type)
    assert (content.payload, content.sanitized) == (expected, True)


@pytest.mark.parametrize(
    "raw",
    [
        b"{",
        b" ",
        b"nonsense",
        b"\xff",
        b'{"a": NaN}',
        b'{"a": 1e999}',
        b'{"a": ' + b"9" * 5_000 + b"}",
        b"[" * 200_000,
        b"[" * 65 + b"]" * 65,
    ],
    ids=lambda raw: f"{raw[:9]!r}",
)
def test_case_100_malformed_json_is_a_bad_request(raw: bytes) -> None:
    with pytest.raises(BadRequestError) as caught:
        read_content(raw, "application/json")
    assert caught.value.code == "BAD_JSON"


@pytest.mark.parametrize(
    "content_type",
    [
        "application/xml",
        "application/octet-stream",
        "multipart/form-data; boundary=x",
        "application/jsonx",
        "application/a/b+json",
        "image/png",
        "text",
        "text/plain; charset=utf-16",
        "text/plain; charset=zip",
        "nonsense",
        ";",
        "é/é",
        "application/json, text/plain",
    ],
)
def test_another_content_type_is_refused(content_type: str) -> None:
    with pytest.raises(MediaTypeError):
        read_content(b"{}", content_type)
