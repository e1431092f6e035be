"""The first workspace of a deployment: made once, by whoever may invoke the migrator."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import text

from tests.conftest import settings_for
from whenthen.domain.rules.permissions import Subject
from whenthen.engine.bootstrap import bootstrap
from whenthen.engine.context import Context
from whenthen.store import access, tenants

EVENT = {"action": "bootstrap", "workspace": "Support", "email": "ada@example.com"}


@pytest.fixture
def context(migrated_url: str) -> Any:
    opened = Context(settings_for(migrated_url), "db-migrator")
    yield opened
    opened.database.close()


def rows(context: Context, statement: str) -> list[dict[str, Any]]:
    return context.database.transact(
        lambda connection: [dict(row) for row in connection.execute(text(statement)).mappings()]
    )


def code_of(answer: dict[str, Any]) -> str:
    assert answer.keys() == {"error"}
    code: str = answer["error"]["code"]
    return code


def test_an_empty_deployment_gets_a_workspace_an_owner_and_a_token(context: Context) -> None:
    made = bootstrap(context, EVENT)
    (member,) = rows(
        context,
        "select w.id::text as workspace, w.name, u.id::text as person, u.email, m.role"
        " from members m join workspaces w on w.id = m.workspace_id"
        " join users u on u.id = m.user_id",
    )
    assert member == {
        "workspace": made["workspaceId"],
        "name": "Support",
        "person": made["userId"],
        "email": "ada@example.com",
        "role": "OWNER",
    }
    digest = tenants.hash_of(made["token"])
    standing = context.database.transact(
        lambda connection: access.of_token(connection, digest, Subject.CALLER, None)
    )
    assert standing is not None
    assert str(standing.user_id) == made["userId"]


def test_the_audit_log_says_that_it_was_the_bootstrap(context: Context) -> None:
    bootstrap(context, EVENT)
    entries = rows(context, "select action, actor_type, actor_id from audit_log order by action")
    assert [tuple(one.values()) for one in entries] == [
        ("member.added", "SYSTEM", "bootstrap"),
        ("token.created", "SYSTEM", "bootstrap"),
    ]


def test_a_second_workspace_is_refused_unless_it_is_asked_for(context: Context) -> None:
    first = bootstrap(context, EVENT)
    assert code_of(bootstrap(context, EVENT)) == "WORKSPACE_EXISTS"
    assert code_of(bootstrap(context, {**EVENT, "another": False})) == "WORKSPACE_EXISTS"
    second = bootstrap(context, {**EVENT, "another": True})
    assert second["workspaceId"] != first["workspaceId"]
    assert second["userId"] == first["userId"]
    assert len(rows(context, "select 1 from api_tokens")) == 2


def test_of_many_at_once_one_is_the_first(context: Context) -> None:
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: bootstrap(context, EVENT), range(4)))
    assert sorted(code_of(one) for one in answers if "error" in one) == ["WORKSPACE_EXISTS"] * 3
    assert len(rows(context, "select 1 from workspaces")) == 1
    assert len(rows(context, "select 1 from api_tokens")) == 1


@pytest.mark.parametrize(
    "event",
    [
        {"action": "bootstrap"},
        {**EVENT, "workspace": ""},
        {**EVENT, "workspace": "w" * 101},
        {**EVENT, "email": "ada"},
        {**EVENT, "workspace": "Sup\0port"},
        {**EVENT, "workspace": "Support \ud83d"},
        {**EVENT, "email": "a\0da@example.com"},
        {**EVENT, "email": "ada@\udc00example.com"},
        {**EVENT, "another": "yes"},
        {**EVENT, "role": "OWNER"},
        {**EVENT, "action": "migrate"},
        "bootstrap",
    ],
)
def test_what_is_not_understood_makes_nothing(context: Context, event: Any) -> None:
    assert code_of(bootstrap(context, event)) == "VALIDATION_FAILED"
    assert rows(context, "select 1 from workspaces") == []
