"""A run longer than an invocation: it is given back and continued, with nothing counted."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from uuid import UUID

import pytest

from tests.integration.conftest import Aws
from tests.integration.engine_world import World
from tests.integration.test_failures import WEBHOOK
from whenthen.actions.registry import clear_test_executors, register_test_executor
from whenthen.actions.requests import StepRequest, StepSuccess
from whenthen.domain.kinds import ActionType
from whenthen.engine.context import Context
from whenthen.engine.execute_runs import execute_runs

INVOCATION_S = 180


@pytest.fixture
def world(context: Context) -> World:
    return World(context)


@pytest.fixture(autouse=True)
def _no_executors_left() -> Iterator[None]:
    yield
    clear_test_executors()


@dataclass
class SlowTarget:
    """Takes `takes_s` of the turned clock for each call, while the watchdog looks on."""

    world: World
    takes_s: int
    spent_s: int = 0
    hits: Counter[UUID] = field(default_factory=Counter)

    def __call__(self, request: StepRequest) -> StepSuccess:
        self.hits[request.action_id] += 1
        self.spent_s += self.takes_s
        self.world.turn_clock(self.takes_s)
        self.world.sweep()
        return StepSuccess({"status": 200})

    def left_s(self) -> float:
        return INVOCATION_S - self.spent_s


@pytest.mark.parametrize(("takes_s", "timeout_s", "continued"), [(20, 30, 6), (119, 120, 49)])
def test_case_056_fifty_slow_actions_finish_over_continuations_with_nothing_counted(
    world: World, aws: Aws, takes_s: int, timeout_s: int, continued: int
) -> None:
    target = SlowTarget(world, takes_s)
    register_test_executor(ActionType.SEND_WEBHOOK, target)
    world.add_automation([{**WEBHOOK, "timeoutMs": timeout_s * 1000}] * 50)
    world.match(world.created_event(world.add_record()))
    run_id = world.the_run()["id"]
    invocations = 0
    while messages := aws.queued():
        invocations += 1
        target.spent_s = 0
        execute_runs(world.context, [UUID(m["runId"]) for m in messages], target.left_s)
    run = world.the_run()
    assert (run["status"], run["error"]) == ("SUCCEEDED", None)
    assert (run["retry_count"], run["crash_count"], run["generation"]) == (0, 0, 0)
    assert [(step["status"], step["attempts"]) for step in world.steps(run_id)] == [
        ("SUCCEEDED", 1)
    ] * 50
    assert (len(target.hits), set(target.hits.values())) == (50, {1})
    assert world.lines(run_id).count("info run continued") == continued == invocations - 1
    assert [line for line in world.lines(run_id) if line.startswith("warn")] == []
