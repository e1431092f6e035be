"""When two names mean the same property."""

from typing import Any

import pytest

from whenthen.domain.rules.property_name import canonical_name, share_a_name, value_named

ONE, TWO = "Caf\u00e9", "Cafe\u0301"


@pytest.mark.parametrize(
    ("name", "expected"),
    [(ONE, ONE), (TWO, ONE), ("Cafe", "Cafe"), (" caf\u00e9 ", " caf\u00e9 "), ("", "")],
)
def test_a_name_has_one_form(name: str, expected: str) -> None:
    assert canonical_name(name) == expected


@pytest.mark.parametrize(
    ("values", "name", "expected"),
    [
        ({ONE: 1}, ONE, 1),
        ({ONE: 1}, TWO, 1),
        ({TWO: 1}, ONE, 1),
        ({TWO: 1}, TWO, 1),
        ({ONE: 1, TWO: 2}, TWO, 2),
        ({"a": 1}, "a", 1),
        ({"a": 1}, "A", None),
        ({ONE: 1}, "Cafe", None),
        ({"a": 1}, ONE, None),
        ({}, ONE, None),
    ],
)
def test_a_value_is_found_by_its_name_in_either_form(
    values: dict[str, Any], name: str, expected: Any
) -> None:
    assert value_named(values, name) == expected


@pytest.mark.parametrize(
    ("some", "others", "expected"),
    [
        ([ONE], ["x", TWO], True),
        ([TWO], [ONE], True),
        (["a"], ["a"], True),
        (["a"], ["A", ONE], False),
        ([], [ONE], False),
    ],
)
def test_lists_share_a_name_in_either_form(
    some: list[str], others: list[str], *, expected: bool
) -> None:
    assert share_a_name(some, others) is expected
