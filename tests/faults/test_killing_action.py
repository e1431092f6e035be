"""An action that kills its process, through real handlers in real processes, to its one death."""

from functools import partial

import pytest

from tests.faults.outside import hook
from tests.faults.promises import check
from tests.faults.scenarios import LEASE_OVER_S, NOTIFY, Scenario, execute, waiting_runs
from tests.faults.stand import Invocation, Stand, sqs_event
from tests.faults.test_fault_matrix import KILLED
from tests.integration.engine_world import World
from whenthen.domain.limits import CRASHES_MAX

BATCH = 5
NEIGHBOURS = 4
KILLER = [NOTIFY, hook("kills"), NOTIFY]
KIND = [NOTIFY, hook("ok"), NOTIFY]
# Each death of the killer, each neighbour by itself, and room.
INVOCATIONS_MAX = 40


@pytest.mark.timeout(300)
def test_case_055_an_action_that_kills_its_process_is_a_dead_letter_and_its_neighbours_succeed(
    stand: Stand,
) -> None:
    world = stand.new_world()
    messages = waiting_runs(stand, world, KILLER)
    neighbourhood = World(stand.context)
    messages += waiting_runs(stand, neighbourhood, KIND, count=NEIGHBOURS)
    exits = []
    while messages:
        batch, messages = messages[:BATCH], messages[BATCH:]
        stand.start(
            Invocation("run-executor", sqs_event(batch), offset_s=stand.offset_s), fault=None
        )
        ended = stand.wait()
        exits.append(ended.exit)
        assert len(exits) < INVOCATIONS_MAX
        if ended.exit == KILLED:
            stand.set_clock(stand.offset_s + LEASE_OVER_S)
            stand.invoke_here("run-watchdog", {})
        messages += stand.take_messages("RUN_QUEUE_URL")
    assert set(exits) == {0, KILLED}
    assert exits.count(KILLED) == CRASHES_MAX
    stand.drain()
    found = check(stand, world, Scenario(partial(execute, actions=KILLER), {"DEAD_LETTER": 1}))
    (run,) = found.runs
    assert run["error"] == {
        "code": "WORKER_CRASHED",
        "message": "its worker died 8 times in a row",
        "actionIndex": 1,
        "actionType": "SEND_WEBHOOK",
        "attempts": CRASHES_MAX,
    }
    assert [row["title"] for row in found.notifications if row["title"] != "told"] == [
        'Automation "Triage" failed (worker crash)'
    ]
    assert [entry["action"] for entry in found.audit] == ["automation.worker_crashed"]
    # The step before the killer was done once, whatever came after it.
    assert [row["title"] for row in found.notifications].count("told") == 1
    beside = Scenario(partial(execute, actions=KIND), {"SUCCEEDED": NEIGHBOURS})
    assert len(check(stand, neighbourhood, beside).runs) == NEIGHBOURS
