"""The signed header of chains: where it goes, what it carries, and who is not believed."""

import base64
import hashlib
import hmac
from uuid import UUID

import pytest

from whenthen.domain.limits import LOOP_HEADER_LIVES_S
from whenthen.domain.rules.loop_header import (
    MAX_CHARS,
    NAME,
    leads_home,
    read_signed_context,
    sign_context,
)
from whenthen.domain.rules.outgoing_url import read_outgoing_url
from whenthen.domain.schemas.actions import RESERVED_HEADER_PREFIX
from whenthen.domain.schemas.events import AutomationContext

A, RUN, ROOT = UUID(int=1), UUID(int=2), UUID(int=3)
HOME, ELSEWHERE = UUID(int=10), UUID(int=11)
CONTEXT = AutomationContext(A, RUN, ROOT, 3, (UUID(int=4), A))
KEY, OTHER_KEY = b"k" * 32, b"o" * 32
NOW_S = 1_796_045_352


def signed(context: AutomationContext = CONTEXT, key: bytes = KEY) -> str:
    return sign_context(key, HOME, context, NOW_S)


def test_a_context_comes_back_as_it_went_out() -> None:
    assert read_signed_context([KEY], signed(), HOME, NOW_S + 1) == CONTEXT


def test_of_another_workspace_s_context_only_the_depth_counts() -> None:
    depth_only = AutomationContext(None, None, None, 3, ())
    assert read_signed_context([KEY], signed(), ELSEWHERE, NOW_S) == depth_only
    assert read_signed_context([KEY], signed(), None, NOW_S) == depth_only


def test_what_came_from_another_workspace_is_signed_again_with_its_depth() -> None:
    depth_only = AutomationContext(None, None, None, 4, ())
    assert read_signed_context([KEY], signed(depth_only), HOME, NOW_S) == depth_only


@pytest.mark.parametrize(
    ("later_s", "is_taken"),
    [
        # Made by a clock that runs ahead: it would last longer than an hour.
        (-1, False),
        (0, True),
        (LOOP_HEADER_LIVES_S - 1, True),
        (LOOP_HEADER_LIVES_S, False),
        (LOOP_HEADER_LIVES_S + 1, False),
    ],
)
def test_a_header_lasts_an_hour(later_s: int, *, is_taken: bool) -> None:
    found = read_signed_context([KEY], signed(), HOME, NOW_S + later_s)
    assert (found is not None) == is_taken


@pytest.mark.parametrize(
    ("keys", "is_taken"),
    [
        ([KEY], True),
        ([OTHER_KEY, KEY], True),
        ([OTHER_KEY], False),
        ([], False),
    ],
    ids=["its own", "an older one", "another", "none"],
)
def test_any_of_the_keys_will_do(keys: list[bytes], *, is_taken: bool) -> None:
    assert (read_signed_context(keys, signed(), HOME, NOW_S) is not None) == is_taken


def test_no_character_can_be_changed() -> None:
    value = signed()
    for place, character in enumerate(value):
        changed = value[:place] + ("x" if character != "x" else "y") + value[place + 1 :]
        assert read_signed_context([KEY], changed, HOME, NOW_S) is None, place


@pytest.mark.parametrize(
    "value",
    [
        "",
        "v1",
        "v1...",
        signed().replace("v1.", "v2.", 1),
        signed() + "=",
        " " + signed(),
        signed() + "\n",
        signed() + ", " + signed(),
        "v1." + "9" * 16 + signed()[13:],
        "v1.1796045353." + "A" * MAX_CHARS + "." + "A" * 43,
        "v1.١٧٩٦٠٤٥٣٥٣.e30." + "A" * 43,
    ],
)
def test_what_is_no_such_header_is_as_good_as_none(value: str) -> None:
    assert read_signed_context([KEY], value, HOME, NOW_S) is None


@pytest.mark.parametrize("content", ["e30", "bnVsbA", "W10", "eyJkZXB0aCI6MX0", "A", "____"])
def test_a_signed_content_of_another_form_is_as_good_as_none(content: str) -> None:
    text = f"v1.{NOW_S + 10}.{content}"
    digest = hmac.digest(KEY, f"whenthen-context:{text}".encode(), hashlib.sha256)
    value = f"{text}.{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"
    assert read_signed_context([KEY], value, HOME, NOW_S) is None


def test_a_chain_of_a_hundred_fits() -> None:
    chain = tuple(UUID(int=n) for n in range(100))
    long = AutomationContext(A, RUN, ROOT, 100, chain)
    assert len(signed(long)) <= MAX_CHARS
    assert read_signed_context([KEY], signed(long), HOME, NOW_S) == long


@pytest.mark.parametrize(
    ("url", "public_url", "is_home"),
    [
        ("https://api.example.com/x", "https://api.example.com", True),
        ("https://API.example.com:443/x", "https://api.example.com", True),
        ("https://api.example.com./x", "https://api.example.com", True),
        ("https://api.example.com/x", "https://api.example.com/stage", True),
        ("http://127.0.0.1:8787/x", "http://127.0.0.1:8787", True),
        ("http://api.example.com/x", "https://api.example.com", False),
        ("https://api.example.com:8443/x", "https://api.example.com", False),
        ("https://api.example.com.evil.test/x", "https://api.example.com", False),
        ("https://evil.test/https://api.example.com", "https://api.example.com", False),
        ("http://127.0.0.1:8788/x", "http://127.0.0.1:8787", False),
        ("https://api.example.com/x", None, False),
        ("https://api.example.com/x", "api.example.com", False),
    ],
)
def test_the_header_goes_home_only(url: str, public_url: str | None, *, is_home: bool) -> None:
    outgoing = read_outgoing_url(url, {"127.0.0.1"})
    assert outgoing is not None
    assert leads_home(outgoing, public_url) == is_home


def test_no_automation_can_set_the_header_itself() -> None:
    assert NAME.startswith(RESERVED_HEADER_PREFIX)
