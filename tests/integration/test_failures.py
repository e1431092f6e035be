"""What becomes of runs whose steps fail: retry hops, ends, and groups that go one by one."""

import threading
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from tests.integration.engine_world import World
from tests.integration.test_triage import NOTIFY, UPDATE
from whenthen.actions.registry import clear_test_executors, register_test_executor
from whenthen.actions.requests import StepRequest, StepSuccess
from whenthen.domain.errors import FatalError, RetryableError
from whenthen.domain.kinds import ActionType
from whenthen.engine.context import Context
from whenthen.store.new_id import new_id

WEBHOOK = {"type": "SEND_WEBHOOK", "config": {"url": "https://hooks.example.com/"}}


@pytest.fixture
def world(context: Context) -> World:
    return World(context)


@pytest.fixture(autouse=True)
def _no_executors_left() -> Iterator[None]:
    yield
    clear_test_executors()


class Target:
    """Answers each hit with the next of `answers`, the last one for ever."""

    def __init__(self, *answers: Exception | StepSuccess) -> None:
        self.answers = list(answers)
        self.hits: list[StepRequest] = []

    def __call__(self, request: StepRequest) -> StepSuccess:
        self.hits.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


UNAVAILABLE = RetryableError("WEBHOOK_HTTP_RETRIABLE", "answered 503")


def start(world: World, *actions: Any, **properties: Any) -> UUID:
    world.add_automation(list(actions))
    record_id = world.add_record(**properties)
    world.match(world.created_event(record_id, **properties))
    world.execute()
    run_id: UUID = world.runs()[-1]["id"]
    return run_id


def make_due(world: World, run_id: UUID) -> None:
    world.sql("update automation_runs set due_at = whenthen_now() where id = :r", r=run_id)


def test_case_035_a_retry_repeats_the_failed_step_only(world: World) -> None:
    target = Target(UNAVAILABLE, UNAVAILABLE, StepSuccess({"status": 200}))
    register_test_executor(ActionType.SEND_WEBHOOK, target)
    run_id = start(world, NOTIFY, UPDATE, WEBHOOK, Status="B")
    for _ in range(2):
        make_due(world, run_id)
        world.execute([run_id])
    run = world.the_run()
    assert (run["status"], run["retry_count"]) == ("SUCCEEDED", 2)
    assert [(s["status"], s["attempts"]) for s in world.steps(run_id)] == [
        ("SUCCEEDED", 1),
        ("SUCCEEDED", 1),
        ("SUCCEEDED", 3),
    ]
    assert len(world.sql("select 1 from notifications")) == 1
    assert len(target.hits) == 3


def test_a_retry_hop_waits_its_backoff_and_sends_its_message_with_the_delay(
    world: World, aws: Any
) -> None:
    register_test_executor(ActionType.SEND_WEBHOOK, Target(UNAVAILABLE))
    run_id = start(world, WEBHOOK)
    run = world.the_run()
    assert (run["status"], run["retry_count"], run["lease_token"]) == ("PENDING", 1, None)
    assert (run["enqueue_after"] - run["due_at"]).total_seconds() == pytest.approx(60, abs=0.1)
    assert world.lines(run_id)[-3:] == [
        "info action 1/1 SEND_WEBHOOK started",
        "error action 1/1 SEND_WEBHOOK failed",
        "info retry scheduled",
    ]
    scheduled = world.line_data(run_id, "retry scheduled")
    due = run["due_at"].strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
    assert scheduled == {"attempt": 1, "delayS": 1, "dueAt": due}
    # The target's own wish counts when it is longer than the backoff.
    assert [m["runId"] for m in aws.queued()] == [str(run_id)]


def test_a_message_that_comes_too_early_is_sent_again_with_the_rest_of_its_delay(
    world: World, aws: Any
) -> None:
    register_test_executor(
        ActionType.SEND_WEBHOOK, Target(RetryableError("X", "busy", retry_after_s=300))
    )
    run_id = start(world, WEBHOOK)
    aws.queued()
    world.execute([run_id])
    assert world.the_run()["status"] == "PENDING"
    assert aws.queued() == []
    delayed = aws.sqs.get_queue_attributes(
        QueueUrl=aws.queue_url, AttributeNames=["ApproximateNumberOfMessagesDelayed"]
    )["Attributes"]
    assert int(delayed["ApproximateNumberOfMessagesDelayed"]) == 2


def test_a_fatal_error_ends_the_run_at_once(world: World) -> None:
    register_test_executor(
        ActionType.SEND_WEBHOOK, Target(FatalError("WEBHOOK_HTTP_ERROR", "answered 404"))
    )
    run_id = start(world, NOTIFY, WEBHOOK)
    run = world.the_run()
    assert run["status"] == "FAILED"
    assert run["error"] == {
        "code": "WEBHOOK_HTTP_ERROR",
        "message": "answered 404",
        "actionIndex": 1,
        "actionType": "SEND_WEBHOOK",
        "attempts": 1,
    }
    assert world.lines(run_id)[-1] == "error run failed: WEBHOOK_HTTP_ERROR"
    assert run["enqueue_after"] is None


def test_the_last_attempt_dead_letters_and_keeps_the_row_awake_for_its_notice(
    world: World,
) -> None:
    register_test_executor(ActionType.SEND_WEBHOOK, Target(UNAVAILABLE))
    run_id = start(world, {**WEBHOOK, "retries": 1})
    make_due(world, run_id)
    world.execute([run_id])
    run = world.the_run()
    assert (run["status"], run["deaths"], run["error"]["attempts"]) == ("DEAD_LETTER", 1, 2)
    assert world.lines(run_id)[-1] == "error run dead-lettered"
    assert world.line_data(run_id, "run dead-lettered") == {
        "death": 1,
        "code": "WEBHOOK_HTTP_RETRIABLE",
        "message": "answered 503",
        "attempts": 2,
    }
    assert run["enqueue_after"] is not None


