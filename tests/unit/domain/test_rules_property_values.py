"""Which values properties may have, which changed, and how they merge."""

import time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whenthen.domain.errors import FatalError
from whenthen.domain.json_text import loads
from whenthen.domain.kinds import PropertyType
from whenthen.domain.rules.property_values import (
    changed_properties,
    check_values,
    merge,
    value_problems,
)

OPTIONS = [
    {"id": "opt_1", "name": "A"},
    {"id": "opt_2", "name": "B"},
    {"id": "C", "name": "D"},
    {"id": "opt_3", "name": "C"},
]
SCHEMA: list[dict[str, Any]] = [
    {"name": kind.value, "type": kind.value, **({"options": OPTIONS} if "select" in kind else {})}
    for kind in PropertyType
]
PEOPLE = {"u1", "u2"}

FIT: list[tuple[str, Any, Any]] = [
    ("text", "", ""),
    ("text", "any\ntext é", "any\ntext é"),
    ("number", 0, 0),
    ("number", -1.5, -1.5),
    ("number", 9007199254740993, 9007199254740993),
    ("number", Decimal("1.10"), Decimal("1.10")),
    ("number", "12", 12),
    ("number", "-12.5", -12.5),
    ("number", "12.50", Decimal("12.50")),
    ("number", "9007199254740993", 9007199254740993),
    ("checkbox", True, True),
    ("checkbox", False, False),
    ("select", "A", "A"),
    ("select", "opt_2", "B"),
    ("select", "C", "C"),
    ("multi_select", [], []),
    ("multi_select", ["B", "A"], ["B", "A"]),
    ("multi_select", ["opt_1", "B", "A", "opt_2"], ["A", "B"]),
    ("date", "2026-06-01", "2026-06-01"),
    ("date", "2026-06-01T10:00:00+02:00", "2026-06-01T10:00:00+02:00"),
    ("date", "2026-06-01T10:00", "2026-06-01T10:00"),
    ("person", "u1", "u1"),
    ("url", "https://example.com/a?b#c", "https://example.com/a?b#c"),
    ("url", "HTTP://x", "HTTP://x"),
    ("email", "ada@example.com", "ada@example.com"),
    ("email", "a+b@x", "a+b@x"),
]


@pytest.mark.parametrize(("kind", "value", "stored"), FIT, ids=repr)
def test_a_value_that_fits_is_stored(kind: str, value: Any, stored: Any) -> None:
    found = check_values(SCHEMA, {kind: value}, people=PEOPLE)
    assert found == {kind: stored}
    assert type(found[kind]) is type(stored)
    assert value_problems(SCHEMA, found, PEOPLE) == (found, [])


UNFIT: list[tuple[str, Any]] = [
    *[("text", value) for value in (1, True, ["x"], {"x": 1})],
    *[("number", value) for value in (True, "007", " 1", "1e3", "", "x", [1], float("nan"))],
    *[("number", value) for value in (Decimal("NaN"), float("inf"), "9" * 401, "\u0661")],
    *[("checkbox", value) for value in (0, 1, "true", "", ["x"])],
    *[("select", value) for value in ("", "a", "E", 1, ["A"], {"name": "A"}, True)],
    *[("multi_select", value) for value in ("A", ["E"], ["A", None], [["A"]], {"A": 1}, [1])],
    *[("date", value) for value in ("", "soon", "2026-06-31", "01.06.2026", 20260601, "12:00")],
    *[("person", value) for value in ("u3", "", 1, ["u1"], {"id": "u1"})],
    *[
        ("url", value)
        for value in ("example.com", "ftp://x", "https://", "https:///x", "https://?")
    ],
    *[("url", value) for value in ("https://a b", " https://a", "javascript:alert(1)", 1)],
    *[("email", value) for value in ("x", "@x", "x@", "a@b@c", "a b@c", "A <a@b>", "a@b,c@d", 1)],
]


@pytest.mark.parametrize(("kind", "value"), UNFIT, ids=repr)
def test_a_value_that_does_not_fit_is_refused(kind: str, value: Any) -> None:
    with pytest.raises(FatalError) as caught:
        check_values(SCHEMA, {kind: value}, people=PEOPLE)
    assert caught.value.code == "PROPERTY_INVALID"
    assert caught.value.message.startswith(f"properties.{kind}: must be ")


@pytest.mark.parametrize("kind", PropertyType)
def test_null_clears_a_property_of_any_type(kind: PropertyType) -> None:
    assert check_values(SCHEMA, {kind.value: None}, people=()) == {kind.value: None}


def test_an_unknown_property_is_refused() -> None:
    with pytest.raises(FatalError, match="Nmae") as caught:
        check_values(SCHEMA, {"Nmae": "x"}, people=PEOPLE)
    assert caught.value.code == "PROPERTY_INVALID"
    with pytest.raises(FatalError):
        check_values(SCHEMA, {"Nmae": None}, people=PEOPLE)


def test_no_values_are_fine() -> None:
    assert check_values([], {}, people=()) == {}


