"""How secrets stay out of what is written down."""

import base64
import json
import time
from typing import Any
from urllib.parse import quote, quote_plus, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whenthen.domain.json_text import dumps
from whenthen.domain.rules.redact import redact

SECRET = 'p@ss/w "ör\\d🙂&<+>~\n%'


@pytest.mark.parametrize(
    "written",
    [
        SECRET,
        quote(SECRET),
        quote(SECRET, safe=""),
        quote(SECRET, safe="!'()*"),
        quote_plus(SECRET),
        quote(SECRET, safe="").replace("%C3%B6", "%c3%b6").lower().replace("%c3", "%c3"),
        base64.b64encode(SECRET.encode()).decode(),
        base64.b64encode(SECRET.encode()).decode().rstrip("="),
        base64.urlsafe_b64encode(SECRET.encode()).decode(),
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1].replace("/", "\\/"),
        dumps(SECRET)[1:-1].replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"),
    ],
)
def test_case_110_a_secret_is_found_however_it_is_written(written: str) -> None:
    assert redact(f"Bearer {written}; next", [SECRET]) == "Bearer •••; next"
    assert redact(written, [SECRET]) == "•••"


def test_a_form_body_and_a_query_hide_the_secret() -> None:
    query = urlencode({"token": SECRET, "x": "1"})
    assert redact(query, [SECRET]) == "token=•••&x=1"


def test_texts_are_redacted_at_any_depth_in_values_and_keys() -> None:
    value = {"a": ["x hunter22 y", {"hunter22": [None, 1, True, 1.5]}], "b": "hunter2"}
    assert redact(value, ["hunter22"]) == {
        "a": ["x ••• y", {"•••": [None, 1, True, 1.5]}],
        "b": "hunter2",
    }
    assert value["b"] == "hunter2"
    assert "hunter22" in dumps(value)


@pytest.mark.parametrize(
    ("text", "secrets", "shown"),
    [
        ("", ["abcdefgh"], ""),
        ("abcdefgh", ["abcdefgh"], "•••"),
        ("abcdefghabcdefgh", ["abcdefgh"], "•••"),
        ("abcdefgh abcdefgh", ["abcdefgh"], "••• •••"),
        ("xabcdefgh", ["abcdefgh"], "x•••"),
        ("abcdefg", ["abcdefgh"], "abcdefg"),
        ("ABCDEFGH", ["abcdefgh"], "ABCDEFGH"),
        ("abcdefghijkl", ["abcdefgh", "efghijkl"], "•••"),
        ("abcdefghijkl", ["efghijkl", "abcdefgh"], "•••"),
        ("abcdefghijkl!", ["abcdefghijkl", "cdefghij"], "•••!"),
        ("-abcdefgh--efghijkl", ["abcdefgh", "efghijkl"], "-•••--•••"),
        ("aaaaaaaaa!", ["aaaaaaaa"], "•••!"),
        ("nothing here", ["abcdefgh"], "nothing here"),
    ],
)
def test_what_secrets_cover_is_replaced_overlaps_included(
    text: str, secrets: list[str], shown: str
) -> None:
    assert redact(text, secrets) == shown


@pytest.mark.parametrize("secrets", [[], [""], ["", ""]])
def test_without_secrets_the_value_stays_as_it_is(secrets: list[str]) -> None:
    value = {"a": ["x"]}
    assert redact(value, secrets) is value


def test_a_large_output_and_many_secrets_take_little_time() -> None:
    value = {f"key {n}": "some text that holds no secret at all" for n in range(1_500)}
    secrets = [f"secret value number {n}/" for n in range(20)]
    started = time.process_time()
    assert redact(value, secrets) == value
    assert redact("a" * 65_536, ["a" * 4_096]) == "•••"
    assert time.process_time() - started < 5


texts = st.text(st.characters(exclude_categories=["Cs"]))
secret_values = st.text(st.characters(exclude_categories=["Cs"]), min_size=8, max_size=30)
WRITE = [
    str,
    quote,
    quote_plus,
    lambda text: base64.b64encode(text.encode()).decode(),
    lambda text: json.dumps(text)[1:-1],
    lambda text: dumps(text)[1:-1],
]


@given(secret_values, texts, texts, st.sampled_from(WRITE))
def test_no_written_form_is_left(secret: str, before: str, after: str, write: Any) -> None:
    written = write(secret)
    (shown,) = redact([before + written + after], [secret])
    assert shown.count("•••") >= 1
    if "•" not in before + secret + after:
        assert written not in shown
