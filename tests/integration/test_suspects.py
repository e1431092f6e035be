"""Runs that a worker has died with are executed alone, so that no neighbour dies beside them."""

import os
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from tests.integration.conftest import Aws
from tests.integration.engine_world import World
from tests.integration.test_failures import WEBHOOK
from tests.integration.test_triage import NOTIFY
from whenthen.actions.registry import clear_test_executors, register_test_executor
from whenthen.actions.requests import StepRequest, StepSuccess
from whenthen.domain.kinds import ActionType
from whenthen.engine.context import Context

KILLER = "https://killer.example.com/"


@pytest.fixture
def world(context: Context) -> World:
    return World(context)


@pytest.fixture(autouse=True)
def _no_executors_left() -> Iterator[None]:
    yield
    clear_test_executors()


def runs_of(world: World, *actions: Any, count: int) -> list[UUID]:
    world.add_automation(list(actions))
    world.match(*[world.created_event(world.add_record()) for _ in range(count)])
    return [run["id"] for run in world.runs() if run["workspace_id"] == world.workspace_id]


def execute_in_child(world: World, run_ids: list[UUID]) -> int:
    """Execute in a process of its own, as a Lambda would; return its exit code."""
    world.context.database.close()
    pid = os.fork()
    if pid == 0:
        world.execute(run_ids)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def kill_the_process(request: StepRequest) -> StepSuccess:
    if request.config["url"] == KILLER:
        os._exit(137)
    return StepSuccess({"status": 200})


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_case_055_an_action_that_kills_its_process_dies_alone_and_its_neighbours_succeed(
    world: World, aws: Aws
) -> None:
    register_test_executor(ActionType.SEND_WEBHOOK, kill_the_process)
    others = World(world.context)
    neighbours = runs_of(others, WEBHOOK, NOTIFY, count=4)
    (killer,) = runs_of(world, {**WEBHOOK, "config": {"url": KILLER}}, count=1)
    deaths = 0
    waiting = [UUID(message["runId"]) for message in aws.queued()]
    while waiting:
        batch, waiting = waiting[:5], waiting[5:]
        deaths += execute_in_child(world, batch) == 137
        world.turn_clock(231)
        world.sweep()
        waiting += [UUID(message["runId"]) for message in aws.queued()]
    by_id = {run["id"]: run for run in world.runs()}
    assert (by_id[killer]["status"], by_id[killer]["error"]["code"]) == (
        "DEAD_LETTER",
        "WORKER_CRASHED",
    )
    assert [by_id[run_id]["status"] for run_id in neighbours] == ["SUCCEEDED"] * 4
    # Only the first death had neighbours; nobody but the killer crashed again.
    assert (deaths, by_id[killer]["crash_count"]) == (8, 8)
    assert len(aws.noticed()) == 1
    assert all(world.lines(run_id).count("info run completed") == 1 for run_id in neighbours)


def test_case_055_of_several_suspects_one_is_executed_and_the_others_go_back_uncounted(
    world: World, aws: Aws
) -> None:
    run_ids = sorted(runs_of(world, NOTIFY, count=3))
    innocent = runs_of(World(world.context), NOTIFY, count=1)
    world.crash(run_ids)
    aws.queued()
    world.execute([*run_ids, *innocent])
    by_id = {run["id"]: run for run in world.runs()}
    statuses = [by_id[run_id]["status"] for run_id in [*run_ids, *innocent]]
    assert statuses == ["SUCCEEDED", "PENDING", "PENDING", "SUCCEEDED"]
    for run_id in run_ids[1:]:
        assert (by_id[run_id]["crash_count"], by_id[run_id]["retry_count"]) == (1, 1)
        assert world.steps(run_id) == []
    assert [message["runId"] for message in aws.queued()] == [str(r) for r in run_ids[1:]]
    for run_id in run_ids[1:]:
        world.execute(run_ids)
        assert {r["id"]: r["status"] for r in world.runs()}[run_id] == "SUCCEEDED"


def test_case_055_suspects_are_executed_after_the_rest_of_their_batch(world: World) -> None:
    order: list[UUID] = []

    def note(request: StepRequest) -> StepSuccess:
        order.append(request.run_id)
        return StepSuccess({})

    register_test_executor(ActionType.SEND_WEBHOOK, note)
    run_ids = runs_of(world, WEBHOOK, count=4)
    world.crash(run_ids[:1])
    world.execute(run_ids)
    assert order[-1] == run_ids[0]
    assert set(order[:3]) == set(run_ids[1:])
