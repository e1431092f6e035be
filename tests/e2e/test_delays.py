"""DELAY over the running stack: a short one by the queue, a long one by the watchdog."""

from collections.abc import Iterator
from time import monotonic
from typing import Any

import pytest

from tests.e2e.conftest import PATIENCE_S, Api, Stack, eventually
from tests.e2e.stories import (
    activate,
    add_record,
    ended_run,
    target_of_its_own,
    the_run,
    timed,
    webhook,
    webhook_ids,
)
from tests.integration.webhook_target import Target, respond

pytestmark = [pytest.mark.xdist_group("stack"), pytest.mark.timeout(600)]

DAY_S = 86_400


@pytest.fixture
def target() -> Iterator[Target]:
    with target_of_its_own() as target:
        yield target


def delay(**config: Any) -> dict[str, Any]:
    return {"type": "DELAY", "config": config}


def test_a_run_waits_so_many_seconds_between_two_calls(
    owner: Api, stack: Stack, tickets: str, target: Target
) -> None:
    times: list[float] = []
    before, after = (target.on(path, timed(times, respond(200))) for path in ("/one", "/two"))
    automation = activate(owner, stack, tickets, webhook(before), delay(seconds=3), webhook(after))
    add_record(owner, tickets)
    run = ended_run(owner, automation)
    assert (run["status"], run["retryCount"]) == ("SUCCEEDED", 0)
    assert [step["attempts"] for step in run["steps"]] == [1, 1, 1]
    assert times[1] - times[0] >= 2.9
    waited = run["steps"][1]
    # Both are written in the one form that sorts as time does.
    assert waited["output"]["resumedAt"] >= waited["resumeAt"]


def test_a_long_delay_outlasts_every_watchdog_until_its_day(
    owner: Api, stack: Stack, tickets: str, target: Target
) -> None:
    url = target.on("/t", respond(200))
    automation = activate(owner, stack, tickets, delay(seconds=DAY_S), webhook(url))
    began = monotonic()
    add_record(owner, tickets)

    def waits() -> Any:
        run = the_run(owner, automation)
        return run if run and [step["status"] for step in run["steps"]] == ["WAITING"] else None

    run = eventually(waits, "the run waits", PATIENCE_S)
    assert (run["status"], run["dueAt"]) == ("PENDING", run["steps"][0]["resumeAt"])
    stack.invoke("RunWatchdogFunction", {})
    assert (target.hits, waits() is not None) == ([], True)
    with stack.clock_turned(DAY_S + monotonic() - began + 1):
        stack.invoke("RunWatchdogFunction", {})
        ended = ended_run(owner, automation)
    assert (ended["status"], ended["retryCount"]) == ("SUCCEEDED", 0)
    assert len(webhook_ids(target.hits, "/t")) == 1
