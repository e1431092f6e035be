"""How often, and from whom, the issuer's keys are taken."""

from collections.abc import Iterator

import pytest

from tests.integration.conftest import Aws
from tests.integration.http_api.client import Answer, Api, Client
from tests.integration.http_api.conftest import serving
from tests.integration.http_api.issuer import AUDIENCE, Issuer, rsa_key, running_issuer


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with running_issuer() as running:
        yield running


@pytest.fixture
def api(migrated_url: str, aws: Aws, issuer: Issuer) -> Iterator[Api]:
    settings = {"OIDC_ISSUER": issuer.url, "OIDC_AUDIENCE": AUDIENCE}
    with serving(migrated_url, aws.stream, aws.queue_url, **settings) as served:
        yield served


def me(token: str) -> Answer:
    return Client(token).get("/me")


@pytest.mark.usefixtures("api")
def test_the_keys_are_fetched_once_and_an_unknown_key_asks_at_most_once_a_minute(
    issuer: Issuer,
) -> None:
    for _ in range(3):
        assert me(issuer.token()).status == 200
    assert issuer.hits == ["/.well-known/openid-configuration", "/keys"]
    for n in range(5):
        assert me(issuer.token(key=rsa_key(f"unheard of {n}"))).status == 401
    assert len(issuer.hits) == 2


def test_an_issuer_that_does_not_answer_is_503_and_tokens_of_ours_still_work(
    api: Api, issuer: Issuer
) -> None:
    issuer.documents = {}
    answer = me(issuer.token())
    assert (answer.status, answer.code) == (503, "UNAVAILABLE")
    assert answer.headers["retry-after"] == "1"
    assert api.mine.viewer.get("/me").status == 200


def test_without_an_issuer_a_jwt_is_an_unknown_token(
    migrated_url: str, aws: Aws, issuer: Issuer
) -> None:
    with serving(migrated_url, aws.stream, aws.queue_url):
        assert me(issuer.token()).status == 401
    assert issuer.hits == []
