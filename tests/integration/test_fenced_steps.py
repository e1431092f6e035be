"""A run is fenced by its lease and by its place: whoever lags behind it can do nothing to it."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.integration.engine_world import World
from tests.integration.test_triage import NOTIFY
from whenthen.actions.registry import clear_test_executors, register_test_executor
from whenthen.actions.requests import StepSuccess
from whenthen.domain.kinds import ActionType
from whenthen.engine.context import Context
from whenthen.engine.data_steps import take_data_steps
from whenthen.engine.outside_steps import Stragglers, take_outside_step
from whenthen.engine.run_progress import RunProgress, begin
from whenthen.store import run_claims

CALL = {"type": "SEND_WEBHOOK", "config": {"url": "https://hooks.example.com/"}}


@pytest.fixture
def world(context: Context) -> World:
    return World(context)


def two_views(world: World) -> tuple[RunProgress, RunProgress]:
    """The same claim of the one pending run, in two hands."""
    (run_id,) = world.pending_ids()
    lease = world.claim([run_id])
    claimed, _ = world.in_transaction(lambda c: run_claims.read(c, [run_id], frozenset([run_id])))
    return begin(claimed[0], lease), begin(claimed[0], lease)


def start(world: World, actions: Sequence[Mapping[str, Any]]) -> tuple[RunProgress, RunProgress]:
    world.add_automation(actions)
    world.match(world.created_event(world.add_record(Status="B"), Status="B"))
    return two_views(world)


def told(world: World) -> int:
    return len(world.sql("select 1 from notifications"))


def take(world: World, progress: RunProgress) -> list[RunProgress]:
    return take_data_steps(world.context, [progress])


def test_a_data_step_that_the_row_has_left_is_not_taken_again(world: World) -> None:
    ahead, behind = start(world, [NOTIFY, CALL, NOTIFY])
    (further,) = take(world, ahead)
    assert (further.index, ahead.index) == (1, 0)
    assert take(world, behind) == []
    assert told(world) == 1
    run = world.the_run()
    assert (run["status"], run["next_action"]) == ("RUNNING", 1)


def test_data_steps_that_one_transaction_has_taken_are_not_taken_again(world: World) -> None:
    ahead, behind = start(world, [NOTIFY, NOTIFY])
    assert take(world, ahead) == []
    assert world.the_run()["status"] == "SUCCEEDED"
    assert take(world, behind) == []
    assert told(world) == 2


def test_an_outside_step_that_the_row_has_left_is_not_recorded_again(world: World) -> None:
    register_test_executor(ActionType.SEND_WEBHOOK, lambda _: StepSuccess({"status": 200}))
    try:
        ahead, behind = start(world, [CALL, NOTIFY])
        assert take_outside_step(world.context, ahead, Stragglers()) == [ahead]
        assert take_outside_step(world.context, behind, Stragglers()) == []
    finally:
        clear_test_executors()
    run = world.the_run()
    assert (run["status"], run["next_action"]) == ("RUNNING", 1)
    assert told(world) == 0
    (sent, notify) = world.steps(run["id"])
    assert (sent["status"], notify["status"]) == ("SUCCEEDED", "STARTED")
