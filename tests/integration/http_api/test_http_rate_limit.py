"""API_REQUESTS_PER_MINUTE: per credential, by the database's minute, off unless set."""

from collections.abc import Iterator

import pytest

from tests.integration.conftest import Aws
from tests.integration.http_api.client import Api, Client, gateway_event, send
from tests.integration.http_api.conftest import serving
from tests.integration.http_api.issuer import AUDIENCE, Issuer, running_issuer
from whenthen.engine.forget import forget


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with running_issuer() as running:
        yield running


@pytest.fixture
def api(migrated_url: str, aws: Aws, issuer: Issuer) -> Iterator[Api]:
    settings = {
        "API_REQUESTS_PER_MINUTE": "3",
        "OIDC_ISSUER": issuer.url,
        "OIDC_AUDIENCE": AUDIENCE,
    }
    with serving(migrated_url, aws.stream, aws.queue_url, **settings) as served:
        yield served


def statuses(client: Client, n: int) -> list[int]:
    return [client.get("/me").status for _ in range(n)]


def turn_to_second(api: Api, second: int) -> None:
    """Let the database's clock stand at this second of a minute."""
    (row,) = api.sql("select extract(second from whenthen_now()) as s")
    api.context.database.clock_offset_s += (second - float(row["s"])) % 60


def test_the_fourth_request_of_a_minute_is_429_and_says_when_to_come_again(api: Api) -> None:
    turn_to_second(api, 10)
    assert statuses(api.mine.viewer, 3) == [200] * 3
    refused = api.mine.viewer.get("/me")
    assert (refused.status, refused.code) == (429, "RATE_LIMITED")
    assert 1 <= int(refused.headers["retry-after"]) <= 50
    assert api.mine.owner.get("/me").status == 200
    api.context.database.clock_offset_s += int(refused.headers["retry-after"])
    assert statuses(api.mine.viewer, 4) == [200] * 3 + [429]


def test_requests_that_fail_count_as_well(api: Api) -> None:
    turn_to_second(api, 0)
    for _ in range(3):
        assert api.mine.viewer.post("/workspaces", "{broken").status == 400
    assert api.mine.viewer.get("/me").status == 429


def test_tokens_that_are_none_leave_no_row(api: Api) -> None:
    turn_to_second(api, 0)
    assert statuses(Client("wt_unknown"), 5) == [401] * 5
    assert api.sql("select 1 from api_request_counts") == []


def test_a_person_from_the_issuer_is_counted_whatever_jwt_they_show(
    api: Api, issuer: Issuer
) -> None:
    turn_to_second(api, 0)
    answers = [Client(issuer.token(jti=str(n))).get("/me").status for n in range(4)]
    assert answers == [200] * 3 + [429]
    assert Client(issuer.token(sub="grace")).get("/me").status == 200


def test_counts_of_credentials_that_nobody_uses_go(api: Api) -> None:
    turn_to_second(api, 0)
    api.mine.viewer.get("/me")
    api.context.database.clock_offset_s += 25 * 3600
    api.mine.owner.get("/me")
    assert forget(api.context, lambda: True) == 1
    assert len(api.sql("select 1 from api_request_counts")) == 1


def test_public_routes_are_not_counted(api: Api) -> None:
    turn_to_second(api, 0)
    for _ in range(5):
        assert send(gateway_event("GET", "/healthz", None, {}, {})).status == 200
    assert api.sql("select 1 from api_request_counts") == []


def test_a_repeated_key_is_limited_too(api: Api) -> None:
    turn_to_second(api, 0)
    key = {"idempotency-key": "k"}
    answers = [api.mine.viewer.post("/workspaces", {"name": "X"}, **key).status for _ in range(4)]
    assert answers == [201] * 3 + [429]
