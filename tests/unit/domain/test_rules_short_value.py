"""How a large value is shown in short."""

import time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whenthen.domain.json_text import dumps
from whenthen.domain.rules.short_value import SHOWN_MAX_CHARS, short_value


@pytest.mark.parametrize(
    "value",
    [
        *[None, True, 0, 1.5, Decimal("1.10"), "", "x" * 200, [], {}, [1, "a", None, [], {}]],
        *[{"a": {"b": [1, {"c": ""}]}}, {"a": [], "b": {}}],
    ],
)
def test_a_short_value_is_shown_as_it_is(value: Any) -> None:
    assert short_value(value) is value


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("x" * 201, "x" * 200 + "…"),
        (["x" * 300], '["' + "x" * 198 + "…"),
        ({"k": "x" * 300}, '{"k":"' + "x" * 194 + "…"),
        (["x" * 197, "y"], '["' + "x" * 197 + '"…'),
        ([0] * 200, "[" + "0," * 99 + "0…"),
    ],
)
def test_a_long_value_is_shown_as_the_beginning_of_its_text(value: Any, shown: str) -> None:
    assert short_value(value) == shown


def test_the_edge_is_200_characters_of_json() -> None:
    assert short_value(["x" * 196]) == ["x" * 196]
    assert short_value(["x" * 197]) == '["' + "x" * 197 + '"…'


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=300),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=300), inner),
    max_leaves=30,
)


@given(json_values)
def test_what_is_shown_is_the_beginning_of_the_json(value: Any) -> None:
    shown = short_value(value)
    if isinstance(value, list | dict) and shown is not value:
        assert shown == dumps(value)[:SHOWN_MAX_CHARS] + "…"
    assert len(dumps(shown)) <= SHOWN_MAX_CHARS * 6 + 3


def test_a_large_value_costs_no_more_than_what_is_shown() -> None:
    value = [[str(n)] * 100 for n in range(20_000)]
    started = time.process_time()
    for _ in range(100):
        short_value(value)
    assert time.process_time() - started < 5
