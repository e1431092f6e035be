"""The caller's own API tokens: shown once, listed without their text, worthless when revoked."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.integration.http_api.client import Api, Client
from whenthen.domain import instants
from whenthen.domain.kinds import Role


def test_a_token_is_shown_once_and_works(api: Api) -> None:
    made = api.mine.viewer.post("/me/tokens", {"name": "laptop"})
    assert made.status == 201
    token = made.json["token"]
    assert token.startswith("wt_")
    assert made.json == {
        "id": made.json["id"],
        "name": "laptop",
        "expiresAt": None,
        "lastUsedAt": None,
        "createdAt": made.json["createdAt"],
        "token": token,
    }
    assert Client(token).get("/me").json["id"] == str(api.mine.user_ids[Role.VIEWER])
    listed = api.mine.viewer.get("/me/tokens")
    assert [row["name"] for row in listed.json["data"]] == ["laptop", "test"]
    assert listed.json["data"][0]["lastUsedAt"] is not None
    assert token not in listed.text
    assert "token" not in listed.json["data"][0]


def test_a_revoked_token_is_worthless_at_once_and_gone_from_the_list(api: Api) -> None:
    made = api.mine.viewer.post("/me/tokens", {"name": "laptop"}).json
    client = Client(made["token"])
    assert client.get("/me").status == 200
    assert api.mine.viewer.delete(f"/me/tokens/{made['id']}").status == 204
    assert (client.get("/me").status, client.get("/me").code) == (401, "UNAUTHENTICATED")
    assert [row["name"] for row in api.mine.viewer.get("/me/tokens").json["data"]] == ["test"]
    assert api.mine.viewer.delete(f"/me/tokens/{made['id']}").status == 404


def test_a_token_can_revoke_itself(api: Api) -> None:
    (row,) = api.mine.viewer.get("/me/tokens").json["data"]
    assert api.mine.viewer.delete(f"/me/tokens/{row['id']}").status == 204
    assert api.mine.viewer.get("/me").status == 401


def test_somebody_elses_token_is_out_of_reach(api: Api) -> None:
    (row,) = api.mine.viewer.get("/me/tokens").json["data"]
    for client in (api.mine.owner, api.other.owner):
        assert client.delete(f"/me/tokens/{row['id']}").status == 404
        assert row["id"] not in client.get("/me/tokens").text
    assert api.mine.viewer.get("/me").status == 200


def test_an_expired_token_is_listed_but_worthless(api: Api) -> None:
    soon = instants.to_text(datetime.now(UTC) + timedelta(minutes=1))
    made = api.mine.viewer.post("/me/tokens", {"name": "short", "expiresAt": soon}).json
    assert made["expiresAt"] == soon
    assert Client(made["token"]).get("/me").status == 200
    api.context.database.clock_offset_s = 61
    assert Client(made["token"]).get("/me").status == 401
    assert api.mine.viewer.get("/me/tokens").json["data"][0]["name"] == "short"


INVALID: list[tuple[Any, str]] = [
    ({}, "name"),
    ({"name": ""}, "name"),
    ({"name": "x" * 101}, "name"),
    ({"name": "x", "expiresAt": "2020-01-01T00:00:00Z"}, "expiresAt"),
    ({"name": "x", "expiresAt": "tomorrow"}, "expiresAt"),
    ({"name": "x", "expiresAt": 1_900_000_000}, "expiresAt"),
    ({"name": "x", "expiresAt": "9999-12-31T23:59:59-12:00"}, "expiresAt"),
    ({"name": "x", "scope": "all"}, "scope"),
]


@pytest.mark.parametrize(("body", "at"), INVALID)
def test_a_bad_body_is_422(api: Api, body: Any, at: str) -> None:
    answer = api.mine.viewer.post("/me/tokens", body)
    assert (answer.status, answer.code) == (422, "VALIDATION_FAILED")
    assert [detail["path"] for detail in answer.error["details"]] == [at]


def test_a_token_may_outlive_us_all(api: Api) -> None:
    body = {"name": "x", "expiresAt": "9999-12-31T23:59:59Z"}
    made = api.mine.viewer.post("/me/tokens", body).json
    assert made["expiresAt"] == "9999-12-31T23:59:59.000Z"
    assert Client(made["token"]).get("/me").status == 200


def test_the_admins_of_every_workspace_that_a_token_reaches_are_told(api: Api) -> None:
    user_id = api.mine.user_ids[Role.VIEWER]
    api.grant(user_id, api.other.database_id, "VIEW")
    made = api.mine.viewer.post("/me/tokens", {"name": "laptop"}).json
    api.mine.viewer.delete(f"/me/tokens/{made['id']}")
    for tenant in (api.mine, api.other):
        answer = tenant.owner.get(f"/workspaces/{tenant.workspace_id}/audit")
        rows = answer.json["data"]
        assert [row["action"] for row in rows] == ["token.revoked", "token.created"]
        assert {row["resource"]["id"] for row in rows} == {made["id"]}
        assert {row["actor"]["id"] for row in rows} == {str(user_id)}
        assert made["token"] not in answer.text
