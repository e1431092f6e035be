"""What each operator answers for each kind of operands: the table of the rule, line by line."""

from decimal import Decimal
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whenthen.domain.kinds import PropertyType
from whenthen.domain.rules.condition_operators import COMPARISONS

NUMBER, CHECKBOX, DATE, TEXT = (
    PropertyType.NUMBER,
    PropertyType.CHECKBOX,
    PropertyType.DATE,
    PropertyType.TEXT,
)
BIG = 9007199254740993


def ask(operator: str, left: Any, right: Any, kind: PropertyType | None = None) -> bool | None:
    return COMPARISONS[operator](left, right, kind)


EQUAL: list[tuple[Any, Any, PropertyType | None]] = [
    (200, 200, None),
    (200, 200.0, None),
    (200, "200", None),
    (200, "200.0", NUMBER),
    (200, Decimal("200.00"), TEXT),
    (BIG, str(BIG), None),
    (10**300, "1" + "0" * 300, None),
    (1.1, Decimal("1.10"), None),
    (0.1, "0.1", None),
    (0, "-0", None),
    (0.0, -0.0, None),
    ("B", "B", None),
    ("", "", None),
    ("é", "e\u0301", None),
    (True, True, None),
    (False, False, CHECKBOX),
    (True, "true", CHECKBOX),
    (False, "false", CHECKBOX),
    ("true", "true", CHECKBOX),
    (None, None, None),
    (["a"], ["a"], None),
    ([1, "x"], [1.0, "x"], None),
    ([], [], None),
    ({"a": [1]}, {"a": ["1"]}, None),
    ({}, {}, None),
    ("2026-06-01T00:30:00+02:00", "2026-05-31T22:30:00Z", None),
    ("2026-06-01", "2026-06-01T00:00:00Z", None),
    ("2026-06-01T00:00", "2026-06-01T00:00:00.000Z", TEXT),
    ("2026-06-01", "2026-06-01T00:00", DATE),
    ("2026-06-01T02:00:00+02:00", "2026-06-01", DATE),
]
UNEQUAL: list[tuple[Any, Any, PropertyType | None]] = [
    (200, 201, None),
    (200, " 200 ", NUMBER),
    (7, "007", NUMBER),
    (1000, "1e3", None),
    (1000, "1_000", None),
    (12, "١٢", None),
    (0, "nan", None),
    (BIG, BIG - 1, None),
    (BIG, float(BIG - 1), None),
    (BIG, str(BIG - 1), None),
    (1.1, 1.1000000000000003, None),
    (1, True, None),
    (0, False, CHECKBOX),
    ("1", True, CHECKBOX),
    ("true", True, None),
    ("true", True, TEXT),
    ("TRUE", True, CHECKBOX),
    ("True", True, CHECKBOX),
    ("true", False, CHECKBOX),
    (["true"], True, CHECKBOX),
    (None, False, CHECKBOX),
    ("1", "1.0", None),
    ("1", "1.0", NUMBER),
    ("B", "b", None),
    ("B", "B ", None),
    ("", None, None),
    (0, None, None),
    (False, None, None),
    ([], None, None),
    ({}, None, None),
    ([], {}, None),
    (["a"], "a", None),
    (["a", "b"], ["b", "a"], None),
    (["a"], ["a", "b"], None),
    ({"a": 1}, {"a": 2}, None),
    ({"a": 1}, {"b": 1}, None),
    ({"a": None}, {}, None),
    ("2026-06-01", "2026-06-01T00:00", None),
    ("2026-06-01", "2026-06-01T00:00", TEXT),
    ("2026-06-01T00:00:00Z", "2026-06-01T00:00:00.001Z", None),
    ("2026-06-01T00:00:00Z", "2026-06-31", None),
    ("2026-06-31", "2026-07-01", DATE),
    ("20260601", "2026-06-01", DATE),
]


@pytest.mark.parametrize(("left", "right", "kind"), EQUAL, ids=repr)
def test_case_067_equal(left: Any, right: Any, kind: PropertyType | None) -> None:
    for one, other in ((left, right), (right, left)):
        assert ask("eq", one, other, kind) is True
        assert ask("neq", one, other, kind) is False
        assert ask("in", one, ["x-y", other], kind) is True
        assert ask("not_in", one, ["x-y", other], kind) is False


@pytest.mark.parametrize(("left", "right", "kind"), UNEQUAL, ids=repr)
def test_case_067_unequal(left: Any, right: Any, kind: PropertyType | None) -> None:
    for one, other in ((left, right), (right, left)):
        assert ask("eq", one, other, kind) is False
        assert ask("neq", one, other, kind) is True
        assert ask("in", one, ["x-y", other], kind) is False
        assert ask("not_in", one, ["x-y", other], kind) is True


def test_nothing_is_in_an_empty_list() -> None:
    assert ask("in", None, []) is False
    assert ask("not_in", None, []) is True


