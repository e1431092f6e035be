"""Bodies about databases, records, pages and tokens."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from whenthen.domain.errors import InvalidError
from whenthen.domain.kinds import PropertyType
from whenthen.domain.schemas.base import Model
from whenthen.domain.schemas.data import (
    CreateDatabase,
    CreatePage,
    CreateToken,
    PatchDatabase,
    RecordBody,
)
from whenthen.domain.schemas.problems import read

ID = "019a0000-0000-7000-8000-000000000001"


def _paths(model: type[Model], body: Any) -> list[str]:
    with pytest.raises(InvalidError) as caught:
        read(model, body)
    assert caught.value.details is not None
    return [one["path"] for one in caught.value.details]  # type: ignore[index]


@pytest.mark.parametrize("type_", list(PropertyType))
def test_a_database_may_have_a_property_of_every_type(type_: PropertyType) -> None:
    body = {"name": "T", "properties": [{"name": "P", "type": type_.value}]}
    assert read(CreateDatabase, body).to_json() == body


@pytest.mark.parametrize("type_", ["select", "multi_select"])
def test_options_have_a_name_and_perhaps_an_id(type_: str) -> None:
    options = ["A", {"name": "B"}, {"id": "opt-c", "name": "C"}, {"id": "D", "name": "D"}]
    properties = [{"name": "S", "type": type_, "options": options}]
    stored = read(CreateDatabase, {"name": "T", "properties": properties}).to_json()
    assert stored["properties"][0]["options"] == [
        {"name": "A"},
        {"name": "B"},
        {"id": "opt-c", "name": "C"},
        {"id": "D", "name": "D"},
    ]


@pytest.mark.parametrize(
    ("properties", "paths"),
    [
        ([{"name": "", "type": "text"}], ["properties[0].name"]),
        ([{"name": "x" * 101, "type": "text"}], ["properties[0].name"]),
        ([{"name": "P", "type": "formula"}], ["properties[0].type"]),
        ([{"name": "P"}], ["properties[0].type"]),
        ([{"name": "P", "type": "text", "x": 1}], ["properties[0].x"]),
        ([{"name": "P", "type": "select", "options": [5]}], ["properties[0].options[0]"]),
        ([{"name": "P", "type": "select", "options": [""]}], ["properties[0].options[0].name"]),
        (
            [{"name": "P", "type": "select", "options": [str(n) for n in range(501)]}],
            ["properties[0].options"],
        ),
        ([{"name": str(n), "type": "text"} for n in range(201)], ["properties"]),
        ({}, ["properties"]),
    ],
)
def test_other_properties_are_refused(properties: Any, paths: list[str]) -> None:
    assert _paths(CreateDatabase, {"name": "T", "properties": properties}) == paths
    assert _paths(PatchDatabase, {"properties": properties}) == paths


def test_a_database_needs_a_name_only() -> None:
    assert read(CreateDatabase, {"name": "T"}).to_json() == {"name": "T", "properties": []}
    assert _paths(CreateDatabase, {}) == ["name"]


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, set()),
        ({"name": "U"}, {"name"}),
        ({"archived": False}, {"archived"}),
        ({"properties": []}, {"properties"}),
    ],
)
def test_a_patch_of_a_database_says_what_it_changes(body: Any, fields: set[str]) -> None:
    assert read(PatchDatabase, body).model_fields_set == fields


@pytest.mark.parametrize("key", ["name", "properties", "archived"])
def test_nothing_of_a_database_can_be_cleared(key: str) -> None:
    assert _paths(PatchDatabase, {key: None}) == [key]


def test_a_record_has_properties_of_any_value() -> None:
    properties = {"Name": "x", "First Name": None, "Tags": ["a"], "n": 8202522731445525542}
    assert read(RecordBody, {"properties": properties}).properties == properties


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "properties"),
        ({"properties": None}, "properties"),
        ({"properties": []}, "properties"),
        ({"properties": {"": 1}}, 'properties[""]'),
        ({"properties": {}, "id": ID}, "id"),
    ],
)
def test_another_record_is_refused(body: Any, path: str) -> None:
    assert _paths(RecordBody, body) == [path]


def test_a_page_has_a_title_and_perhaps_a_parent_and_content() -> None:
    body = read(CreatePage, {"title": "x", "parentId": ID, "content": ""})
    assert (body.title, body.parent_id, body.content) == ("x", UUID(ID), "")
    assert read(CreatePage, {"title": "x", "parentId": None}).parent_id is None


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "title"),
        ({"title": ""}, "title"),
        ({"title": "x", "parentId": "x"}, "parentId"),
        ({"title": "x", "content": {}}, "content"),
    ],
)
def test_another_page_is_refused(body: Any, path: str) -> None:
    assert _paths(CreatePage, body) == [path]


def test_a_token_has_a_name_and_perhaps_an_end() -> None:
    body = read(CreateToken, {"name": "ci", "expiresAt": "2027-01-01T00:00:00+01:00"})
    assert body.expires_at == datetime(2026, 12, 31, 23, tzinfo=UTC)
    assert read(CreateToken, {"name": "ci", "expiresAt": None}).expires_at is None
    assert read(CreateToken, {"name": "ci"}).expires_at is None


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"name": ""}, "name"),
        ({"name": "x", "expiresAt": "soon"}, "expiresAt"),
        ({"name": "x", "expiresAt": 1_800_000_000}, "expiresAt"),
    ],
)
def test_another_token_is_refused(body: Any, path: str) -> None:
    assert _paths(CreateToken, body) == [path]
