"""What the properties of a database may be."""

from typing import Any

import pytest

from whenthen.domain.errors import InvalidError
from whenthen.domain.kinds import PropertyType
from whenthen.domain.rules.property_schema import normalise_schema


def select(*options: Any, type_: str = "select") -> dict[str, Any]:
    return {"name": "Status", "type": type_, "options": list(options)}


def options_of(*options: Any) -> list[dict[str, str]]:
    (stored,) = normalise_schema([select(*options)])
    found: list[dict[str, str]] = stored["options"]
    return found


@pytest.mark.parametrize(
    "kind", [kind for kind in PropertyType if "select" not in kind.value], ids=str
)
def test_a_property_without_options_is_its_name_and_type(kind: PropertyType) -> None:
    stored = {"name": "P", "type": kind.value}
    for given in (stored, stored | {"options": None}, stored | {"type": kind}):
        assert normalise_schema([given]) == [stored]
    assert type(normalise_schema([stored | {"type": kind}])[0]["type"]) is str


@pytest.mark.parametrize("type_", ["select", "multi_select"])
def test_an_option_gets_an_id_and_keeps_the_one_it_has(type_: str) -> None:
    given = [select("A", {"name": "B"}, {"id": "own", "name": "C"}, type_=type_)]
    (stored,) = normalise_schema(given)
    assert [option["name"] for option in stored["options"]] == ["A", "B", "C"]
    assert stored["options"][2] == {"id": "own", "name": "C"}
    assert len({option["id"] for option in stored["options"]}) == 3
    assert stored["options"][0]["id"].startswith("opt_")


def test_the_same_names_always_get_the_same_ids() -> None:
    assert options_of("A", "B") == options_of("A", {"name": "B", "id": None})
    assert options_of("B", "A") == options_of("A", "B")[::-1]


def test_a_stored_schema_normalises_to_itself() -> None:
    stored = normalise_schema([select("A", "B"), {"name": "Name", "type": "text"}])
    assert normalise_schema(stored) == stored


def test_a_renamed_option_keeps_its_id_and_a_new_one_of_the_old_name_gets_another() -> None:
    (old,) = options_of("A")
    renamed, new = options_of({"id": old["id"], "name": "Z"}, "A")
    assert renamed == {"id": old["id"], "name": "Z"}
    assert new["name"] == "A"
    assert new["id"] != old["id"]


def test_a_select_may_have_no_option_yet() -> None:
    assert options_of() == []


def test_no_properties_are_a_schema_too() -> None:
    assert normalise_schema([]) == []


@pytest.mark.parametrize(
    ("given", "path", "kind"),
    [
        (
            [{"name": "A", "type": "text"}, {"name": "A", "type": "number"}],
            "properties[1].name",
            "property_repeated",
        ),
        ([{"name": "A", "type": "textarea"}], "properties[0].type", "property_type"),
        ([{"name": "A", "type": "TEXT"}], "properties[0].type", "property_type"),
        ([{"name": "A", "type": "select"}], "properties[0].options", "options"),
        (
            [{"name": "A", "type": "multi_select", "options": None}],
            "properties[0].options",
            "options",
        ),
        ([{"name": "A", "type": "text", "options": ["x"]}], "properties[0].options", "options"),
        ([{"name": "A", "type": "text", "options": []}], "properties[0].options", "options"),
        ([select("x", "y", "x")], "properties[0].options[2]", "option_repeated"),
        ([select("x", {"id": "i", "name": "x"})], "properties[0].options[1]", "option_repeated"),
        (
            [select({"id": "i", "name": "x"}, {"id": "i", "name": "y"})],
            "properties[0].options[1]",
            "option_repeated",
        ),
    ],
)
def test_what_contradicts_the_rules_is_refused_by_its_place(
    given: list[dict[str, Any]], path: str, kind: str
) -> None:
    with pytest.raises(InvalidError) as caught:
        normalise_schema(given)
    assert caught.value.code == "VALIDATION_FAILED"
    assert isinstance(caught.value.details, list)
    assert [(one["path"], one["type"]) for one in caught.value.details] == [(path, kind)]


def test_every_problem_is_told() -> None:
    given = [select("x", "x"), {"name": "Status", "type": "x"}, {"name": "N", "type": "select"}]
    with pytest.raises(InvalidError) as caught:
        normalise_schema(given)
    assert caught.value.details is not None
    assert len(caught.value.details) == 4
