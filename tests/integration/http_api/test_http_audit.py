"""The audit log over HTTP: for admins, newest first, of one workspace."""

from typing import Any
from uuid import uuid4

import pytest

from tests.integration.http_api.client import Api, Tenant
from whenthen.domain.kinds import Role
from whenthen.store import audit
from whenthen.store.audit import AuditEntry


def path(tenant: Tenant) -> str:
    return f"/workspaces/{tenant.workspace_id}/audit"


def write(api: Api, *actions: str) -> None:
    entries = [
        AuditEntry(
            api.mine.workspace_id, action, "SYSTEM", "automation:1", "automation_run", "r", {"n": 1}
        )
        for action in actions
    ]
    api.context.database.transact(lambda connection: audit.add(connection, entries))


def test_an_entry_says_who_did_what_to_what(api: Api) -> None:
    write(api, "automation.dead_lettered")
    (row,) = api.mine.clients[Role.ADMIN].get(path(api.mine)).json["data"]
    assert row == {
        "id": row["id"],
        "action": "automation.dead_lettered",
        "actor": {"type": "SYSTEM", "id": "automation:1"},
        "resource": {"type": "automation_run", "id": "r"},
        "data": {"n": 1},
        "createdAt": row["createdAt"],
    }
    assert api.other.owner.get(path(api.other)).json == {"data": [], "nextCursor": None}


def test_case_104_seven_entries_of_one_instant_are_paged_once_each_while_others_come(
    api: Api,
) -> None:
    write(api, *(f"a{n}" for n in range(7)))
    api.sql("update audit_log set created_at = '2026-01-01T00:00:00.123456Z'")
    seen, cursor, pages = [], None, 0
    while cursor is not None or pages == 0:
        query = {"limit": "3"} | ({} if cursor is None else {"cursor": cursor})
        answer: Any = api.mine.owner.get(path(api.mine), **query).json
        seen += [row["action"] for row in answer["data"]]
        cursor, pages = answer["nextCursor"], pages + 1
        write(api, "late")
    assert sorted(seen) == [f"a{n}" for n in range(7)]
    assert pages == 3


def test_a_cursor_of_another_list_or_workspace_is_400(api: Api) -> None:
    write(api, "a", "b")
    members = f"/workspaces/{api.mine.workspace_id}/members"
    cursor = api.mine.owner.get(path(api.mine), limit="1").json["nextCursor"]
    for client, where in ((api.mine.owner, members), (api.other.owner, path(api.other))):
        answer = client.get(where, cursor=cursor)
        assert (answer.status, answer.code) == (400, "BAD_CURSOR")


@pytest.mark.parametrize("role", [Role.EDITOR, Role.VIEWER])
def test_it_is_for_admins_only(api: Api, role: Role) -> None:
    answer = api.mine.clients[role].get(path(api.mine))
    assert (answer.status, answer.code) == (403, "FORBIDDEN")
    assert api.mine.owner.get(f"/workspaces/{uuid4()}/audit").status == 404
