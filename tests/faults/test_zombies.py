"""Zombies: a process stops at any point, its work is done by others, it wakes and changes nothing.

The same scenarios and points as in the fault matrix, with SIGSTOP instead of SIGKILL.
"""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from tests.faults.points import at_each
from tests.faults.promises import Facts, check, facts
from tests.faults.scenarios import SCENARIOS
from tests.faults.stand import PATIENCE_S, Ended, Stand
from tests.faults.test_fault_matrix import drawn, without_a_fault
from tests.integration.engine_world import World


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", SCENARIOS)
def test_case_037_a_process_that_wakes_up_late_changes_nothing(stand: Stand, name: str) -> None:
    scenario = SCENARIOS[name]
    unbroken = without_a_fault(stand, scenario)
    stops = at_each(unbroken.points, lambda _: ("stop_before", "stop_after"))
    for stop in drawn(name, stops):
        world = stand.new_world()
        invocation = scenario.prepare(stand, world)
        before = stand.outside.hits()
        pid = stand.start(invocation, stop)
        try:
            until_stopped(pid)
            end_idle_transactions(stand, world)
            stand.recover(world, invocation)
            found = check(stand, world, scenario)
        finally:
            ended = wake(stand, pid)
        stand.drain()
        assert len(ended.points) > stop.at, stop
        assert facts(world) == found, f"{name}: changed by a zombie of {stop}"
        calls = (stand.outside.hits() - before).values()
        assert max(calls, default=0) <= unbroken.hits + 1, stop


def until_stopped(pid: int) -> None:
    deadline, pause = time.monotonic() + PATIENCE_S, threading.Event()
    while time.monotonic() < deadline:
        if "\nState:\tT" in Path(f"/proc/{pid}/status").read_text():
            return
        pause.wait(0.005)
    raise AssertionError(f"process {pid} did not stop within {PATIENCE_S} s")


def end_idle_transactions(stand: Stand, world: World) -> None:
    """Do at once what the server does after a minute with transactions whose client is frozen.

    What that client sent last may still be under way, and its transaction idle only after it.
    """
    stand.context.database.close()
    deadline, pause = time.monotonic() + PATIENCE_S, threading.Event()
    while stand.others_at_work():
        assert time.monotonic() < deadline, "a frozen transaction stays open"
        world.sql(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and state like 'idle in transaction%'"
            " and pid <> pg_backend_pid()"
        )
        pause.wait(0.005)


def wake(stand: Stand, pid: int) -> Ended:
    os.kill(pid, signal.SIGCONT)
    return stand.forks.wait()


def test_what_a_zombie_may_not_change_is_everything() -> None:
    assert set(Facts.__dataclass_fields__) == {
        "runs",
        "steps",
        "lines",
        "notifications",
        "audit",
        "records",
        "occurrences",
    }
