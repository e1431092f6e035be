from decimal import Decimal
from typing import Any

import pytest

from whenthen.domain.rules.same_value import same_value

CASES: list[tuple[Any, Any, bool]] = [
    (None, None, True),
    (None, False, False),
    (1, 1, True),
    (1, 1.0, True),
    (1, True, False),
    (0, False, False),
    (True, True, True),
    (Decimal("1.10"), Decimal("1.10"), True),
    ("1", 1, False),
    ([1, 2], [1, 2], True),
    ([1, 2], [2, 1], False),
    ([1], [1, 1], False),
    ([1], [True], False),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
    ({"a": 1}, {"a": None}, False),
    ({"a": 1}, {"a": 1, "b": 1}, False),
    ({"a": [{"b": 1}]}, {"a": [{"b": True}]}, False),
    ({}, [], False),
]


@pytest.mark.parametrize(("left", "right", "same"), CASES)
def test_only_equal_json_is_the_same(left: Any, right: Any, *, same: bool) -> None:
    assert same_value(left, right) is same
    assert same_value(right, left) is same
