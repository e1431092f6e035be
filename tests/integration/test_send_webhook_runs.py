"""SEND_WEBHOOK inside runs: retries with one id, ends, and what is kept of strangers' bytes."""

from collections.abc import Iterator
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from tests.conftest import settings_for
from tests.integration.conftest import Aws
from tests.integration.engine_world import World
from tests.integration.test_triage import UPDATE
from tests.integration.webhook_target import Target, Wire, echo, repeat, respond
from whenthen.actions.registry import clear_test_executors, register_test_executor
from whenthen.actions.send_webhook import perform
from whenthen.domain.kinds import ActionType
from whenthen.engine.context import Context
from whenthen.engine.execute_runs import Execution

# Longer than any backoff and any wish that counts.
RETRY_WAIT_S = 901


@pytest.fixture
def target() -> Iterator[Target]:
    made = Target()
    yield made
    made.wait_until_idle()
    made.close()


@pytest.fixture
def world(migrated_url: str, aws: Aws) -> Iterator[World]:
    """A world whose deployment allows webhooks to loopback."""
    settings = settings_for(
        migrated_url,
        EVENT_STREAM_NAME=aws.stream,
        RUN_QUEUE_URL=aws.queue_url,
        WEBHOOK_ALLOW_HOSTS="127.0.0.1",
    )
    context = Context(settings, "test")
    yield World(context)
    context.database.close()


@pytest.fixture(autouse=True)
def _no_executors_left() -> Iterator[None]:
    yield
    clear_test_executors()


def send(url: str, **config: Any) -> dict[str, Any]:
    return {"type": "SEND_WEBHOOK", "config": {"url": url, **config}}


def start(world: World, *actions: Any) -> tuple[UUID, Execution]:
    world.add_automation(list(actions))
    record_id = world.add_record(Name="Tap", Status="B")
    world.match(world.created_event(record_id, Name="Tap", Status="B"))
    execution = world.execute()
    return world.the_run()["id"], execution


def try_again(world: World) -> None:
    """Let the backoff pass and execute what is due."""
    world.context.database.clock_offset_s += RETRY_WAIT_S
    world.execute()


def test_case_035_a_retry_repeats_the_failed_webhook_only_and_under_the_same_id(
    world: World, target: Target
) -> None:
    first = target.on("/a", respond(200))
    last = target.on("/c", respond(503), respond(503), respond(200, "done"))
    body = {"name": "{{record.Name}}", "at": "{{now}}"}
    run_id, _ = start(world, send(first), UPDATE, send(last, body=body, signingSecret="s" * 24))
    for _ in range(2):
        try_again(world)
    run = world.the_run()
    assert (run["status"], run["retry_count"]) == ("SUCCEEDED", 2)
    assert [step["attempts"] for step in world.steps(run_id)] == [1, 1, 3]
    assert [hit.target for hit in target.hits] == ["/a", "/c", "/c", "/c"]
    sent_a, *sent_c = target.hits
    ids = {hit.headers["webhook-id"] for hit in sent_c}
    assert ids == {hit.headers["idempotency-key"] for hit in sent_c}
    assert len({*ids, sent_a.headers["webhook-id"]}) == 2
    assert len({hit.body for hit in sent_c}) == 1
    (message,) = ids
    action_id = world.steps(run_id)[2]["action_id"]
    assert message == f"msg_{run_id}_0_{action_id}"
    assert run["output"]["actions"][2]["output"]["body"] == "done"


def test_the_wait_is_the_targets_wish_up_to_its_cap(world: World, target: Target) -> None:
    url = target.on("/", respond(429, retry_after="120"), respond(503, retry_after="3600"))
    run_id, _ = start(world, send(url))
    try_again(world)
    assert world.the_run()["status"] == "PENDING"
    lines = world.sql(
        "select data from automation_logs where run_id = :r and message = 'retry scheduled'"
        " order by seq",
        r=run_id,
    )
    assert [line["data"]["delayS"] for line in lines] == [120, 900]


def test_case_096_a_fatal_end_says_what_it_may_and_nothing_of_the_target(
    world: World, target: Target
) -> None:
    forbidden = "the URL is not one that webhooks may call"
    ends = {
        target.on("/404", respond(404, "s3cret")): ("WEBHOOK_HTTP_ERROR", "answered 404"),
        target.on("/302", respond(302, "s3cret", location="http://169.254.169.254/")): (
            "WEBHOOK_HTTP_ERROR",
            "answered 302; redirects are not followed",
        ),
        "http://10.0.0.1/": ("WEBHOOK_URL_FORBIDDEN", forbidden),
        "http://2130706433/": ("WEBHOOK_URL_FORBIDDEN", forbidden),
    }
    for url in ends:
        world.add_automation([send(url)])
    world.match(world.created_event(world.add_record()))
    world.execute()
    errors = [run["error"] for run in world.runs()]
    assert sorted((error["code"], error["message"]) for error in errors) == sorted(ends.values())
    assert {error["attempts"] for error in errors} == {1}
    kept = f"{errors} {world.sql('select * from automation_logs')}"
    kept += str(world.sql("select * from automation_run_steps"))
    assert "s3cret" not in kept
    assert "169.254" not in kept


def test_case_093_a_retry_checks_the_address_again(world: World, target: Target) -> None:
    target.on("/", respond(503))
    wire = Wire(target, {"hooks.example": [["93.184.216.34"], ["169.254.169.254"]]})
    executor = partial(perform, network=wire.network())
    register_test_executor(ActionType.SEND_WEBHOOK, executor)
    start(world, send("http://hooks.example/"))
    assert world.the_run()["status"] == "PENDING"
    try_again(world)
    assert world.the_run()["error"]["code"] == "WEBHOOK_URL_FORBIDDEN"
    assert wire.dialled == [("93.184.216.34", 80)]


def test_a_slow_target_times_out_by_itself_and_leaves_no_thread_behind(
    world: World, target: Target
) -> None:
    url = target.on("/", repeat(b"HTTP/1.1 200 OK\r\n\r\n", b"x", 0.02))
    _, execution = start(world, {**send(url), "timeoutMs": 1000})
    error = world.the_run()["error"]
    assert (error["code"], error["attempts"]) == ("ACTION_TIMEOUT", 1)
    assert not execution.has_stragglers


def test_case_101_a_nul_and_invalid_utf_8_in_an_answer_do_not_stop_the_run(
    world: World, target: Target
) -> None:
    answer = respond(200, b'{"a\\u0000":"b\\u0000\\ud800"}', content_type="application/json")
    text = respond(200, b"a\x00b\xff", content_type="text/plain")
    start(world, send(target.on("/json", answer)), send(target.on("/text", text)))
    run = world.the_run()
    assert run["status"] == "SUCCEEDED"
    bodies = [action["output"]["body"] for action in run["output"]["actions"]]
    assert bodies == [{"a\ufffd": "b\ufffd\ufffd"}, "a\ufffdb\ufffd"]


def test_case_075_a_later_step_reads_what_a_webhook_was_answered(
    world: World, target: Target
) -> None:
    url = target.on("/", echo)
    later = {"of": "{{actions[0].output.body.body}}", "status": "{{actions[0].output.status}}"}
    start(world, send(url, body={"n": 8202522731445525542}), send(url, body=later))
    assert world.the_run()["status"] == "SUCCEEDED"
    assert target.hits[1].body == b'{"of":"{\\"n\\":8202522731445525542}","status":200}'
