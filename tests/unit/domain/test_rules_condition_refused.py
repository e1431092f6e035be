"""Which stored conditions are refused when a run meets them."""

from typing import Any

import pytest

from whenthen.domain.errors import FatalError
from whenthen.domain.rules.condition import evaluate


def leaf(operator: str, *value: Any, name: str = "P") -> dict[str, Any]:
    operands = {"value": value[0]} if value else {}
    return {"field": {"ref": "property", "name": name}, "operator": operator, **operands}


def event_leaf(path: str, operator: str, *value: Any) -> dict[str, Any]:
    return leaf(operator, *value) | {"field": {"ref": "event", "path": path}}


TRUE, FALSE = leaf("is_empty"), leaf("is_not_empty")


def nested(levels: int) -> dict[str, Any]:
    tree: dict[str, Any] = TRUE
    for _ in range(levels - 1):
        tree = {"not": tree}
    return tree


@pytest.mark.parametrize("levels", [7, 8])
def test_a_tree_of_up_to_8_levels_is_evaluated(levels: int) -> None:
    assert evaluate(nested(levels), {}, {}, {}).result is (levels % 2 == 1)


INVALID = {
    "empty": {},
    "not an object": "x",
    "no object at all": [TRUE],
    "empty and": {"and": []},
    "empty or": {"or": []},
    "and of no list": {"and": TRUE},
    "all": {"all": [TRUE]},
    "and with or": {"and": [TRUE], "or": [TRUE]},
    "not with more": {"not": TRUE, "and": [TRUE]},
    "or with a leaf": {"or": [TRUE], **TRUE},
    "null in a branch": {"and": [TRUE, None]},
    "9 levels": nested(9),
    "60 levels": nested(60),
    "no operator": {"field": {"ref": "property", "name": "P"}},
    "no field": {"operator": "is_empty"},
    "unknown operator": leaf("like", "x"),
    "unknown operator without value": leaf("exists"),
    "operator of no text": leaf("eq", "x") | {"operator": 1},
    "eq without value": leaf("eq"),
    "is_empty with value": leaf("is_empty", None),
    "changed with value": leaf("changed", "x"),
    "unknown key": leaf("eq", "x") | {"caseSensitive": False},
    "unknown key without value": leaf("is_empty") | {"values": []},
    "field of no object": leaf("is_empty") | {"field": "P"},
    "unknown ref": leaf("is_empty") | {"field": {"ref": "record", "name": "P"}},
    "property without name": leaf("is_empty") | {"field": {"ref": "property"}},
    "property with path": leaf("is_empty") | {"field": {"ref": "property", "path": "P"}},
    "event with name": leaf("is_empty") | {"field": {"ref": "event", "path": "a", "name": "P"}},
    "bad path": event_leaf("a..b", "is_empty"),
    "in of no list": leaf("in", "B"),
    "not_in of no list": leaf("not_in", {"B": 1}),
}


@pytest.mark.parametrize("tree", INVALID.values(), ids=INVALID.keys())
def test_case_069_a_stored_tree_that_no_longer_validates_is_fatal(tree: Any) -> None:
    with pytest.raises(FatalError) as caught:
        evaluate(tree, {}, {"P": "x"}, {})
    assert caught.value.code == "CONDITION_INVALID"


@pytest.mark.parametrize("name", ["and", "or"])
def test_case_069_an_invalid_part_is_found_even_where_the_result_is_clear(name: str) -> None:
    for parts in ([TRUE, {}], [FALSE, {}]):
        with pytest.raises(FatalError):
            evaluate({name: parts}, {}, {}, {})
