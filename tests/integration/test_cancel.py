"""Cancelling runs: at once where nobody works on them, else before their next step."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.conftest import Aws
from tests.integration.engine_world import World
from tests.integration.test_failures import UNAVAILABLE, WEBHOOK, Target
from tests.integration.test_triage import NOTIFY
from whenthen.actions.registry import clear_test_executors, register_test_executor
from whenthen.actions.requests import StepRequest, StepSuccess
from whenthen.domain.errors import ConflictError, NotFoundError
from whenthen.domain.kinds import ActionType, RunStatus
from whenthen.engine.cancel_run import Cancelled
from whenthen.engine.context import Context
from whenthen.store.new_id import new_id


@pytest.fixture
def world(context: Context) -> World:
    return World(context)


@pytest.fixture(autouse=True)
def _no_executors_left() -> Iterator[None]:
    yield
    clear_test_executors()


def pending(world: World, *actions: Any) -> None:
    world.add_automation(list(actions) or [NOTIFY])
    world.match(world.created_event(world.add_record()))


def test_a_waiting_run_is_cancelled_at_once(world: World) -> None:
    pending(world)
    run_id = world.the_run()["id"]
    cancelled = world.cancel(run_id)
    assert cancelled.status == RunStatus.FAILED
    run = world.the_run()
    assert run["error"] == {
        "code": "CANCELLED",
        "message": "the run was cancelled",
        "actionIndex": None,
        "actionType": None,
        "attempts": 0,
    }
    assert (run["lease_token"], run["enqueue_after"]) == (None, None)
    assert (run["cancelled_by"], world.steps(run_id)) == (world.owner_id, [])
    assert world.lines(run_id)[1:] == ["info run cancelled", "error run failed: CANCELLED"]
    # Its end is told like any other, after the commit.
    assert [event.payload["status"] for event in cancelled.events] == ["FAILED"]
    (entry,) = world.sql("select * from audit_log")
    assert (entry["action"], entry["resource_id"]) == ("run.cancelled", str(run_id))
    world.execute([run_id])
    assert world.sql("select 1 from notifications") == []


def test_a_cancelled_backoff_keeps_the_count_of_its_tries(world: World) -> None:
    register_test_executor(ActionType.SEND_WEBHOOK, Target(UNAVAILABLE))
    pending(world, WEBHOOK)
    run_id = world.the_run()["id"]
    for wait_s in (2, 3):
        world.execute()
        world.turn_clock(wait_s)
    world.claim([run_id])
    world.turn_clock(231)
    world.sweep()
    world.cancel(run_id)
    # Two tries were made; the third was interrupted and taken back, once.
    assert [(s["status"], s["attempts"]) for s in world.steps(run_id)] == [("FAILED", 2)]


def test_a_running_run_ends_before_its_next_step(world: World) -> None:
    cancelled: list[RunStatus] = []

    def cancel_now(request: StepRequest) -> StepSuccess:
        cancelled.append(world.cancel(request.run_id).status)
        return StepSuccess({})

    register_test_executor(ActionType.SEND_WEBHOOK, cancel_now)
    pending(world, WEBHOOK, NOTIFY)
    world.execute()
    run = world.the_run()
    assert cancelled == [RunStatus.RUNNING]
    assert (run["status"], run["error"]["code"]) == ("FAILED", "CANCELLED")
    assert [step["status"] for step in world.steps(run["id"])] == ["SUCCEEDED"]
    assert world.sql("select 1 from notifications") == []
    # Brought back, it goes on behind the step that was finished.
    world.retry(run["id"])
    world.execute()
    assert world.the_run()["status"] == "SUCCEEDED"


def test_a_cancelled_run_that_is_redriven_counts_its_next_step_before_it_is_tried(
    world: World,
) -> None:
    def cancel_now(request: StepRequest) -> StepSuccess:
        world.cancel(request.run_id)
        return StepSuccess({})

    register_test_executor(ActionType.SEND_WEBHOOK, cancel_now)
    pending(world, WEBHOOK, NOTIFY)
    world.execute()
    run_id = world.the_run()["id"]
    assert world.the_run()["next_action"] == 1
    world.redrive()
    world.claim([run_id])
    assert [(s["status"], s["attempts"]) for s in world.steps(run_id)] == [
        ("SUCCEEDED", 1),
        ("STARTED", 1),
    ]


def test_a_cancelled_run_whose_worker_died_is_ended_after_the_sweep(world: World) -> None:
    pending(world)
    run_id = world.the_run()["id"]
    world.claim([run_id])
    assert world.cancel(run_id).status == RunStatus.RUNNING
    world.turn_clock(231)
    world.sweep()
    world.execute()
    assert world.the_run()["error"]["code"] == "CANCELLED"
    assert world.sql("select 1 from notifications") == []


def test_a_second_cancel_of_a_running_run_logs_nothing(world: World) -> None:
    pending(world)
    run_id = world.the_run()["id"]
    world.claim([run_id])
    for _ in range(2):
        world.cancel(run_id)
    assert world.lines(run_id).count("info run cancelled") == 1
    assert [row["action"] for row in world.sql("select action from audit_log")] == ["run.cancelled"]


def test_a_run_that_newer_code_defined_is_left_for_newer_code_to_end(
    world: World, aws: Aws
) -> None:
    pending(world)
    run_id = world.the_run()["id"]
    world.sql(
        "update automation_versions set schema = 2,"
        """ actions = jsonb_set(actions, '{0,type}', '"TELEPORT"')"""
    )
    world.sql("update automation_runs set due_at = whenthen_now() + interval '1 day'")
    for _ in range(2):
        assert world.cancel(run_id) == Cancelled(RunStatus.PENDING, ())
    run = world.the_run()
    assert (run["status"], run["lease_token"], run["error"]) == ("PENDING", None, None)
    # It wakes soon, whenever it was due.
    assert world.pending_ids() == [run_id]
    aws.queued()
    world.turn_clock(61)
    world.sweep()
    assert [message["runId"] for message in aws.queued()] == [str(run_id)]
    world.sql(
        "update automation_versions set schema = 1,"
        """ actions = jsonb_set(actions, '{0,type}', '"CREATE_NOTIFICATION"')"""
    )
    world.execute([run_id])
    assert world.the_run()["error"]["code"] == "CANCELLED"
    assert world.lines(run_id).count("info run cancelled") == 1


@pytest.mark.parametrize("status", ["SUCCEEDED", "FAILED", "DEAD_LETTER"])
def test_a_run_that_has_ended_cannot_be_cancelled(world: World, status: str) -> None:
    pending(world)
    world.execute()
    world.sql("update automation_runs set status = :s", s=status)
    with pytest.raises(ConflictError) as raised:
        world.cancel(world.the_run()["id"])
    assert (raised.value.code, raised.value.details) == (
        "INVALID_TRANSITION",
        {"reason": "invalid_transition", "from": status, "to": "FAILED"},
    )
    assert world.the_run()["cancelled_by"] is None
    assert world.sql("select 1 from audit_log") == []


def test_an_unknown_run_and_one_of_another_automation_are_not_found(world: World) -> None:
    pending(world)
    run = world.the_run()
    with pytest.raises(NotFoundError):
        world.cancel(new_id(), automation_id=run["automation_id"])
    with pytest.raises(NotFoundError):
        world.cancel(run["id"], automation_id=new_id())
    assert world.the_run()["status"] == "PENDING"


def test_a_cancelled_run_is_not_swept_any_more(world: World, aws: Aws) -> None:
    pending(world)
    world.cancel(world.the_run()["id"])
    aws.queued()
    world.turn_clock(86_400)
    assert (world.sweep(), aws.queued()) == (0, [])
