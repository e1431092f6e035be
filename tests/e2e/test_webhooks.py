"""Incoming webhooks on the running stack: signed, repeated, renewed, and written down nowhere."""

import base64
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from standardwebhooks import Webhook

from tests.e2e.conftest import PATIENCE_S, Api, Stack
from tests.e2e.stories import ended_run, files_of, notify

pytestmark = [pytest.mark.xdist_group("stack"), pytest.mark.timeout(600)]

BODY = '{ "event": "order.paid", "a": 1.0,\n "b":"é\\u00e9", "a": 2 }\n'.encode()


def signed(secret: str, body: bytes, message: str) -> dict[str, str]:
    moment = datetime.fromtimestamp(int(time.time()), UTC)
    return {
        "content-type": "application/json",
        "Webhook-Id": message,
        "WEBHOOK-TIMESTAMP": str(int(moment.timestamp())),
        "webhook-signature": Webhook(secret).sign(message, moment, body.decode()),
    }


@pytest.fixture
def made(owner: Api, stack: Stack) -> dict[str, Any]:
    """An ACTIVE automation that only signed webhooks start, and its secret."""
    definition = {
        "name": "On order",
        "triggers": [{"type": "WEBHOOK", "config": {"requireSignature": True}}],
        "actions": [notify("{{trigger.b}} {{trigger.a}}")],
    }
    path = f"/workspaces/{stack.ready['workspaceId']}/automations"
    answer: dict[str, Any] = owner.ok("POST", path, definition)
    owner.ok("POST", f"/automations/{answer['id']}/status", {"status": "ACTIVE"})
    return answer


def test_a_signed_webhook_becomes_one_run_whatever_is_repeated(
    owner: Api, made: dict[str, Any]
) -> None:
    url, headers = made["webhook"]["url"], signed(made["webhook"]["secret"], BODY, "msg_1")
    answers = [post(url, content=BODY, headers=headers) for _ in range(5)]
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["eventId"] for answer in answers}) == 1
    run = ended_run(owner, made)
    assert run["status"] == "SUCCEEDED"
    assert run["triggerType"] == run["input"]["type"] == "order.paid"
    assert run["input"]["payload"] == {"event": "order.paid", "a": 2, "b": "éé"}
    assert run["eventId"] == answers[0].json()["eventId"]
    assert post(url, content=BODY[:-1], headers=headers).status_code == 401
    assert post(url, content=BODY).status_code == 401
    assert httpx.get(url, timeout=PATIENCE_S).status_code == 405


def post(url: str, **request: Any) -> httpx.Response:
    return httpx.post(url, timeout=PATIENCE_S, **request)


def needles(webhook: dict[str, str]) -> Iterator[bytes]:
    """A secret in every form that it might be written down in."""
    text = webhook["secret"].removeprefix("whsec_")
    key = base64.b64decode(text)
    yield key
    yield key.hex().encode()
    yield text.rstrip("=").encode()
    yield webhook["url"].rsplit("/", 1)[1].encode()


def test_case_112_secrets_and_urls_are_in_no_file_of_the_stack_and_no_log(
    owner: Api, stack: Stack, made: dict[str, Any]
) -> None:
    shown = [made["webhook"]]
    path = f"/automations/{made['id']}/webhook/regenerate"
    shown.append(owner.ok("POST", path))
    for webhook in shown:
        for body, message in ((BODY, "msg_2"), (b"{broken", "msg_3")):
            # The first URL is dead already, the second is not.
            headers = signed(webhook["secret"], body, message)
            post(webhook["url"], content=body, headers=headers)
            post(webhook["url"] + "x", content=body, headers=headers)
    ended_run(owner, made)
    repeated = {"idempotency-key": f"canary-{made['id']}"}
    first = owner.call("POST", path, headers=repeated).json()
    assert owner.call("POST", path, headers=repeated).json() == {"url": None, "secret": None}
    shown.append(first)
    wanted = [needle for webhook in shown for needle in needles(webhook)]
    read = 0
    for file, content in files_of(stack):
        read += 1
        assert [needle for needle in wanted if needle in content] == [], file
    assert read > 10
