"""Anybody with a credential can make a workspace of their own."""

import pytest

from tests.integration.http_api.client import Api


@pytest.fixture(scope="module")
def api(module_api: Api) -> Api:
    return module_api


def test_who_makes_a_workspace_owns_it(api: Api) -> None:
    user_id, client = api.new_person()
    made = client.post("/workspaces", {"name": "Mine"})
    assert made.status == 201
    assert made.json == {"id": made.json["id"], "name": "Mine", "role": "OWNER"}
    assert client.get("/me").json["workspaces"] == [made.json]
    audit = client.get(f"/workspaces/{made.json['id']}/audit").json["data"]
    assert [(row["action"], row["resource"]) for row in audit] == [
        ("member.added", {"type": "user", "id": str(user_id)})
    ]
    assert api.mine.owner.get(f"/workspaces/{made.json['id']}/members").status == 404


@pytest.mark.parametrize("body", [{}, {"name": ""}, {"name": "x" * 101}, {"name": 1}, []])
def test_a_workspace_needs_a_name(api: Api, body: object) -> None:
    assert api.mine.owner.post("/workspaces", body).status == 422
