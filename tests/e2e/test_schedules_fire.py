"""Schedules over the running stack: to the second, by its own ticks, and by ticks for other times.

The seconds are those of a stack with a machine to itself: of three runs the median counts, less
what a run by hand waits at that moment, and a machine that is busy is asked again.
"""

from datetime import UTC, datetime, timedelta
from functools import partial
from statistics import median
from typing import Any

import pytest

from tests.e2e.conftest import PATIENCE_S, Api, Stack, eventually
from tests.e2e.stories import (
    RECONCILER,
    activate,
    ended_run,
    next_at,
    notify,
    put_schedule,
)
from whenthen.domain.instants import to_text

pytestmark = [pytest.mark.xdist_group("stack"), pytest.mark.timeout(600)]

SECOND = timedelta(seconds=1)
PRECISION_S = 2
TRIES = 3


def starts(stack: Stack, automation: dict[str, Any]) -> list[dict[str, Any]]:
    return stack.sql(
        "select created_at, started_at, due_at, input ->> 'firedAt' as fired_at"
        " from automation_runs"
        " where automation_id = cast(:id as uuid) and started_at is not null",
        id=automation["id"],
    )


def lateness_s(owner: Api, stack: Stack, tickets: str, ahead_s: int) -> float:
    """How late the median starts of three runs whose instants lie so far ahead."""
    automations = [activate(owner, stack, tickets, notify("tick")) for _ in range(3)]
    begin = datetime.now(UTC).replace(microsecond=0)
    instants = [begin + (ahead_s + n) * SECOND for n in range(3)]
    for automation, at in zip(automations, instants, strict=True):
        put_schedule(owner, automation, cron=f"{at.second} {at.minute} {at.hour} * * *")
    late_s: list[float] = []
    for automation, at in zip(automations, instants, strict=True):
        (run,) = eventually(
            partial(starts, stack, automation), "the run starts", ahead_s + PATIENCE_S
        )
        assert (run["due_at"], datetime.fromisoformat(run["fired_at"])) == (at, at)
        assert run["created_at"] < at
        late_s.append((run["started_at"] - at).total_seconds())
    assert min(late_s) >= -PRECISION_S, late_s
    return median(late_s)


def wait_by_hand_s(owner: Api, stack: Stack, tickets: str) -> float:
    """How long a run waits now that is due at once."""
    automation = activate(owner, stack, tickets, notify("now"))
    owner.ok("POST", f"/automations/{automation['id']}/run", {})
    (run,) = eventually(partial(starts, stack, automation), "the run starts", PATIENCE_S)
    waited: timedelta = run["started_at"] - run["created_at"]
    return waited.total_seconds()


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("ahead_s", [15, 75], ids=["by the activation", "by a tick"])
def test_an_expression_with_seconds_fires_at_its_second(
    owner: Api, stack: Stack, tickets: str, ahead_s: int
) -> None:
    seen = []
    for _ in range(TRIES):
        late_s = lateness_s(owner, stack, tickets, ahead_s)
        seen.append((late_s, wait_by_hand_s(owner, stack, tickets)))
        if late_s <= PRECISION_S + seen[-1][1]:
            return
    raise AssertionError(f"late, and what a run by hand waited: {seen}")


def test_a_tick_for_another_time_fires_what_is_due_then_and_its_run_does_not_wait(
    owner: Api, stack: Stack, tickets: str
) -> None:
    automation = activate(owner, stack, tickets, notify("tomorrow"))
    put_schedule(owner, automation, runEvery=86_400)
    at = next_at(stack, automation)
    assert stack.invoke(RECONCILER, {"now": at.isoformat()})["fired"] >= 1
    run = ended_run(owner, automation)
    assert run["status"] == "SUCCEEDED"
    assert run["input"]["firedAt"] == to_text(at)
    assert next_at(stack, automation) == at + timedelta(days=1)


def test_a_time_that_is_none_is_the_invokers_mistake(stack: Stack) -> None:
    done = stack.try_to_invoke(RECONCILER, {"now": "tomorrow"})
    assert (done.returncode, "now is not an instant" in done.stderr) == (1, True)
