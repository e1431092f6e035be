"""Text hygiene: NUL and lone surrogates leave every value."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whenthen.domain.json_text import dumps, loads
from whenthen.domain.rules.text_hygiene import clean


@pytest.mark.parametrize(
    ("value", "cleaned"),
    [
        ("a\0b", "a\ufffdb"),
        ({"note": "a\0b"}, {"note": "a\ufffdb"}),
        ({"a\0": 1}, {"a\ufffd": 1}),
        ([{"deep": ["\0\0"]}], [{"deep": ["\ufffd\ufffd"]}]),
        ({"\0": 1, "\ufffd": 2}, {"\ufffd": 2}),
    ],
)
def test_case_101_nul_in_values_and_keys_is_replaced_and_flagged(value: Any, cleaned: Any) -> None:
    assert clean(value) == (cleaned, True)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        (r'{"s":"\ud800"}', {"s": "\ufffd"}),
        (r'{"s":"ä\udfff"}', {"s": "ä\ufffd"}),
        (r'{"\udc00":1}', {"\ufffd": 1}),
    ],
)
def test_case_102_a_lone_surrogate_is_replaced_and_flagged(text: str, cleaned: Any) -> None:
    assert clean(loads(text)) == (cleaned, True)


def test_case_102_an_escaped_backslash_before_u0000_is_text_and_stays() -> None:
    value = loads(r'{"s":"\\u0000"}')
    assert clean(value) == ({"s": r"\u0000"}, False)


def test_a_whole_surrogate_pair_is_a_character_and_stays() -> None:
    assert clean(loads(r'"\ud83d\ude00"')) == ("😀", False)


@pytest.mark.parametrize(
    "value", ["", "plain", "ä\ufffd\ue000", 5, Decimal("1.10"), None, True, [], {}, {"a": ["b"]}]
)
def test_a_fit_value_is_returned_as_it_is(value: Any) -> None:
    cleaned, changed = clean(value)
    assert cleaned is value
    assert not changed


def test_the_deepest_json_is_cleaned_at_once() -> None:
    value: Any = "\0"
    for _ in range(64):
        value = {"k": value}
    assert clean(value)[1]


_TEXTS = st.text(st.characters(exclude_categories=()) | st.sampled_from("\0\ud800\udfff"))


@settings(deadline=None, max_examples=200)
@given(st.recursive(_TEXTS, lambda inner: st.lists(inner) | st.dictionaries(_TEXTS, inner)))
def test_a_cleaned_value_can_be_encoded_and_stored(value: Any) -> None:
    cleaned, changed = clean(value)
    text = dumps(cleaned)
    assert text.encode()
    assert r"\u0000" not in text.replace(r"\\", "")
    assert clean(cleaned) == (cleaned, False)
    assert changed == (cleaned != value)