@pytest.mark.parametrize("kind", ["select", "multi_select"])
def test_a_select_without_options_takes_nothing(kind: str) -> None:
    value = "A" if kind == "select" else ["A"]
    schema: dict[str, Any] = {"name": "S", "type": kind}
    for known in (schema, schema | {"options": None}, schema | {"options": []}):
        assert value_problems([known], {"S": value}, ())[0] == {}


def test_every_problem_is_told_and_the_rest_is_kept() -> None:
    values = {"text": "fine", "number": "secret", "First Name": 1, "checkbox": None, "select": "E"}
    stored, problems = value_problems(SCHEMA, values, PEOPLE)
    assert stored == {"text": "fine", "checkbox": None}
    assert problems == [
        {
            "path": "properties.number",
            "message": "must be a number, or a plain decimal string",
            "type": "property_value",
        },
        {
            "path": 'properties["First Name"]',
            "message": "is not a property of this database",
            "type": "property_unknown",
        },
        {
            "path": "properties.select",
            "message": "must be the name of one of its options",
            "type": "property_value",
        },
    ]


def test_a_very_long_name_is_not_repeated_whole() -> None:
    _, (problem,) = value_problems([], {"x" * 1_000_000: 1}, ())
    assert len(problem["path"]) < 200


def test_a_hostile_text_is_refused_at_once() -> None:
    started = time.process_time()
    for kind, value in [
        ("url", "https://" + "x" * 1_000_000 + " "),
        ("email", "x" * 1_000_000),
        ("email", "x@" + "y" * 1_000_000 + "@"),
        ("number", "1" * 1_000_000),
        ("date", "2026-" * 200_000),
    ]:
        assert value_problems(SCHEMA, {kind: value}, ())[1]
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ({}, {}, []),
        ({"A": 1}, {"A": 1}, []),
        ({"A": 1}, {"A": 2}, ["A"]),
        ({"A": 1}, {}, ["A"]),
        ({}, {"A": 1}, ["A"]),
        ({}, {"A": None}, []),
        ({"A": None}, {}, []),
        ({"A": ""}, {}, ["A"]),
        ({"A": []}, {}, ["A"]),
        ({"A": 1}, {"A": 1.0}, []),
        ({"A": 1}, {"A": Decimal("1.00")}, []),
        ({"A": 1.1}, {"A": Decimal("1.10")}, []),
        ({"A": 1}, {"A": True}, ["A"]),
        ({"A": 0}, {"A": False}, ["A"]),
        ({"A": 1}, {"A": "1"}, ["A"]),
        ({"A": 9007199254740993}, {"A": 9007199254740992}, ["A"]),
        ({"A": ["x", 1]}, {"A": ["x", 1.0]}, []),
        ({"A": ["x", "y"]}, {"A": ["y", "x"]}, ["A"]),
        ({"A": ["x"]}, {"A": ["x", "x"]}, ["A"]),
        ({"A": {"b": 1}}, {"A": {"b": True}}, ["A"]),
        ({"B": 1, "A": 1, "é": 1}, {"B": 2, "A": 2, "Z": 2, "é": 1}, ["A", "B", "Z"]),
    ],
)
def test_case_072_changed_is_what_differs_in_value(
    old: dict[str, Any], new: dict[str, Any], changed: list[str]
) -> None:
    assert changed_properties(old, new) == changed
    assert changed_properties(new, old) == changed


@pytest.mark.parametrize(
    ("old", "patch", "merged"),
    [
        ({}, {}, {}),
        ({"A": 1}, {}, {"A": 1}),
        ({"A": 1}, {"B": 2}, {"A": 1, "B": 2}),
        ({"A": 1}, {"A": 2}, {"A": 2}),
        ({"A": 1, "B": 2}, {"A": None}, {"B": 2}),
        ({}, {"A": None}, {}),
        ({"A": 1}, {"A": False, "B": ""}, {"A": False, "B": ""}),
    ],
)
def test_a_patch_sets_what_it_names_and_null_takes_away(
    old: dict[str, Any], patch: dict[str, Any], merged: dict[str, Any]
) -> None:
    before = dict(old)
    assert merge(old, patch) == merged
    assert old == before


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
records = st.dictionaries(st.sampled_from("ABC"), json_values)


@given(records, records)
def test_a_patch_that_was_applied_changes_nothing_any_more(
    old: dict[str, Any], patch: dict[str, Any]
) -> None:
    new = merge(old, patch)
    assert merge(new, patch) == new
    assert set(changed_properties(old, new)) <= patch.keys()
    assert changed_properties(new, new) == []


@given(st.sampled_from(PropertyType), json_values)
def test_any_value_is_stored_or_refused(kind: PropertyType, value: Any) -> None:
    stored, problems = value_problems(SCHEMA, {kind.value: value}, PEOPLE)
    assert (kind.value in stored) is (problems == [])


@given(st.from_regex(r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?", fullmatch=True))
def test_a_plain_decimal_text_becomes_the_number_that_json_reads(text: str) -> None:
    assert check_values(SCHEMA, {"number": text}, people=()) == {"number": loads(text)}
