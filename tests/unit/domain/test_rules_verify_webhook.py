"""Signatures of incoming webhooks."""

import base64
from datetime import UTC, datetime
from typing import Any

import pytest
from standardwebhooks import Webhook

from whenthen.domain.errors import WebhookSignatureError
from whenthen.domain.rules.verify_webhook import SIGNATURES_MAX_CHARS, verify_webhook

KEY = bytes(range(32))
NOW_S = 1_790_000_000
BODY = '{ "a": 1.0,\n "b":"é\\u00e9", "a": 2 }\n'.encode()


def signed(body: bytes = BODY, at_s: int = NOW_S, message: str = "msg_1") -> dict[str, str]:
    signer = Webhook("whsec_" + base64.b64encode(KEY).decode())
    moment = datetime.fromtimestamp(at_s, UTC)
    return {
        "webhook-id": message,
        "webhook-timestamp": str(at_s),
        "webhook-signature": signer.sign(message, moment, body.decode()),
    }


def verify(
    headers: dict[str, str],
    body: bytes = BODY,
    *,
    key: bytes = KEY,
    now_s: float = NOW_S,
    required: bool = False,
) -> None:
    verify_webhook(key, headers, body, now_s=now_s, required=required)


@pytest.mark.parametrize("body", [BODY, b"", b"\n", b"{}"])
def test_case_083_what_a_standard_library_signs_is_accepted(body: bytes) -> None:
    verify(signed(body), body, required=True)


@pytest.mark.parametrize(
    "body",
    [BODY[:-1], BODY + b"\n", BODY.replace(b": ", b":", 1), BODY.replace(b", ", b",\t", 1), b""],
)
def test_case_083_one_other_byte_is_another_body(body: bytes) -> None:
    with pytest.raises(WebhookSignatureError):
        verify(signed(), body)


def test_one_signature_of_several_is_enough() -> None:
    good = signed()["webhook-signature"]
    for several in (f"v1,AAAA {good}", f"{good} v1a,AAAA", f"v2,x  {good}"):
        verify({**signed(), "webhook-signature": several})


@pytest.mark.parametrize(
    "signature",
    [
        "",
        " ",
        "v1,",
        "v1",
        "undefined",
        "sha256=é",
        "v1,é",
        "\0",
        "\ud800",
        "v1," + "A" * 43 + "=",
        "x" * 10_000,
        "v1,x " * 2_000,
    ],
)
def test_case_085_a_signature_that_is_none_is_refused(signature: str) -> None:
    with pytest.raises(WebhookSignatureError):
        verify({**signed(), "webhook-signature": signature})


def test_a_good_signature_in_another_version_or_case_is_refused() -> None:
    good = signed()["webhook-signature"]
    for other in (good.replace("v1,", "v2,"), good.replace("v1,", "V1,"), good.replace("v1,", "")):
        with pytest.raises(WebhookSignatureError):
            verify({**signed(), "webhook-signature": other})


@pytest.mark.parametrize("spare", [0, 1])
def test_a_list_of_signatures_has_a_longest_length(spare: int) -> None:
    good = signed()["webhook-signature"]
    padded = good + " " * (SIGNATURES_MAX_CHARS - len(good) + spare)
    if spare == 0:
        verify({**signed(), "webhook-signature": padded})
    else:
        with pytest.raises(WebhookSignatureError):
            verify({**signed(), "webhook-signature": padded})


@pytest.mark.parametrize(
    "timestamp",
    [
        None,
        "",
        "x",
        "-1",
        "+1790000000",
        "1790000000.0",
        " 1790000000",
        "1790000000\n",
        "01790000000",
        "9" * 400,
        "１７９００００００００",  # noqa: RUF001  # full-width digits
        "nan",
        "é",
    ],
)
def test_case_085_a_timestamp_that_is_none_is_refused(timestamp: str | None) -> None:
    headers: dict[str, Any] = signed()
    if timestamp is None:
        del headers["webhook-timestamp"]
    else:
        headers["webhook-timestamp"] = timestamp
    with pytest.raises(WebhookSignatureError):
        verify(headers)


@pytest.mark.parametrize(
    ("offset_s", "good"),
    [(-301, False), (-300, True), (-299, True), (0, True), (299, True), (300, True), (301, False)],
)
def test_a_timestamp_is_good_for_300_seconds_either_way(offset_s: int, *, good: bool) -> None:
    headers = signed(at_s=NOW_S + offset_s)
    if good:
        verify(headers)
    else:
        with pytest.raises(WebhookSignatureError):
            verify(headers)


@pytest.mark.parametrize("message", [None, "", "é", "msg_2", "a b", "\0"])
def test_the_id_belongs_to_what_is_signed(message: str | None) -> None:
    headers: dict[str, Any] = signed()
    if message is None:
        del headers["webhook-id"]
    else:
        headers["webhook-id"] = message
    with pytest.raises(WebhookSignatureError):
        verify(headers)


def test_another_key_is_refused() -> None:
    with pytest.raises(WebhookSignatureError):
        verify(signed(), key=bytes(32))


def test_case_089_without_a_signature_only_who_does_not_require_one_accepts() -> None:
    verify({"webhook-id": "msg_1", "webhook-timestamp": "1"})
    for headers in ({}, {"webhook-id": "msg_1"}, {"signature": "v1,x"}):
        with pytest.raises(WebhookSignatureError) as caught:
            verify(headers, required=True)
        assert (caught.value.status, caught.value.code) == (401, "WEBHOOK_SIGNATURE_INVALID")
