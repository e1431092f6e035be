"""Ids, keys and signatures of webhooks, against a plain reading of the specification."""

import base64
import hashlib
import hmac
from uuid import UUID

import pytest

from whenthen.domain.rules.webhook_signature import message_id, sign, signing_key

RUN = UUID("01900000-0000-7000-8000-000000000001")
ACTION = UUID("01900000-0000-7000-8000-000000000002")


def test_an_id_names_run_generation_and_action_and_has_no_full_stop() -> None:
    found = message_id(RUN, 3, ACTION)
    assert found == f"msg_{RUN}_3_{ACTION}"
    assert "." not in found


@pytest.mark.parametrize(
    ("secret", "key"),
    [
        ("whsec_" + base64.b64encode(b"k" * 24).decode(), b"k" * 24),
        ("whsec_" + base64.b64encode(b"k" * 25).decode(), b"k" * 25),
        ("whsec_" + base64.b64encode(b"k" * 25).decode().rstrip("="), b"k" * 25),
        ("whsec_" + base64.b64encode(b"\xfb\xff" * 12).decode(), b"\xfb\xff" * 12),
        # Not base64: the text itself.
        ("whsec_", b"whsec_"),
        ("whsec_A", b"whsec_A"),
        ("whsec_-_-_", b"whsec_-_-_"),
        ("whsec_not base64!", b"whsec_not base64!"),
        ("WHSEC_aGVsbG8=", b"WHSEC_aGVsbG8="),
        ("aGVsbG8=", b"aGVsbG8="),
        ("a secret with spaces ", b"a secret with spaces "),
        ("clé", b"cl\xc3\xa9"),
    ],
)
def test_a_secret_is_base64_behind_its_prefix_and_text_otherwise(secret: str, key: bytes) -> None:
    assert signing_key(secret) == key


@pytest.mark.parametrize("body", [b"", b'{"a":1}', "é\n".encode(), b"\x00\xff", b"a.b.c"])
def test_a_signature_is_the_hmac_of_id_time_and_body(body: bytes) -> None:
    signed = b"msg_1.1674087231." + body
    digest = hmac.new(b"key", signed, hashlib.sha256).digest()
    assert sign(b"key", "msg_1", 1_674_087_231, body) == f"v1,{base64.b64encode(digest).decode()}"


def test_the_signature_changes_with_each_of_its_parts() -> None:
    parts = [
        (b"key", "msg_1", 1, b"x"),
        (b"kex", "msg_1", 1, b"x"),
        (b"key", "msg_2", 1, b"x"),
        (b"key", "msg_1", 2, b"x"),
        (b"key", "msg_1", 1, b"y"),
    ]
    assert len({sign(*part) for part in parts}) == len(parts)
