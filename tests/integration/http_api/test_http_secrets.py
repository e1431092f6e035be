"""Secrets: their values go in through KMS and come out nowhere."""

import logging
from typing import Any

import boto3
import pytest

from tests.integration.conftest import Aws
from tests.integration.http_api.client import Answer, Api
from tests.integration.http_api.conftest import serving
from whenthen.domain.kinds import Role
from whenthen.engine.manage_secrets import encryption_context

VALUE = "canary-5f1e-value"


def path(api: Api, name: str | None = None) -> str:
    base = f"/workspaces/{api.mine.workspace_id}/secrets"
    return base if name is None else f"{base}/{name}"


def put(api: Api, name: str, value: Any = VALUE) -> Answer:
    return api.mine.clients[Role.ADMIN].put(path(api, name), {"value": value})


def stored(api: Api, name: str) -> list[bytes]:
    (row,) = api.sql("select ciphertexts from secrets where name = :n", n=name)
    return [bytes(part) for part in row["ciphertexts"]]


def test_only_the_name_ever_comes_back(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        answer = put(api, "API_KEY")
    assert (answer.status, answer.text) == (204, "")
    listed = api.mine.owner.get(path(api))
    (row,) = listed.json["data"]
    assert row == {"name": "API_KEY", "updatedAt": row["updatedAt"]}
    audit = api.mine.owner.get(f"/workspaces/{api.mine.workspace_id}/audit")
    entry = audit.json["data"][0]
    assert (entry["action"], entry["resource"]) == (
        "secret.set",
        {"type": "secret", "id": "API_KEY"},
    )
    whenthen = " ".join(str(vars(r)) for r in caplog.records if r.name.startswith("whenthen"))
    assert VALUE not in listed.text + audit.text + whenthen


def test_the_ciphertext_opens_for_this_workspace_and_name_only(api: Api) -> None:
    put(api, "API_KEY")
    (blob,) = stored(api, "API_KEY")
    assert VALUE.encode() not in blob
    kms = boto3.client("kms")
    context = encryption_context(api.mine.workspace_id, "API_KEY")
    opened = kms.decrypt(CiphertextBlob=blob, EncryptionContext=context)
    assert opened["Plaintext"] == VALUE.encode()
    assert opened["KeyId"] == api.context.settings.secrets_key_arn
    for other in (
        encryption_context(api.other.workspace_id, "API_KEY"),
        encryption_context(api.mine.workspace_id, "OTHER"),
        {},
    ):
        with pytest.raises(kms.exceptions.InvalidCiphertextException):
            kms.decrypt(CiphertextBlob=blob, EncryptionContext=other)


@pytest.mark.parametrize(
    ("value", "parts"), [("x" * 8, 1), ("x" * 4096, 1), ("é" * 4096, 2), ("🎈" * 4096, 4)]
)
def test_a_value_of_any_legal_length_comes_back_whole(api: Api, value: str, parts: int) -> None:
    assert put(api, "BIG", value).status == 204
    ciphertexts = stored(api, "BIG")
    assert len(ciphertexts) == parts
    context = encryption_context(api.mine.workspace_id, "BIG")
    assert api.context.secrets_key.decrypt(ciphertexts, context) == value


@pytest.mark.parametrize("value", ["", "x" * 7, "x" * 4097, None, 12345678, ["x" * 8]])
def test_a_value_too_short_to_redact_or_too_long_is_422(api: Api, value: Any) -> None:
    answer = put(api, "API_KEY", value)
    assert (answer.status, answer.code) == (422, "VALIDATION_FAILED")
    assert [detail["path"] for detail in answer.error["details"]] == ["value"]
    assert api.sql("select 1 from secrets") == []


@pytest.mark.parametrize("name", ["A", "A" * 64, "A_1"])
def test_names_that_templates_can_write_are_taken(api: Api, name: str) -> None:
    assert put(api, name).status == 204


@pytest.mark.parametrize("name", ["a", "1A", "_A", "A" * 65, "A-B", "É", "%41"])
def test_other_names_are_422_or_nowhere(api: Api, name: str) -> None:
    answer = put(api, name)
    assert answer.status in {404, 422}
    if answer.status == 422:
        assert answer.code == "SECRET_INVALID"
    assert api.mine.owner.delete(path(api, name)).status == 404
    assert api.sql("select 1 from secrets") == []


def test_setting_it_again_overwrites_and_deleting_it_ends_it(api: Api) -> None:
    put(api, "API_KEY")
    before = stored(api, "API_KEY")
    put(api, "API_KEY", "another value")
    assert stored(api, "API_KEY") != before
    assert len(api.mine.owner.get(path(api)).json["data"]) == 1
    assert api.mine.owner.delete(path(api, "API_KEY")).status == 204
    assert api.mine.owner.get(path(api)).json["data"] == []
    assert api.mine.owner.delete(path(api, "API_KEY")).status == 404
    rows = api.mine.owner.get(f"/workspaces/{api.mine.workspace_id}/audit").json["data"]
    assert [row["action"] for row in rows] == ["secret.deleted", "secret.set", "secret.set"]


@pytest.mark.parametrize("role", [Role.EDITOR, Role.VIEWER])
def test_below_admin_not_even_names_are_seen(api: Api, role: Role) -> None:
    put(api, "API_KEY")
    client = api.mine.clients[role]
    answers = [
        client.get(path(api)),
        client.put(path(api, "API_KEY"), {"value": VALUE}),
        client.delete(path(api, "API_KEY")),
    ]
    assert [answer.status for answer in answers] == [403] * 3


def test_without_a_key_it_is_503_and_the_rest_works(migrated_url: str, aws: Aws) -> None:
    settings = {"SECRETS_KEY_ARN": ""}
    with serving(migrated_url, aws.stream, aws.queue_url, **settings) as api:
        answer = put(api, "API_KEY")
        assert (answer.status, answer.code) == (503, "UNAVAILABLE")
        assert api.mine.owner.get(path(api)).status == 200


def webhook(**config: Any) -> dict[str, Any]:
    whole = {"url": "https://x.test/", "headers": {}, **config}
    return {"type": "SEND_WEBHOOK", "config": whole}


@pytest.mark.parametrize(
    ("action", "place"),
    [
        (webhook(url="https://x.test/?key={{secrets.A}}"), "url"),
        (webhook(url="https://{{secrets.A}}.x.test/"), "url"),
        (webhook(body={"a": ["{{secrets.a}}"]}), "body.a[0]"),
        (webhook(body="{{secrets.A.b}}"), "body"),
        ({"type": "CREATE_NOTIFICATION", "config": {"title": "{{secrets.A}}"}}, "title"),
        ({"type": "CREATE_PAGE", "config": {"title": "x", "content": "{{secrets.A}}"}}, "content"),
        (
            {
                "type": "SEND_EMAIL",
                "config": {"to": ["a@x.test"], "subject": "x", "text": "{{secrets.A}}"},
            },
            "text",
        ),
        ({"type": "AI_GENERATE", "config": {"prompt": "{{secrets.A}}"}}, "prompt"),
    ],
)
def test_a_secret_elsewhere_than_in_a_webhooks_headers_body_and_key_is_422(
    api: Api, action: dict[str, Any], place: str
) -> None:
    body = {"name": "X", "actions": [action]}
    answer = api.mine.editor.post(api.mine.automations_path, body)
    assert (answer.status, answer.code) == (422, "SECRET_INVALID")
    assert [one["path"] for one in answer.error["details"]] == [f"actions[0].config.{place}"]


def test_a_webhooks_headers_body_and_key_may_name_secrets_that_are_not_there_yet(api: Api) -> None:
    action = webhook(
        headers={"Authorization": "Bearer {{secrets.A}}"},
        body={"a": "{{secrets.B}}"},
        signingSecret="{{secrets.C}}",
    )
    body = {"name": "X", "actions": [action]}
    assert api.mine.editor.post(api.mine.automations_path, body).status == 201
