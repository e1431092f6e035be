"""JWTs of the configured issuer: who is let in, as whom, and what is refused."""

import base64
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import boto3
import pytest
from joserfc.jwk import OctKey
from moto import mock_aws
from sqlalchemy.engine import Connection

from tests.conftest import Server
from tests.integration.http_api.client import Answer, Api, Client
from tests.integration.http_api.conftest import serving
from tests.integration.http_api.issuer import AUDIENCE, Issuer, ec_key, rsa_key, running_issuer
from whenthen.domain import json_text
from whenthen.domain.kinds import Role
from whenthen.store import tenants

CURVED = ec_key("curved")


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with running_issuer() as running:
        running.publish(running.key, CURVED)
        yield running


@pytest.fixture(scope="module")
def api(postgres: Server, template_database: str, issuer: Issuer) -> Iterator[Api]:
    name = f"m{uuid4().hex}"
    settings = {"OIDC_ISSUER": issuer.url, "OIDC_AUDIENCE": AUDIENCE}
    with mock_aws():
        boto3.client("kinesis").create_stream(StreamName="events", ShardCount=1)
        url = postgres.create(name, template_database)
        with serving(url, "events", "unused", **settings) as served:
            yield served
    postgres.drop(name)


@pytest.fixture
def somebody() -> str:
    """A subject that no other test has."""
    return uuid4().hex


def me(token: str) -> Answer:
    return Client(token).get("/me")


def invite(api: Api, email: str) -> UUID:
    def work(connection: Connection) -> UUID:
        user_id = tenants.create_user(connection, email, None)
        tenants.add_member(connection, api.mine.workspace_id, user_id, Role.EDITOR)
        return user_id

    return api.context.database.transact(work)


@pytest.mark.usefixtures("api")
def test_a_person_without_a_known_address_becomes_a_user_without_memberships(
    issuer: Issuer, somebody: str
) -> None:
    first = me(issuer.token(sub=somebody, name="Ada"))
    assert first.status == 200, first.text
    assert first.json == {"id": first.json["id"], "email": None, "name": "Ada", "workspaces": []}
    assert me(issuer.token(sub=somebody)).json == first.json
    assert me(issuer.token(sub=somebody + "2")).json["id"] != first.json["id"]


def test_a_verified_address_finds_the_user_and_the_subject_does_from_then_on(
    api: Api, issuer: Issuer, somebody: str
) -> None:
    user_id = invite(api, f"Ada.{somebody}@example.test")
    address = f"ada.{somebody}@EXAMPLE.test"
    found = me(issuer.token(sub=somebody, email=address, email_verified=True))
    assert found.json["id"] == str(user_id)
    assert [one["role"] for one in found.json["workspaces"]] == ["EDITOR"]
    later = issuer.token(sub=somebody)
    assert me(later).json["id"] == str(user_id)
    records = f"/databases/{api.mine.database_id}/records"
    assert Client(later).post(records, {"properties": {}}).status == 201


@pytest.mark.parametrize("verified", [False, None, "true", 1])
def test_an_address_that_is_not_verified_finds_nobody(
    api: Api, issuer: Issuer, somebody: str, verified: Any
) -> None:
    email = f"{somebody}@example.test"
    invite(api, email)
    found = me(issuer.token(sub=somebody, email=email, email_verified=verified))
    assert (found.status, found.json["email"], found.json["workspaces"]) == (200, None, [])


@pytest.mark.parametrize("email", ["no address", "a@b\0", 17, "x" * 400 + "@example.test"])
@pytest.mark.usefixtures("api")
def test_an_address_that_is_none_is_ignored(issuer: Issuer, somebody: str, email: Any) -> None:
    found = me(issuer.token(sub=somebody, email=email, email_verified=True))
    assert found.json["email"] is None


def test_an_address_stays_with_the_subject_that_had_it_first(
    api: Api, issuer: Issuer, somebody: str
) -> None:
    email = f"{somebody}@example.test"
    user_id = invite(api, email)
    address: dict[str, Any] = {"email": email, "email_verified": True}
    assert me(issuer.token(sub=somebody, **address)).json["id"] == str(user_id)
    successor = me(issuer.token(sub=somebody + "2", **address)).json
    assert successor["id"] != str(user_id)
    assert (successor["email"], successor["workspaces"]) == (None, [])


def test_a_user_of_a_former_issuer_is_found_by_their_address(
    api: Api, issuer: Issuer, somebody: str
) -> None:
    email = f"{somebody}@example.test"
    user_id = invite(api, email)
    former = "update users set oidc_issuer = 'https://old.test', oidc_subject = :s where id = :id"
    api.sql(former, id=user_id, s=somebody)
    found = me(issuer.token(sub=somebody, email=email, email_verified=True))
    assert found.json["id"] == str(user_id)


