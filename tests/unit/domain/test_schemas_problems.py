"""Details of a 422: paths of JSON, at most 50, nothing repeated."""

from datetime import UTC, datetime
from typing import Annotated, Any

import pytest
from pydantic import Field, ValidationError

from whenthen.domain.errors import InvalidError
from whenthen.domain.schemas.base import Id, Model, Name
from whenthen.domain.schemas.data import CreateToken
from whenthen.domain.schemas.problems import details_of, read


class _Inner(Model):
    some_count: int
    is_open: bool = False


class _Outer(Model):
    inner_parts: list[_Inner] = Field(default_factory=list)
    by_name: dict[Name, Annotated[str, Field(max_length=3)]] = Field(default_factory=dict)
    owner_id: Id | None = None


def _details(body: Any) -> list[dict[str, str]]:
    with pytest.raises(ValidationError) as caught:
        _Outer.model_validate(body, by_name=False)
    return details_of(caught.value)


@pytest.mark.parametrize(
    ("body", "path", "message", "kind"),
    [
        ({"innerParts": [{}]}, "innerParts[0].someCount", "is required", "missing"),
        (
            {"innerParts": [{"someCount": "1"}]},
            "innerParts[0].someCount",
            "must be a whole number",
            "int_type",
        ),
        (
            {"innerParts": [{"someCount": True}]},
            "innerParts[0].someCount",
            "must be a whole number",
            "int_type",
        ),
        (
            {"innerParts": [{"someCount": 1, "isOpen": 0}]},
            "innerParts[0].isOpen",
            "must be true or false",
            "bool_type",
        ),
        ({"innerParts": {}}, "innerParts", "must be a list", "list_type"),
        ({"innerParts": [5]}, "innerParts[0]", "must be an object", "model_type"),
        ({"byName": []}, "byName", "must be an object", "dict_type"),
        ({"byName": {"a": 5}}, "byName.a", "must be a text", "string_type"),
        (
            {"byName": {"First Name": "long"}},
            'byName["First Name"]',
            "String should have at most 3 characters",
            "string_too_long",
        ),
        (
            {"byName": {"": "x"}},
            'byName[""]',
            "String should have at least 1 character",
            "string_too_short",
        ),
        ({"ownerId": "x"}, "ownerId", "must be an id (a UUID)", "id"),
        ({"inner_parts": []}, "inner_parts", "is not a known key", "extra_forbidden"),
        (None, "", "must be an object", "model_type"),
    ],
)
def test_a_detail_names_json_keys_only(body: Any, path: str, message: str, kind: str) -> None:
    assert _details(body) == [{"path": path, "message": message, "type": kind}]


def test_the_422_speaks_with_its_first_detail() -> None:
    with pytest.raises(InvalidError) as caught:
        read(_Outer, {"ownerId": 5, "zz": 1})
    assert caught.value.code == "VALIDATION_FAILED"
    assert caught.value.message == "ownerId: must be an id (a UUID)"
    assert len(caught.value.details or ()) == 2


def test_case_100_a_fault_per_key_gives_fifty_short_details() -> None:
    details = _details({f"{'k' * 200}{n}": 1 for n in range(10_000)})
    assert len(details) == 50
    assert details[0]["path"] == "k" * 100


def test_no_detail_repeats_a_value() -> None:
    secret = "hunter2-hunter2"
    body = {"innerParts": secret, "byName": {"a": secret}, "ownerId": secret}
    assert secret not in str(_details(body))


def test_in_python_the_snake_case_names_and_python_values_do() -> None:
    assert _Outer(inner_parts=[_Inner(some_count=1)]).to_json() == {
        "innerParts": [{"someCount": 1, "isOpen": False}],
        "byName": {},
    }
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert CreateToken(name="x", expires_at=now).expires_at == now


def test_a_value_is_frozen() -> None:
    part = _Inner(some_count=1)
    with pytest.raises(ValidationError):
        part.some_count = 2  # type: ignore[misc]
