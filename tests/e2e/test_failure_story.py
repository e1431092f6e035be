"""The failure story over HTTP: retries, refusals, timeouts, crashes, and manual retries."""

import os
import queue
import signal
from collections.abc import Iterator
from itertools import pairwise

import pytest

from tests.e2e.conftest import PATIENCE_S, Api, Stack, eventually
from tests.e2e.stories import (
    activate,
    add_record,
    ended_run,
    held,
    notify,
    process_with_port,
    target_of_its_own,
    the_run,
    timed,
    update,
    webhook,
    webhook_ids,
)
from tests.integration.webhook_target import Target, hang, respond

pytestmark = [pytest.mark.xdist_group("stack"), pytest.mark.timeout(600)]

# The executor's timeout, the lease's margin, and the margin of its row's wake-up.
LEASE_S = 180 + 20 + 30


@pytest.fixture
def target() -> Iterator[Target]:
    with target_of_its_own() as target:
        yield target


def titles(owner: Api, title: str) -> int:
    return [n["title"] for n in owner.ok("GET", "/me/notifications")["data"]].count(title)


def test_case_035_a_target_that_is_down_twice_is_called_thrice_and_nothing_else_repeats(
    owner: Api, stack: Stack, tickets: str, target: Target
) -> None:
    times: list[float] = []
    url = target.on("/t", *(timed(times, respond(status)) for status in (503, 503, 200)))
    first = target.on("/first", respond(200))
    automation = activate(owner, stack, tickets, webhook(first), update(Status="C"), webhook(url))
    record_id = add_record(owner, tickets)
    run = ended_run(owner, automation)
    assert (run["status"], run["retryCount"]) == ("SUCCEEDED", 2)
    assert [step["attempts"] for step in run["steps"]] == [1, 1, 3]
    ids = webhook_ids(target.hits, "/t")
    assert ids == [f"msg_{run['id']}_0_{automation['actions'][2]['id']}"] * 3
    waits = [line["data"]["delayS"] for line in run["logs"] if line["message"] == "retry scheduled"]
    assert waits == [1, 2]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert gaps[0] > 0.9
    assert gaps[1] > 1.9
    # The first two actions ran once: one call, and one update above the record's first version.
    assert len(webhook_ids(target.hits, "/first")) == 1
    assert owner.ok("GET", f"/records/{record_id}")["version"] == 2


def test_a_refusal_is_final_after_one_call(
    owner: Api, stack: Stack, tickets: str, target: Target
) -> None:
    automation = activate(owner, stack, tickets, webhook(target.on("/t", respond(404))))
    add_record(owner, tickets)
    run = ended_run(owner, automation)
    assert (run["status"], run["retryCount"], len(target.hits)) == ("FAILED", 0, 1)
    assert (run["error"]["code"], run["error"]["attempts"]) == ("WEBHOOK_HTTP_ERROR", 1)


def test_a_target_that_sleeps_is_a_timeout_and_its_socket_is_closed(
    owner: Api, stack: Stack, tickets: str, target: Target
) -> None:
    sleeping = webhook(target.on("/t", hang), timeoutMs=1_000)
    automation = activate(owner, stack, tickets, sleeping)
    add_record(owner, tickets)
    run = ended_run(owner, automation)
    assert (run["status"], run["error"]["code"]) == ("FAILED", "ACTION_TIMEOUT")
    assert len(target.hits) == 1
    target.wait_until_idle()


def test_a_manual_retry_goes_on_where_it_failed_and_from_start_everything_is_new(
    owner: Api, stack: Stack, tickets: str, target: Target
) -> None:
    first = webhook(target.on("/first", respond(200)))
    second = webhook(target.on("/second", respond(404), respond(404), respond(200)))
    automation = activate(owner, stack, tickets, notify(f"Told {tickets}"), first, second)
    add_record(owner, tickets)
    run = ended_run(owner, automation)
    path = f"/automations/{automation['id']}/runs/{run['id']}/retry"

    def retried(body: dict[str, str]) -> str:
        known = len(target.hits)
        owner.ok("POST", path, body)
        eventually(lambda: len(target.hits) > known, "the run goes on", PATIENCE_S)
        return str(ended_run(owner, automation)["status"])

    assert (run["status"], run["error"]["actionIndex"]) == ("FAILED", 2)
    assert retried({}) == "FAILED"
    first_id, second_id = (action["id"] for action in automation["actions"][1:])
    assert webhook_ids(target.hits, "/first") == [f"msg_{run['id']}_0_{first_id}"]
    assert webhook_ids(target.hits, "/second") == [f"msg_{run['id']}_0_{second_id}"] * 2
    assert titles(owner, f"Told {tickets}") == 1
    assert retried({"from": "start"}) == "SUCCEEDED"
    assert webhook_ids(target.hits, "/first")[1:] == [f"msg_{run['id']}_1_{first_id}"]
    assert webhook_ids(target.hits, "/second")[2:] == [f"msg_{run['id']}_1_{second_id}"]
    assert titles(owner, f"Told {tickets}") == 2


def test_a_run_whose_worker_is_killed_mid_action_succeeds_once_its_lease_has_run_out(
    owner: Api, stack: Stack, tickets: str, target: Target
) -> None:
    arrivals: queue.Queue[int] = queue.Queue()
    url = target.on("/t", held(arrivals.put), respond(200))
    automation = activate(owner, stack, tickets, update(Status="C"), webhook(url))
    record_id = add_record(owner, tickets)
    port = arrivals.get(timeout=PATIENCE_S)
    pids = stack.pids("RunExecutorFunction")
    victim = process_with_port(port, pids)
    os.kill(victim, signal.SIGKILL)
    run = the_run(owner, automation)
    assert run is not None
    assert run["status"] == "RUNNING"

    def replaced() -> bool:
        alive = stack.pids("RunExecutorFunction")
        return victim not in alive and len(alive) == len(pids)

    eventually(replaced, "another executor in its place", PATIENCE_S)
    # A live lease keeps its run, whatever the watchdog does.
    stack.invoke("RunWatchdogFunction", {})
    assert len(target.hits) == 1
    with stack.clock_turned(LEASE_S):
        # How many it sweeps is not looked at: the stack's own tick may have come first.
        stack.invoke("RunWatchdogFunction", {})
        ended = ended_run(owner, automation)
    assert (ended["status"], ended["retryCount"]) == ("SUCCEEDED", 1)
    # The try that was interrupted used up no attempt.
    assert [step["attempts"] for step in ended["steps"]] == [1, 1]
    ids = webhook_ids(target.hits, "/t")
    assert (len(ids), len(set(ids))) == (2, 1)
    assert owner.ok("GET", f"/records/{record_id}")["version"] == 2
