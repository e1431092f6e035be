"""Members: who may let whom in, and that an OWNER always stays."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest

from tests.integration.http_api.client import Answer, Api, Client, Tenant
from whenthen.domain.errors import ConflictError
from whenthen.domain.kinds import Role
from whenthen.domain.rules.permissions import Access
from whenthen.engine import manage_members
from whenthen.engine.identify import Caller


def path(tenant: Tenant) -> str:
    return f"/workspaces/{tenant.workspace_id}/members"


def add(client: Client, tenant: Tenant, email: str, role: str) -> Answer:
    return client.post(path(tenant), {"email": email, "role": role})


def remove(client: Client, tenant: Tenant, role: Role) -> Answer:
    return client.delete(f"{path(tenant)}/{tenant.user_ids[role]}")


def email_of(api: Api, role: Role) -> str:
    (row,) = api.sql("select email from users where id = :u", u=api.mine.user_ids[role])
    return str(row["email"])


def test_an_unknown_address_becomes_a_user_and_a_member(api: Api) -> None:
    added = add(api.mine.clients[Role.ADMIN], api.mine, "Ada@example.test", "EDITOR")
    assert added.status == 201
    assert added.json == {
        "userId": added.json["userId"],
        "email": "Ada@example.test",
        "name": None,
        "role": "EDITOR",
        "createdAt": added.json["createdAt"],
    }
    listed = api.mine.viewer.get(path(api.mine)).json["data"]
    assert listed[0] == added.json
    assert len(listed) == 5


def test_a_member_of_one_workspace_can_join_another_and_stays_one_user(api: Api) -> None:
    first = add(api.mine.owner, api.mine, "ada@example.test", "VIEWER").json
    second = add(api.other.owner, api.other, "ADA@example.test", "OWNER").json
    assert first["userId"] == second["userId"]
    assert (first["role"], second["role"]) == ("VIEWER", "OWNER")


def test_adding_a_member_again_gives_the_new_role_once(api: Api) -> None:
    email = email_of(api, Role.VIEWER)
    for _ in range(2):
        assert add(api.mine.owner, api.mine, email, "EDITOR").json["role"] == "EDITOR"
    assert audited(api) == [("member.added", {"role": "EDITOR", "from": "VIEWER"})]


def test_a_removed_member_sees_nothing_any_more(api: Api) -> None:
    api.grant(api.mine.user_ids[Role.EDITOR], api.mine.database_id, "EDIT")
    assert remove(api.mine.clients[Role.ADMIN], api.mine, Role.EDITOR).status == 204
    assert api.mine.editor.get(path(api.mine)).status == 404
    assert api.mine.editor.get(api.mine.automations_path).status == 404
    assert remove(api.mine.owner, api.mine, Role.EDITOR).status == 404
    assert audited(api) == [("member.removed", {"role": "EDITOR"})]


def test_a_removal_leaves_grants_in_other_workspaces(api: Api) -> None:
    user_id = api.mine.user_ids[Role.EDITOR]
    api.grant(user_id, api.other.database_id, "VIEW")
    remove(api.mine.owner, api.mine, Role.EDITOR)
    assert api.mine.editor.get(api.other.automations_path).status == 200


def test_only_an_owner_makes_changes_and_removes_owners(api: Api) -> None:
    admin = api.mine.clients[Role.ADMIN]
    refused = [
        add(admin, api.mine, "ada@example.test", "OWNER"),
        add(admin, api.mine, email_of(api, Role.ADMIN), "OWNER"),
        add(admin, api.mine, email_of(api, Role.OWNER), "VIEWER"),
        remove(admin, api.mine, Role.OWNER),
    ]
    assert [(answer.status, answer.code) for answer in refused] == [(403, "FORBIDDEN")] * 4
    assert api.sql("select 1 from users where email = 'ada@example.test'") == []
    assert add(api.mine.owner, api.mine, email_of(api, Role.ADMIN), "OWNER").status == 201
    assert remove(admin, api.mine, Role.OWNER).status == 204


def test_the_last_owner_stays(api: Api) -> None:
    refused = [
        remove(api.mine.owner, api.mine, Role.OWNER),
        add(api.mine.owner, api.mine, email_of(api, Role.OWNER), "ADMIN"),
    ]
    assert [(answer.status, answer.code) for answer in refused] == [(409, "LAST_OWNER")] * 2
    assert add(api.mine.owner, api.mine, email_of(api, Role.OWNER), "OWNER").status == 201
    assert add(api.mine.owner, api.mine, email_of(api, Role.ADMIN), "OWNER").status == 201
    assert add(api.mine.owner, api.mine, email_of(api, Role.OWNER), "VIEWER").status == 201


def test_of_two_owners_who_remove_each_other_at_once_one_stays(api: Api) -> None:
    add(api.mine.owner, api.mine, email_of(api, Role.ADMIN), "OWNER")
    pair = [api.mine.user_ids[role] for role in (Role.OWNER, Role.ADMIN)]

    def try_to_remove(n: int) -> str:
        caller = Caller(pair[n], api.mine.workspace_id, Access(Role.OWNER))
        try:
            api.context.database.transact(
                lambda connection: manage_members.remove(connection, caller, pair[1 - n])
            )
        except ConflictError as error:
            return error.code
        return "removed"

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(try_to_remove, range(2))) == ["LAST_OWNER", "removed"]


INVALID: list[tuple[Any, str]] = [
    ({"role": "EDITOR"}, "email"),
    ({"email": "a@b.test"}, "role"),
    ({"email": "nobody", "role": "EDITOR"}, "email"),
    ({"email": "a@b.test, c@d.test", "role": "EDITOR"}, "email"),
    ({"email": "x" * 320 + "@b.test", "role": "EDITOR"}, "email"),
    ({"email": "a@b.test", "role": "editor"}, "role"),
    ({"email": "a@b.test", "role": "EDITOR", "name": "A"}, "name"),
]


@pytest.mark.parametrize(("body", "at"), INVALID)
def test_a_bad_body_is_422(api: Api, body: Any, at: str) -> None:
    answer = api.mine.owner.post(path(api.mine), body)
    assert (answer.status, answer.code) == (422, "VALIDATION_FAILED")
    assert [detail["path"] for detail in answer.error["details"]] == [at]


def test_a_member_of_another_workspace_is_none_here(api: Api) -> None:
    for user_id in (api.other.user_ids[Role.VIEWER], uuid4(), "nonsense"):
        assert api.mine.owner.delete(f"{path(api.mine)}/{user_id}").status == 404


def audited(api: Api) -> list[Any]:
    rows = api.mine.owner.get(f"/workspaces/{api.mine.workspace_id}/audit").json["data"]
    return [(row["action"], row["data"]) for row in rows]