def test_an_unknown_error_ends_the_run_without_telling_its_message(world: World) -> None:
    register_test_executor(ActionType.SEND_WEBHOOK, Target(ValueError("the secret is s3cret")))
    run_id = start(world, WEBHOOK)
    run = world.the_run()
    assert (run["status"], run["error"]["code"]) == ("FAILED", "UNEXPECTED")
    everything = f"{run['error']} {world.sql('select * from automation_logs')}"
    assert "s3cret" not in everything
    assert world.steps(run_id)[0]["status"] == "FAILED"


def test_case_101_a_nul_in_an_error_text_does_not_stop_the_run_from_ending(world: World) -> None:
    register_test_executor(ActionType.SEND_WEBHOOK, Target(FatalError("X", "a\x00b\ud800")))
    start(world, WEBHOOK)
    assert world.the_run()["error"]["message"] == "a�b�"


def test_a_refused_run_of_a_group_leaves_its_neighbours_alone(world: World) -> None:
    world.add_automation([UPDATE])
    there = world.add_record(Status="A")
    for record_id in (there, new_id()):
        world.match(world.created_event(record_id))
    world.execute()
    assert [(run["status"], (run["error"] or {}).get("code")) for run in world.runs()] == [
        ("SUCCEEDED", None),
        ("FAILED", "NOT_FOUND"),
    ]


def test_runs_that_update_one_record_go_one_by_one(world: World) -> None:
    record_id = world.add_record(Status="A", Priority=0)
    for n in range(5):
        config = {"recordId": "from_trigger", "propertyValues": {"Priority": n + 1}}
        world.add_automation([{"type": "UPDATE_RECORD", "config": config}])
    world.match(world.created_event(record_id))
    world.execute()
    assert {run["status"] for run in world.runs()} == {"SUCCEEDED"}
    assert world.record(record_id)["version"] == 6


def test_case_114_an_id_of_another_workspace_is_not_found(world: World) -> None:
    other = World(world.context)
    foreign = other.add_record(Status="A")
    configs: list[dict[str, Any]] = [
        {"type": "UPDATE_RECORD", "config": {"recordId": str(foreign), "propertyValues": {}}},
        {"type": "DELETE_RECORD", "config": {"recordId": str(foreign)}},
        {
            "type": "CREATE_RECORD",
            "config": {"databaseId": str(other.database_id), "propertyValues": {}},
        },
        {
            "type": "CREATE_NOTIFICATION",
            "config": {"title": "x", "userIds": [str(other.owner_id)]},
        },
    ]
    for action in configs:
        world.add_automation([action])
    world.match(world.created_event(world.add_record()))
    world.execute()
    assert {run["error"]["code"] for run in world.runs()} == {"NOT_FOUND"}
    assert len(world.runs()) == len(configs)
    assert other.record(foreign)["version"] == 1


def test_a_required_template_without_a_value_fails_and_an_optional_one_warns(
    world: World,
) -> None:
    config = {"recordId": "{{trigger.nothing}}", "propertyValues": {}}
    world.add_automation([{"type": "UPDATE_RECORD", "config": config}])
    world.add_automation([{"type": "CREATE_NOTIFICATION", "config": {"title": "<{{record.No}}>"}}])
    world.match(world.created_event(world.add_record()))
    world.execute()
    missing, warned = world.runs()
    assert missing["error"]["code"] == "TEMPLATE_MISSING"
    assert world.line_data(warned["id"], "template value missing") == {"path": "record.No"}
    assert world.sql("select title from notifications")[0]["title"] == "<>"


def test_a_stored_action_that_no_longer_validates_fails(world: World) -> None:
    start(world, {"type": "CREATE_NOTIFICATION", "config": {"titel": "x"}})
    assert world.the_run()["error"]["code"] == "ACTION_CONFIG_INVALID"


def test_a_stored_condition_that_no_longer_validates_fails(world: World) -> None:
    world.add_automation([NOTIFY], condition={"all": []})
    world.match(world.created_event(world.add_record()))
    world.execute()
    error = world.the_run()["error"]
    assert (error["code"], error["actionIndex"], error["actionType"]) == (
        "CONDITION_INVALID",
        None,
        None,
    )


def test_an_action_past_its_timeout_fails_and_its_thread_is_reported(world: World) -> None:
    never = threading.Event()

    def stuck(_request: StepRequest) -> StepSuccess:
        never.wait(30)
        return StepSuccess({})

    register_test_executor(ActionType.SEND_WEBHOOK, stuck)
    world.add_automation([{**WEBHOOK, "timeoutMs": 1000}])
    world.match(world.created_event(world.add_record()))
    execution = world.execute()
    assert world.the_run()["error"]["code"] == "ACTION_TIMEOUT"
    assert execution.has_stragglers
    never.set()


def test_a_run_of_no_actions_succeeds_with_an_empty_list(world: World) -> None:
    start(world)
    assert world.the_run()["output"] == {"actions": [], "totalMs": 0}


def test_more_than_50_actions_cannot_run(world: World) -> None:
    start(world, *[NOTIFY] * 51)
    assert world.the_run()["error"]["code"] == "ACTION_COUNT"
