"""API tokens: kept as digests, no longer good once revoked or expired."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy.engine import Connection

from tests.integration.http_api.client import Api, Client
from whenthen.domain.kinds import Role
from whenthen.store import tenants


@pytest.mark.parametrize(
    "spoil", ["revoked_at = whenthen_now()", "expires_at = whenthen_now() - interval '1 s'"]
)
def test_a_revoked_or_expired_token_is_no_credential(api: Api, spoil: str) -> None:
    assert api.mine.viewer.get("/me").status == 200
    api.sql(f"update api_tokens set {spoil}")
    assert api.mine.viewer.get("/me").status == 401


def test_a_token_is_stored_as_a_digest_and_its_use_is_noted(api: Api) -> None:
    api.mine.viewer.get("/me")
    rows = api.sql("select octet_length(token_hash) as n, last_used_at from api_tokens")
    assert {row["n"] for row in rows} == {32}
    assert sum(row["last_used_at"] is not None for row in rows) == 1


def test_a_token_is_good_until_it_expires(api: Api) -> None:
    user_id = api.mine.user_ids[Role.VIEWER]
    soon = datetime.now(UTC) + timedelta(minutes=1)

    def make(connection: Connection) -> str:
        return tenants.create_token(connection, user_id, "short", soon)[1]

    token = api.context.database.transact(make)
    assert token.startswith("wt_")
    assert Client(token).get("/me").json["id"] == str(user_id)
    api.context.database.clock_offset_s = 61
    assert Client(token).get("/me").status == 401


def test_one_address_is_one_user_whatever_its_case(api: Api) -> None:
    def make(connection: Connection) -> tuple[UUID, UUID]:
        first = tenants.create_user(connection, "Ada@example.test", "Ada")
        return first, tenants.create_user(connection, "ada@EXAMPLE.test", None)

    first, second = api.context.database.transact(make)
    assert first == second


def test_adding_a_member_again_changes_the_role(api: Api) -> None:
    user_id = api.mine.user_ids[Role.VIEWER]

    def promote(connection: Connection) -> None:
        tenants.add_member(connection, api.mine.workspace_id, user_id, Role.ADMIN)

    api.context.database.transact(promote)
    assert [one["role"] for one in api.mine.viewer.get("/me").json["workspaces"]] == ["ADMIN"]
