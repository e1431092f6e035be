"""The fault matrix: at each point between two durable effects everything that can break breaks.

The points are counted, not picked: each scenario runs once without a fault, and then once for each
of its points and each fault that can happen there. `WHENTHEN_FAULTS=all` takes the whole matrix,
otherwise a part of it is drawn; `WHENTHEN_FAULT_SEED` repeats a draw.
"""

import json
import os
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from tests.faults.child import SERVICES
from tests.faults.matrix_report import PROPERTY, SEED
from tests.faults.points import FAULTS, Fault, at_each
from tests.faults.promises import Facts, check
from tests.faults.scenarios import SCENARIOS, Scenario
from tests.faults.stand import Invocation, Stand

SHARE = 1.0 if os.environ.get("WHENTHEN_FAULTS") == "all" else 0.1

KILLED = -9


@dataclass(frozen=True)
class Unbroken:
    """A scenario as it goes without a fault: its points, what it came to, hits of one key."""

    points: list[str]
    found: Facts
    hits: int


@dataclass
class Tally:
    """What has been broken so far, and how it came to rest."""

    points: int
    faults: int = 0
    sweeps: Counter[int] = field(default_factory=Counter)
    slowest_s: float = 0

    def add(self, sweeps: int, recovered_s: float) -> None:
        self.faults += 1
        self.sweeps[sweeps] += 1
        self.slowest_s = max(self.slowest_s, recovered_s)

    def row(self, scenario: str) -> str:
        return json.dumps(
            {
                "scenario": scenario,
                "points": self.points,
                "faults": self.faults,
                "sweeps": [self.sweeps[n] for n in range(3)],
                "slowest_s": self.slowest_s,
                "share": "all of it" if SHARE == 1 else f"{SHARE:.0%} of it",
            }
        )


def faults_at(points: list[str]) -> list[Fault]:
    return at_each(points, FAULTS.__getitem__)


def drawn(scenario: str, faults: list[Fault]) -> list[Fault]:
    """The part of `faults` that this session takes, at least one."""
    draw = random.Random(f"{SEED} {scenario}")
    return draw.sample(faults, max(1, round(len(faults) * SHARE)))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", SCENARIOS)
def test_nothing_is_lost_repeated_or_told_twice_whatever_breaks(
    stand: Stand,
    name: str,
    record_property: Callable[[str, object], None],
) -> None:
    scenario = SCENARIOS[name]
    unbroken = without_a_fault(stand, scenario)
    tally = Tally(len(unbroken.points))
    for fault in drawn(name, faults_at(unbroken.points)):
        try:
            with_fault(stand, scenario, fault, unbroken, tally)
        except AssertionError as error:
            error.add_note(f"{name}: {fault} of {unbroken.points}, seed {SEED}")
            raise
    record_property(PROPERTY, tally.row(name))


def without_a_fault(stand: Stand, scenario: Scenario) -> Unbroken:
    """Run the scenario as it should go."""
    world = stand.new_world()
    invocation = scenario.prepare(stand, world)
    before = stand.outside.hits()
    stand.start(invocation, None)
    ended = stand.wait()
    assert ended.exit == 0, ended.error
    stand.recover(world, invocation)
    found = check(stand, world, scenario)
    calls = stand.outside.hits() - before
    return Unbroken(list(ended.points), found, max(calls.values(), default=0))


def with_fault(
    stand: Stand, scenario: Scenario, fault: Fault, unbroken: Unbroken, tally: Tally
) -> None:
    world = stand.new_world()
    invocation = scenario.prepare(stand, world)
    before = stand.outside.hits()
    stand.start(invocation, fault)
    ended = stand.wait()
    killed = fault.action.startswith("kill")
    assert (ended.exit == KILLED) == killed, ended
    sweeps = stand.recover(world, invocation)
    tally.add(sweeps, stand.offset_s - invocation.offset_s if sweeps else 0)
    found = check(stand, world, scenario)
    calls = (stand.outside.hits() - before).values()
    assert max(calls, default=0) <= unbroken.hits + killed, "called more often than once more"
    assert attempts(found) <= attempts(unbroken.found) + (not killed), (
        "an attempt too many was counted"
    )


def attempts(found: Facts) -> int:
    return max((step["attempts"] for step in found.steps), default=0)


def test_the_matrix_covers_every_function_and_every_kind_of_point(stand: Stand) -> None:
    functions: set[str] = set()
    for scenario in SCENARIOS.values():
        invocation: Invocation = scenario.prepare(stand, stand.new_world())
        functions.add(invocation.function)
    assert functions == set(SERVICES)
