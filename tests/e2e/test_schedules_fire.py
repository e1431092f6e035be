"""Schedules over the running stack: to the second, by its own ticks, and by ticks for other times.

The seconds are those of a stack with a machine to itself: of three runs the median counts.
"""

from datetime import UTC, datetime, timedelta
from functools import partial
from statistics import median
from typing import Any

import pytest

from tests.e2e.conftest import Api, Stack, eventually
from tests.e2e.stories import (
    PATIENCE_S,
    RECONCILER,
    activate,
    ended_run,
    next_at,
    notify,
    put_schedule,
)
from whenthen.domain.instants import to_text

pytestmark = [pytest.mark.xdist_group("stack"), pytest.mark.timeout(300)]

SECOND = timedelta(seconds=1)
PRECISION_S = 2


def starts(stack: Stack, automation: dict[str, Any]) -> list[dict[str, Any]]:
    return stack.sql(
        "select started_at, due_at, input ->> 'firedAt' as fired_at from automation_runs"
        " where automation_id = cast(:id as uuid) and started_at is not null",
        id=automation["id"],
    )


@pytest.mark.parametrize("ahead_s", [15, 75], ids=["by the activation", "by a tick"])
def test_an_expression_with_seconds_fires_at_its_second(
    owner: Api, stack: Stack, tickets: str, ahead_s: int
) -> None:
    begin = datetime.now(UTC).replace(microsecond=0)
    instants = [begin + (ahead_s + n) * SECOND for n in range(3)]
    automations = [activate(owner, stack, tickets, notify("tick")) for _ in instants]
    for automation, at in zip(automations, instants, strict=True):
        put_schedule(owner, automation, cron=f"{at.second} {at.minute} {at.hour} * * *")
    late_s = []
    for automation, at in zip(automations, instants, strict=True):
        (run,) = eventually(
            partial(starts, stack, automation), "the run starts", ahead_s + PATIENCE_S
        )
        assert (run["due_at"], datetime.fromisoformat(run["fired_at"])) == (at, at)
        late_s.append((run["started_at"] - at).total_seconds())
    assert min(late_s) >= -PRECISION_S
    assert abs(median(late_s)) <= PRECISION_S, late_s


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