BEFORE: list[tuple[Any, Any, PropertyType | None]] = [
    (9, 10, None),
    (9, "10", None),
    ("9", 10, TEXT),
    ("9", "10", NUMBER),
    ("-2", "-1.5", NUMBER),
    (BIG - 1, BIG, None),
    (BIG - 1, str(BIG), None),
    (float(BIG - 1), BIG, None),
    (1.1, Decimal("1.11"), None),
    (10**300, "1" + "0" * 301, None),
    ("10", "9", None),
    ("10", "9", TEXT),
    ("007", "7", NUMBER),
    ("A", "a", None),
    ("", "a", None),
    ("Z", "é", None),
    ("2026-06-01T00:30:00+02:00", "2026-05-31T23:00:00Z", None),
    ("2026-06-01T00:30:00+02:00", "2026-06-01", None),
    ("2026-06-01", "2026-06-01T00:01", DATE),
    ("2026-06-01", "2026-06-02", None),
    ("2026-06-01", "soon", DATE),
]


@pytest.mark.parametrize(("left", "right", "kind"), BEFORE, ids=repr)
def test_case_067_and_071_one_value_comes_before_the_other(
    left: Any, right: Any, kind: PropertyType | None
) -> None:
    orderings = ("lt", "lte", "gt", "gte")
    assert [ask(name, left, right, kind) for name in orderings] == [True, True, False, False]
    assert [ask(name, right, left, kind) for name in orderings] == [False, False, True, True]


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [
        (200, "200.0", None),
        ("1", "1.0", NUMBER),
        ("é", "e\u0301", None),
        ("2026-06-01T00:30:00+02:00", "2026-05-31T22:30:00Z", None),
        ("2026-06-01", "2026-06-01T00:00", DATE),
    ],
)
def test_neither_of_two_equal_values_comes_first(
    left: Any, right: Any, kind: PropertyType | None
) -> None:
    orderings = ("lt", "lte", "gt", "gte")
    assert [ask(name, left, right, kind) for name in orderings] == [False, True, False, True]


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [
        (None, 9, None),
        (None, None, None),
        (None, "a", None),
        ("abc", 9, NUMBER),
        ("007", 9, NUMBER),
        ("", 9, None),
        (True, False, None),
        (True, 0, None),
        (True, "false", CHECKBOX),
        ([1], 0, None),
        ([1], [0], None),
        ({}, {}, None),
        ([], "a", None),
    ],
    ids=repr,
)
def test_case_067_an_order_that_makes_no_sense_is_unknown(
    left: Any, right: Any, kind: PropertyType | None
) -> None:
    for operator in ("lt", "lte", "gt", "gte"):
        assert ask(operator, left, right, kind) is None
        assert ask(operator, right, left, kind) is None


def test_case_071_instants_are_compared_across_offsets() -> None:
    assert ask("lt", "2026-06-01T00:30:00+02:00", "2026-05-31T23:00:00Z") is True
    assert ask("lt", "2026-05-31T23:00:00Z", "2026-06-01T00:30:00+02:00") is False
    assert ask("eq", "2026-06-01T00:30:00+02:00", "2026-05-31T22:30:00Z") is True


def test_case_028_an_instant_without_an_offset_is_utc() -> None:
    # Rows of one instant in lists: case_104.
    assert ask("lt", "2026-06-01T00:00:00+02:00", "2026-06-01") is True
    assert ask("lt", "2026-06-01", "2026-06-01T00:00:00+02:00") is False
    assert ask("gte", "2026-06-01T00:00:00+00:00", "2026-06-01", PropertyType.DATE) is True
    assert ask("eq", "2026-05-31T22:00", "2026-06-01T00:00:00+02:00") is True


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.decimals(allow_nan=False, allow_infinity=False, places=3)
    | st.sampled_from(
        ["1", "1.0", "007", "true", "2026-06-01", "2026-06-01T00:00Z", "é", "e\u0301"]
    )
    | st.text(max_size=5)
)
values = scalars | st.lists(scalars, max_size=3) | st.dictionaries(st.text(max_size=3), scalars)
kinds = st.none() | st.sampled_from(PropertyType)


@given(values, values, kinds)
def test_equality_is_never_unknown_and_the_same_both_ways(
    left: Any, right: Any, kind: PropertyType | None
) -> None:
    assert ask("eq", left, right, kind) is ask("eq", right, left, kind)
    assert ask("eq", left, left, kind) is True
    assert ask("neq", left, right, kind) is (not ask("eq", left, right, kind))


@given(values, values, kinds)
def test_orderings_agree_with_one_another(left: Any, right: Any, kind: PropertyType | None) -> None:
    answers = {name: ask(name, left, right, kind) for name in ("lt", "lte", "gt", "gte")}
    if answers["lt"] is None:
        assert set(answers.values()) == {None}
    else:
        assert answers["lte"] is (not answers["gt"])
        assert answers["gte"] is (not answers["lt"])
        assert answers["lt"] is ask("gt", right, left, kind)


def test_every_pair_of_types_gets_an_answer() -> None:
    samples = [None, True, 1, 1.5, Decimal("1.10"), "a", "1", "2026-06-01", [], [1], {}, {"a": 1}]
    for operator, left, right in product(COMPARISONS, samples, samples):
        if operator not in {"in", "not_in"}:
            assert ask(operator, left, right) in {True, False, None}