@pytest.mark.usefixtures("api")
def test_es256_is_taken_as_well_for_the_same_person(issuer: Issuer, somebody: str) -> None:
    first = me(issuer.token(sub=somebody)).json["id"]
    assert me(issuer.token(sub=somebody, key=CURVED, alg="ES256")).json["id"] == first


@dataclass(frozen=True)
class FromNow:
    """So many seconds after the moment at which the token is made."""

    seconds: int


# What is wrong with each, and a neighbour that is not.
CLAIMS: list[tuple[dict[str, Any], int]] = [
    ({"aud": "somebody else"}, 401),
    ({"aud": ["somebody else", AUDIENCE]}, 200),
    ({"aud": ["somebody else"]}, 401),
    ({"aud": None}, 401),
    ({"aud": {"whenthen": 1}}, 401),
    ({"iss": "https://evil.test"}, 401),
    ({"iss": None}, 401),
    ({"exp": None}, 401),
    ({"exp": "tomorrow"}, 401),
    ({"exp": FromNow(-30)}, 200),
    ({"exp": FromNow(-90)}, 401),
    ({"nbf": FromNow(30)}, 200),
    ({"nbf": FromNow(900)}, 401),
    ({"iat": FromNow(900)}, 401),
    ({"sub": None}, 401),
    ({"sub": ""}, 401),
    ({"sub": 7}, 401),
    ({"sub": "x" * 255}, 200),
    ({"sub": "x" * 256}, 401),
    ({"sub": "a\0b"}, 401),
    ({"name": "a\0b"}, 200),
]


@pytest.mark.parametrize(("claims", "status"), CLAIMS, ids=lambda value: str(value)[:40])
@pytest.mark.usefixtures("api")
def test_the_claims_decide(issuer: Issuer, claims: dict[str, Any], status: int) -> None:
    now_s = int(time.time())
    given: dict[str, Any] = {
        name: now_s + value.seconds if isinstance(value, FromNow) else value
        for name, value in claims.items()
    }
    assert me(issuer.token(**given)).status == status


def unsigned(issuer: Issuer) -> str:
    _, payload, _ = issuer.token().split(".")
    return f"{encoded({'alg': 'none'})}.{payload}."


def encoded(value: Any) -> str:
    return base64.urlsafe_b64encode(json_text.dumps(value).encode()).rstrip(b"=").decode()


def signed_with_the_public_key(issuer: Issuer) -> str:
    pem = issuer.key.as_pem(private=False)  # type: ignore[union-attr]
    secret = OctKey.import_key(base64.b64encode(pem), {"kid": issuer.key.kid or ""})
    return issuer.token(key=secret, alg="HS256")


def with_another_payload(issuer: Issuer) -> str:
    header, _, signature = issuer.token().split(".")
    payload = issuer.token(sub="root").split(".")[1]
    return f"{header}.{payload}.{signature}"


FORGED: list[Callable[[Issuer], str]] = [
    unsigned,
    signed_with_the_public_key,
    with_another_payload,
    lambda issuer: issuer.token(key=rsa_key("first")),
    lambda issuer: issuer.token(key=rsa_key("unheard of")),
    lambda issuer: issuer.token(alg="RS512"),
    lambda issuer: issuer.token(header={"crit": ["exp2"], "exp2": 1}),
    lambda _: "..",
    lambda _: "a.b.c",
    lambda _: "é.b.c",
    lambda issuer: issuer.token() + "x",
    lambda issuer: issuer.token().replace(".", "..", 1),
    lambda _: f"{encoded([])}.{encoded({})}.x",
    lambda _: f"{encoded({'alg': ['RS256']})}.{encoded({})}.x",
    lambda _: f"{encoded({'alg': 'RS256', 'kid': {}})}.{encoded({})}.x",
    lambda _: f"{encoded({'alg': 'RS256', 'crit': 7})}.{encoded({})}.x",
    lambda _: f"{encoded({'alg': 'RS256', 'kid': 'first', 'b64': False})}.{encoded({})}.x",
    lambda _: "W1tb." * 2 + "x",
]


@pytest.mark.parametrize("forge", FORGED)
@pytest.mark.usefixtures("api")
def test_what_the_issuer_did_not_sign_is_401(
    issuer: Issuer, forge: Callable[[Issuer], str]
) -> None:
    answer = me(forge(issuer))
    assert (answer.status, answer.code) == (401, "UNAUTHENTICATED")
