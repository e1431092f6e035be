"""A permission that is missing in the template makes the stack's own test fail."""

import math
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import PATIENCE_S, Stack, eventually, folder_for_a_stack, start_stack
from tests.e2e.permission_probes import PROBES, Prober, statements, template_without
from tests.e2e.stories import target_of_its_own
from tests.integration.webhook_target import Target

pytestmark = pytest.mark.timeout(900)

# Each costs a stack of its own: a random tenth here, all of them in `make soak`.
SHARE = 10


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "removed" not in metafunc.fixturenames:
        return
    chosen = sorted(PROBES)
    if os.environ.get("WHENTHEN_FAULTS") != "all":
        # The session's seed, which pytest prints: every worker must choose alike.
        seed = metafunc.config.getoption("randomly_seed", 0)
        chosen = random.Random(seed).sample(chosen, math.ceil(len(chosen) / SHARE))
    metafunc.parametrize("removed", chosen, ids=map("-".join, chosen))


@pytest.fixture
def folder() -> Iterator[Path]:
    with folder_for_a_stack() as folder:
        yield folder


@pytest.fixture
def target() -> Iterator[Target]:
    with target_of_its_own() as target:
        yield target


def test_every_statement_has_a_probe() -> None:
    assert set(statements()) == set(PROBES)


@pytest.mark.xdist_group("stack")
@pytest.mark.parametrize("name", [key for key in PROBES if PROBES[key]], ids="-".join)
def test_with_the_whole_template_the_probe_succeeds(
    stack: Stack, target: Target, name: tuple[str, str]
) -> None:
    probe = PROBES[name]
    assert probe is not None
    eventually(probe(Prober(stack, target)), "the probe works", PATIENCE_S)


@pytest.mark.xdist_group("stack2")
def test_without_the_statement_the_probe_fails(
    folder: Path, target: Target, removed: tuple[str, str]
) -> None:
    template = template_without(*removed, folder)
    actions = statements()[removed]
    probe = PROBES[removed]
    arguments = ("--template", template, "--processes", "1")
    if probe is None:
        with pytest.raises(AssertionError, match=r"does not allow|is not authorized"):
            start_stack(folder / "data", *arguments)
        return
    mutilated = start_stack(folder / "data", *arguments)
    try:
        works = probe(Prober(mutilated, target))
        log = folder / "data" / "stack.log"

        def is_denied() -> bool:
            denials = [f"not authorized to perform: {action}" for action in actions]
            return any(denial in log.read_text("utf-8", "replace") for denial in denials)

        eventually(is_denied, f"{actions} is denied", PATIENCE_S)
        assert not works()
    finally:
        assert mutilated.stop() == 0
