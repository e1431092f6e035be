"""Secrets of a workspace on the running stack: a webhook's target has them, and nobody else."""

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.conftest import PATIENCE_S, Api, Stack, eventually
from tests.e2e.stories import (
    activate,
    add_record,
    ended_run,
    files_of,
    target_of_its_own,
    update,
)
from tests.integration.canary import CANARIES, IN_BODY, IN_HEADER, IN_KEY, landmarks, shown
from tests.integration.webhook_target import Hit, Target, echo, respond

pytestmark = [pytest.mark.xdist_group("stack"), pytest.mark.timeout(600)]

WITH_SECRETS = {
    "headers": {"Authorization": "Bearer {{secrets.IN_HEADER}}"},
    "body": {"password": "{{secrets.IN_BODY}}"},
    "signingSecret": "{{secrets.IN_KEY}}",
}


@pytest.fixture
def target() -> Iterator[Target]:
    with target_of_its_own() as target:
        yield target


@pytest.fixture
def secrets(owner: Api, stack: Stack) -> Iterator[str]:
    """The path of the workspace's secrets, with the canaries in it."""
    path = f"/workspaces/{stack.ready['workspaceId']}/secrets"
    for name, value in CANARIES.items():
        owner.ok("PUT", f"{path}/{name}", {"value": value})
    yield path
    for name in CANARIES:
        owner.call("DELETE", f"{path}/{name}")


def webhook(url: str, **config: Any) -> dict[str, Any]:
    return {"type": "SEND_WEBHOOK", "config": {"url": url, **config}, "retries": 0}


def fail_loudly(connection: socket.socket, hit: Hit) -> None:
    said = hit.headers["authorization"]
    respond(500, hit.body, location=f"/?{said}", x_request_id=said)(connection, hit)


def flood(connection: socket.socket, hit: Hit) -> None:
    said = hit.headers["authorization"].encode() + hit.body
    respond(200, said * 500, content_type="text/plain")(connection, hit)


def test_case_110_a_canary_is_in_no_answer_no_file_and_no_log_of_the_stack(
    owner: Api, stack: Stack, tickets: str, target: Target, secrets: str
) -> None:
    echoing, flooding = target.on("/echo", echo), target.on("/flood", flood)
    automations = [
        activate(owner, stack, tickets, *actions)
        for actions in (
            [
                webhook(echoing, **WITH_SECRETS),
                {
                    "type": "CREATE_NOTIFICATION",
                    "config": {"title": "Said {{actions[0].output.body.headers.authorization}}"},
                },
                webhook(echoing, body="{{actions[0].output}}"),
            ],
            [webhook(flooding, **WITH_SECRETS), update(Name="{{actions[0].output.body}}")],
            [webhook(target.on("/500", fail_loudly), **WITH_SECRETS)],
        )
    ]
    add_record(owner, tickets, Name="Tap")
    runs = [ended_run(owner, automation) for automation in automations]
    assert [run["status"] for run in runs] == ["SUCCEEDED", "SUCCEEDED", "DEAD_LETTER"]
    first = target.hits[0]
    assert first.headers["authorization"] == f"Bearer {IN_HEADER}"
    assert json.loads(first.body) == {"password": IN_BODY}
    said = runs[0]["output"]["actions"][0]["output"]
    assert said["body"]["headers"]["authorization"] == "Bearer •••"

    def is_told() -> bool:
        found = stack.sql(
            "select 1 from notifications where run_id = cast(:id as uuid)", id=runs[2]["id"]
        )
        return bool(found)

    eventually(is_told, "the death is told", PATIENCE_S)
    answers = [json.dumps(run, ensure_ascii=False) for run in runs]
    paths = [
        "/me/notifications",
        secrets,
        f"/workspaces/{stack.ready['workspaceId']}/audit",
        f"/workspaces/{stack.ready['workspaceId']}/runs",
        *(f"/automations/{automation['id']}" for automation in automations),
    ]
    answers += [owner.call("GET", path).text for path in paths]
    tried = [f"/automations/{automation['id']}/dry-run" for automation in automations]
    answers += [owner.call("POST", path, {}).text for path in tried]
    assert shown(answers) == []

    wanted = {mark for secret in CANARIES.values() for mark in landmarks(secret)}
    names = set()
    for file, content in files_of(stack):
        names.add(file.name)
        assert [mark for mark in wanted if mark in content] == [], file
    assert {"events.jsonl", "metrics.jsonl", "stack.log"} <= names


def test_a_secret_that_is_gone_fails_the_next_run(
    owner: Api, stack: Stack, tickets: str, target: Target, secrets: str
) -> None:
    url = target.on("/", respond(200))
    automation = activate(owner, stack, tickets, webhook(url, signingSecret="{{secrets.IN_KEY}}"))
    owner.ok("DELETE", f"{secrets}/IN_KEY")
    add_record(owner, tickets, Name="Tap")
    run = ended_run(owner, automation)
    assert (run["status"], run["error"]["code"]) == ("FAILED", "SECRET_UNKNOWN")
    assert target.hits == []
    assert IN_KEY not in json.dumps(run)
