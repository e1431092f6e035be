"""Whether an event passes a condition: trees, fields, explanations, what is refused."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whenthen.domain.json_text import dumps, loads
from whenthen.domain.kinds import PropertyType
from whenthen.domain.rules.condition import Evaluation, evaluate

YES = True


def leaf(operator: str, *value: Any, name: str = "P") -> dict[str, Any]:
    operands = {"value": value[0]} if value else {}
    return {"field": {"ref": "property", "name": name}, "operator": operator, **operands}


def event_leaf(path: str, operator: str, *value: Any) -> dict[str, Any]:
    return leaf(operator, *value) | {"field": {"ref": "event", "path": path}}


def result_of(
    tree: Mapping[str, Any],
    properties: Mapping[str, Any] | None = None,
    event: Mapping[str, Any] | None = None,
) -> bool | None:
    evaluation = evaluate(tree, event or {}, properties or {}, {})
    assert evaluation.explain is not None
    result = evaluation.explain["result"]
    # Unknown at the root is false, so nothing passes by mistake.
    assert evaluation.result is (result is True)
    return None if result is None else bool(result)


TRUE, FALSE, UNKNOWN = leaf("is_empty"), leaf("is_not_empty"), leaf("gt", 1)
OF = {True: TRUE, False: FALSE, None: UNKNOWN}
KLEENE = [
    # left, right, and, or
    (True, True, True, True),
    (True, False, False, True),
    (True, None, None, True),
    (False, True, False, True),
    (False, False, False, False),
    (False, None, False, None),
    (None, True, None, True),
    (None, False, False, None),
    (None, None, None, None),
]


@pytest.mark.parametrize(("left", "right", "both", "either"), KLEENE)
def test_and_and_or_follow_kleene(
    *, left: bool | None, right: bool | None, both: bool | None, either: bool | None
) -> None:
    assert result_of({"and": [OF[left], OF[right]]}) is both
    assert result_of({"or": [OF[left], OF[right]]}) is either


@pytest.mark.parametrize(("arg", "result"), [(True, False), (False, True), (None, None)])
def test_not_keeps_unknown(*, arg: bool | None, result: bool | None) -> None:
    assert result_of({"not": OF[arg]}) is result


@pytest.mark.parametrize("name", ["and", "or"])
@pytest.mark.parametrize("arg", [True, False, None])
def test_a_list_of_one_is_that_one(name: str, *, arg: bool | None) -> None:
    assert result_of({name: [OF[arg]]}) is arg


def test_no_condition_always_holds_and_explains_nothing() -> None:
    assert evaluate(None, {}, {}, {}) == Evaluation(result=True, explain=None)


STATUS_IS_B = leaf("eq", "B", name="Status")


@pytest.mark.parametrize(
    ("properties", "passes"),
    [
        ({}, False),
        ({"Status": None}, False),
        ({"Status": ""}, False),
        ({"Status": "B"}, True),
        ({"Status": {}}, False),
        ({"Statsu": "B"}, False),
        ({"status": "B"}, False),
    ],
)
def test_case_064_an_absent_field_fails_closed(properties: dict[str, Any], *, passes: bool) -> None:
    assert result_of(STATUS_IS_B, properties) is passes


def test_case_064_a_whole_payload_of_null_fails_closed() -> None:
    event = {"type": "record.created", "payload": None}
    assert result_of(event_leaf("payload.properties.Status", "eq", "B"), event=event) is False


def test_case_069_one_true_leaf_of_three_is_not_enough() -> None:
    tree = {
        "and": [
            event_leaf("status", "eq", "published"),
            event_leaf("notify", "eq", YES),
            event_leaf("user", "is_not_empty"),
        ]
    }
    event = {"status": "published", "notify": False, "user": "u1"}
    assert result_of(tree, event=event) is False
    assert result_of(tree, event=event | {"notify": True}) is True


EVENT = {
    "type": "record.updated",
    "recordId": "r1",
    "a": {"b": [{"First Name": "Ada"}, 7], "n": None},
    "größe": 3,
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("type", "record.updated"),
        ("a.b[1]", 7),
        ('a.b[0]["First Name"]', "Ada"),
        ("größe", 3),
        ("a.n", None),
        ("a.missing", None),
        ("a.b[2]", None),
        ("recordId[0]", None),
        ("payload.x", None),
    ],
)
def test_an_event_field_is_a_path_into_the_event(path: str, value: Any) -> None:
    explain = evaluate(event_leaf(path, "eq", value), EVENT, {}, {}).explain
    assert explain == {"op": "eq", "left": value, "right": value, "result": True}


def test_a_property_field_is_a_name_and_no_path() -> None:
    assert result_of(leaf("eq", 1, name="a.b"), {"a": {"b": 2}, "a.b": 1}) is True


def test_the_type_of_a_property_counts_for_that_property_only() -> None:
    tree = {"and": [leaf("eq", YES, name="Done"), leaf("eq", YES, name="Text")]}
    evaluation = evaluate(
        tree,
        {},
        {"Done": "true", "Text": "true"},
        {"Done": PropertyType.CHECKBOX, "Text": PropertyType.TEXT},
    )
    assert evaluation.explain is not None
    assert [arg["result"] for arg in evaluation.explain["args"]] == [True, False]


@pytest.mark.parametrize(
    ("event", "result"),
    [
        ({"changedProperties": ["Status", "Name"]}, True),
        ({"changedProperties": ["Name"]}, False),
        ({"changedProperties": []}, False),
        ({"changedProperties": None}, False),
        ({"changedProperties": "Status"}, False),
        ({"changedProperties": {"Status": 1}}, False),
        ({"changedProperties": [7, None, "Status"]}, True),
        ({"changedProperties": [7, None]}, False),
        ({}, False),
    ],
)
def test_changed_asks_the_event(event: dict[str, Any], *, result: bool) -> None:
    assert result_of(leaf("changed", name="Status"), {"Status": "B"}, event) is result


@pytest.mark.parametrize("kept", ["Caf\u00e9", "Cafe\u0301"])
def test_a_property_is_found_however_its_name_is_composed(kept: str) -> None:
    event = {"changedProperties": [kept]}
    for written in ("Caf\u00e9", "Cafe\u0301"):
        assert result_of(leaf("eq", "x", name=written), {kept: "x"}, event) is True
        assert result_of(leaf("changed", name=written), {kept: "x"}, event) is True


def test_whether_event_data_changed_is_unknown() -> None:
    event = {"changedProperties": ["Status"], "Status": "B"}
    assert result_of(event_leaf("Status", "changed"), event=event) is None


EMPTY: list[Any] = [None, "", [], {}]
NOT_EMPTY: list[Any] = [0, False, "0", " ", "   ", [None], [[]], {"a": None}, 0.0]


@pytest.mark.parametrize("value", EMPTY + NOT_EMPTY, ids=repr)
def test_case_065_empty_is_one_written_table(value: Any) -> None:
    # `in` would take 0 and False for one another.
    empty = any(value == one and type(value) is type(one) for one in EMPTY)
    assert result_of(leaf("is_empty"), {"P": value}) is empty
    assert result_of(leaf("is_not_empty"), {"P": value}) is not empty
    assert result_of(event_leaf("v", "is_empty"), event={"v": value}) is empty


def test_case_065_absent_is_empty() -> None:
    assert result_of(leaf("is_empty")) is True
    assert result_of(leaf("is_not_empty")) is False


def test_the_explanation_has_the_shape_of_the_tree() -> None:
    tree = {"and": [STATUS_IS_B, {"not": {"or": [leaf("is_empty"), leaf("gt", 5, name="N")]}}]}
    evaluation = evaluate(tree, {}, {"Status": "A", "P": "x", "N": None}, {})
    assert evaluation == Evaluation(
        result=False,
        explain={
            "op": "and",
            "args": [
                {"op": "eq", "left": "A", "right": "B", "result": False},
                {
                    "op": "not",
                    "args": [
                        {
                            "op": "or",
                            "args": [
                                {"op": "is_empty", "left": "x", "right": None, "result": False},
                                {"op": "gt", "left": None, "right": 5, "result": None},
                            ],
                            "result": None,
                        }
                    ],
                    "result": None,
                },
            ],
            "result": False,
        },
    )


def test_large_values_are_shortened_in_the_explanation() -> None:
    tree = {"or": [leaf("eq", "y" * 60_000), leaf("contains", "z", name="Q")]}
    explain = evaluate(tree, {}, {"P": "x" * 60_000, "Q": ["a"] * 60_000}, {}).explain
    assert explain is not None
    assert explain["args"][0]["left"] == "x" * 200 + "…"
    assert explain["args"][0]["right"] == "y" * 200 + "…"
    assert explain["args"][1]["left"].startswith('["a","a"')
    assert len(dumps(explain)) < 2_000


def test_case_072_only_the_updates_that_change_to_done_pass() -> None:
    tree = leaf("eq", "Done", name="Status")
    assert result_of(tree, {"Status": "Done"}) is True
    assert result_of(tree, {"Status": "Open"}) is False


def test_case_075_a_64_bit_id_keeps_its_digits() -> None:
    event = loads('{"id": 8202522731445525542, "amount": 1.10, "n": 9007199254740993}')
    assert result_of(event_leaf("id", "eq", 8202522731445525542), event=event) is True
    assert result_of(event_leaf("id", "eq", 8202522731445525543), event=event) is False
    assert result_of(event_leaf("id", "eq", "8202522731445525542"), event=event) is True
    assert result_of(event_leaf("n", "eq", 9007199254740992), event=event) is False
    assert result_of(event_leaf("amount", "eq", 1.1), event=event) is True


leaves = st.sampled_from([TRUE, FALSE, UNKNOWN])
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.fixed_dictionaries({"and": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"or": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"not": inner}),
    ),
    max_leaves=6,
)


def depth(tree: dict[str, Any]) -> int:
    parts = tree.get("and") or tree.get("or") or ([tree["not"]] if "not" in tree else [])
    return 1 + max((depth(part) for part in parts), default=0)


@given(trees.filter(lambda tree: depth(tree) <= 7))
def test_de_morgan_holds_and_negation_never_opens_an_unknown(tree: dict[str, Any]) -> None:
    result = result_of(tree)
    assert result_of({"not": tree}) is (None if result is None else not result)


@given(
    st.lists(trees.filter(lambda tree: depth(tree) <= 5), min_size=1, max_size=3),
)
def test_and_is_the_negation_of_or_of_negations(parts: list[dict[str, Any]]) -> None:
    negated: dict[str, Any] = {"not": {"or": [{"not": part} for part in parts]}}
    assert result_of({"and": parts}) is result_of(negated)
