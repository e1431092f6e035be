from typing import Any

import pytest
from pydantic import BaseModel

from whenthen.domain.errors import InvalidError
from whenthen.domain.schemas import problems
from whenthen.domain.schemas.people import AddGrant, AddMember, CreateWorkspace
from whenthen.domain.schemas.secrets import SecretBody, is_secret_name

LEGAL: list[tuple[type[BaseModel], Any]] = [
    (CreateWorkspace, {"name": "x"}),
    (AddMember, {"email": "a@b.test", "role": "OWNER"}),
    (AddGrant, {"email": "a@b.test", "level": "VIEW"}),
    (SecretBody, {"value": "x" * 8}),
    (SecretBody, {"value": "x" * 4096}),
]
ILLEGAL: list[tuple[type[BaseModel], Any, str]] = [
    (CreateWorkspace, {"name": ""}, "name"),
    (AddMember, {"email": "a", "role": "OWNER"}, "email"),
    (AddMember, {"email": "a@b.test", "role": "owner"}, "role"),
    (AddGrant, {"email": "a@b.test", "level": "ADMIN"}, "level"),
    (SecretBody, {"value": "x" * 7}, "value"),
    (SecretBody, {"value": "x" * 4097}, "value"),
]


@pytest.mark.parametrize(("model", "body"), LEGAL)
def test_a_legal_body_is_read(model: type[BaseModel], body: Any) -> None:
    assert problems.read(model, body)


@pytest.mark.parametrize(("model", "body", "path"), ILLEGAL)
def test_an_illegal_body_is_refused_at_its_place(
    model: type[BaseModel], body: Any, path: str
) -> None:
    with pytest.raises(InvalidError) as caught:
        problems.read(model, body)
    details: Any = caught.value.details
    assert [detail["path"] for detail in details] == [path]


def test_a_secret_is_not_in_its_own_repr() -> None:
    assert "canary" not in repr(problems.read(SecretBody, {"value": "canary-value"}))


@pytest.mark.parametrize("name", ["A", "A" * 64, "A_9"])
def test_a_secrets_name_is_one_that_templates_can_write(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["", "A" * 65, "a", "9A", "_A", "A\n", "A.B", "É"])
def test_any_other_name_is_none(name: str) -> None:
    assert not is_secret_name(name)
