"""The condition tree: shape, limits, paths."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cpu_time import least_cpu_s
from whenthen.domain.errors import InvalidError
from whenthen.domain.schemas.conditions import parse_condition

STATUS = {"ref": "property", "name": "Status"}
LEAF = {"field": STATUS, "operator": "eq", "value": "B"}


def _leaf(operator: str, **rest: Any) -> dict[str, Any]:
    return {"field": STATUS, "operator": operator, **rest}


def _nested(depth: int, key: str = "not") -> dict[str, Any]:
    tree: dict[str, Any] = LEAF
    for _ in range(depth - 1):
        tree = {key: tree if key == "not" else [tree]}
    return tree


def _faults(tree: Any) -> list[tuple[str, str]]:
    with pytest.raises(InvalidError) as caught:
        parse_condition(tree)
    assert caught.value.code == "CONDITION_INVALID"
    assert caught.value.details is not None
    return [(one["path"], one["message"]) for one in caught.value.details]  # type: ignore[index]


def test_null_is_no_condition() -> None:
    assert parse_condition(None) is None


@pytest.mark.parametrize(
    "tree",
    [
        LEAF,
        {"field": {"ref": "event", "path": 'a.b[0]["First Name"]'}, "operator": "is_empty"},
        {"and": [LEAF]},
        {"or": [LEAF, {"and": [LEAF, {"not": LEAF}]}]},
        {"field": {"ref": "property", "name": "x" * 100}, "operator": "changed"},
    ],
)
def test_a_valid_tree_is_returned_as_it_is(tree: dict[str, Any]) -> None:
    assert parse_condition(tree) == tree


@pytest.mark.parametrize(
    ("operator", "fits", "unfit"),
    [
        ("eq", ["B", 1, 1.5, Decimal("1.10"), True, None, [1], {"a": 1}], []),
        ("neq", ["B", 1, 1.5, Decimal("1.10"), True, None, [1], {"a": 1}], []),
        *[
            (operator, ["B", "", 1, 1.5, Decimal("1.10")], [True, None, [1], {}])
            for operator in ("gt", "gte", "lt", "lte")
        ],
        *[
            (operator, ["B", "", 1, 1.5, Decimal("1.10"), False], [None, [1], {}])
            for operator in ("contains", "not_contains")
        ],
        *[
            (operator, ["B", ""], [1, True, None, ["B"], {}])
            for operator in ("starts_with", "ends_with")
        ],
        *[
            (operator, [["B"], [1, None, "x"]], [[], "B", 1, None, {"a": 1}])
            for operator in ("in", "not_in")
        ],
        (
            "matches",
            ["a+", "^B$", "x" * 512],
            ["", "x" * 513, "(", r"(?=a)", r"(a)\1", r"\pL{1,999}", 1, None, ["a"]],
        ),
    ],
)
def test_each_operator_takes_the_values_that_it_compares(
    operator: str, fits: list[Any], unfit: list[Any]
) -> None:
    for value in fits:
        tree = _leaf(operator, value=value)
        assert parse_condition(tree) == tree
    for value in unfit:
        assert [path for path, _ in _faults(_leaf(operator, value=value))] == ["condition.value"]
    assert _faults(_leaf(operator)) == [("condition.value", f"is required by {operator}")]


@pytest.mark.parametrize("operator", ["is_empty", "is_not_empty", "changed"])
@pytest.mark.parametrize("value", ["B", None, False])
def test_a_question_takes_no_value_not_even_null(operator: str, value: Any) -> None:
    assert parse_condition(_leaf(operator)) == _leaf(operator)
    faults = _faults(_leaf(operator, value=value))
    assert faults == [("condition.value", f"does not belong to {operator}")]


@pytest.mark.parametrize(
    ("tree", "path", "message"),
    [
        (5, "condition", "must be an object"),
        ([], "condition", "must be an object"),
        ("x", "condition", "must be an object"),
        ({"and": []}, "condition.and", "must be a list of at least one condition"),
        ({"or": {}}, "condition.or", "must be a list of at least one condition"),
        ({"or": None}, "condition.or", "must be a list of at least one condition"),
        ({"not": None}, "condition.not", "must be an object"),
        ({"not": [LEAF]}, "condition.not", "must be an object"),
        ({"and": [LEAF], "or": [LEAF]}, "condition.or", "is not a known key"),
        ({"and": [LEAF], "operator": "eq"}, "condition.operator", "is not a known key"),
        ({"and": [LEAF, 5]}, "condition.and[1]", "must be an object"),
        (LEAF | {"x": 1}, "condition.x", "is not a known key"),
        (LEAF | {"First Name": 1}, 'condition["First Name"]', "is not a known key"),
        (_leaf("equals", value=1), "condition.operator", "is not a known operator"),
        (_leaf("EQ", value=1), "condition.operator", "is not a known operator"),
        (LEAF | {"operator": None}, "condition.operator", "is not a known operator"),
        (LEAF | {"operator": ["eq"]}, "condition.operator", "is not a known operator"),
        (LEAF | {"field": "Status"}, "condition.field", "must be an object"),
        ({"operator": "eq", "value": 1}, "condition.field", "must be an object"),
        (
            LEAF | {"field": {"name": "x"}},
            "condition.field.ref",
            'must be "property" or "event"',
        ),
        (
            LEAF | {"field": {"ref": ["property"], "name": "x"}},
            "condition.field.ref",
            'must be "property" or "event"',
        ),
        (
            LEAF | {"field": {"ref": "property"}},
            "condition.field.name",
            "must be a text of 1 to 100 characters",
        ),
        (
            LEAF | {"field": {"ref": "property", "name": "x" * 101}},
            "condition.field.name",
            "must be a text of 1 to 100 characters",
        ),
        (
            LEAF | {"field": {"ref": "event", "path": ""}},
            "condition.field.path",
            "must be a text of 1 to 512 characters",
        ),
        (
            LEAF | {"field": {"ref": "event", "path": "x" * 513}},
            "condition.field.path",
            "must be a text of 1 to 512 characters",
        ),
        (
            LEAF | {"field": {"ref": "event", "path": "a..b"}},
            "condition.field.path",
            "must be a path such as a.b[0]",
        ),
        (
            LEAF | {"field": STATUS | {"path": "a"}},
            "condition.field.path",
            "is not a known key",
        ),
    ],
)
def test_case_069_a_malformed_tree_is_refused_with_its_path(
    tree: Any, path: str, message: str
) -> None:
    assert _faults(tree) == [(path, message)]


def test_all_faults_are_told_in_their_order() -> None:
    tree = {"and": [_leaf("x"), {"not": LEAF | {"y": 1}}, _leaf("in", value=[])]}
    assert [path for path, _ in _faults(tree)] == [
        "condition.and[0].operator",
        "condition.and[1].not.y",
        "condition.and[2].value",
    ]


def test_the_path_begins_where_the_tree_stands() -> None:
    with pytest.raises(InvalidError, match=r"^filter\.and: must be a list"):
        parse_condition({"and": []}, path="filter")


@pytest.mark.parametrize("key", ["not", "and", "or"])
def test_eight_levels_are_taken_and_nine_are_not(key: str) -> None:
    assert parse_condition(_nested(8, key)) == _nested(8, key)
    assert [message for _, message in _faults(_nested(9, key))] == [
        "is nested more than 8 levels deep"
    ]


def test_a_hundred_comparisons_are_taken_and_one_more_is_not() -> None:
    assert parse_condition({"and": [{"or": [LEAF] * 50}] * 2})
    for tree in ({"and": [LEAF] * 101}, {"or": [{"and": [LEAF] * 100}, LEAF, LEAF]}):
        assert _faults(tree) == [("condition", "has more than 100 comparisons")]


@pytest.mark.parametrize(
    "tree",
    [
        _nested(60),
        _nested(20_000),
        {"and": [LEAF] * 10_000},
        {"and": [{}] * 100_000},
        {"and": [{"and": []}] * 100_000},
        {f"key{n}": 1 for n in range(100_000)},
        {"x" * 1_000_000: 1},
    ],
    ids=["60 levels", "20,000 levels", "10,000 leaves", "empty", "lists", "keys", "long key"],
)
def test_case_100_a_hostile_tree_is_refused_quickly_and_shortly(tree: Any) -> None:
    faults = _faults(tree)
    assert least_cpu_s(lambda: _faults(tree)) < 1
    assert len(faults) <= 50
    assert len(str(faults)) < 20_000


def test_case_074_a_pattern_that_backtracking_engines_choke_on_is_taken() -> None:
    tree = _leaf("matches", value="^(a+)+$")
    assert parse_condition(tree) == tree


def test_a_refusal_does_not_repeat_values() -> None:
    assert "hunter2" not in str(_faults(_leaf("in", value="hunter2")))
    assert "hunter2" not in str(_faults(_leaf("matches", value="hunter2(")))


_JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["eq", "property", "x", "a.b"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["and", "or", "not", "field", "operator", "value", "ref", "name"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@settings(deadline=None, max_examples=300)
@given(_JSON)
def test_any_json_is_either_a_condition_or_refused(value: Any) -> None:
    try:
        assert parse_condition(value) == value
    except InvalidError as error:
        assert error.details  # noqa: PT017  # either outcome is right, a third one is not
