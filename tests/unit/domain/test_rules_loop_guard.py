"""How chains of automations come to an end."""

from itertools import cycle, islice
from uuid import UUID

import pytest

from whenthen.domain.kinds import SkipReason
from whenthen.domain.rules.loop_guard import child_context, loop_guard
from whenthen.domain.schemas.events import AutomationContext

A = UUID("01970000-0000-7000-8000-00000000000a")
B = UUID("01970000-0000-7000-8000-00000000000b")
RUN = UUID("01970000-0000-7000-8000-00000000000c")
ROOT = UUID("01970000-0000-7000-8000-00000000000d")


def emitted(automation_id: UUID, cause: AutomationContext | None) -> AutomationContext:
    """Return the context of an event that a run of this automation emits, started by `cause`."""
    depth, chain = (0, ()) if cause is None else (cause.depth, cause.chain)
    return child_context(automation_id, RUN, ROOT, depth, chain)


def test_a_run_outside_any_chain_acts() -> None:
    assert loop_guard(None, A, 5) is None


def test_case_041_an_automation_is_not_started_by_its_own_event() -> None:
    assert loop_guard(emitted(A, None), A, 5) is SkipReason.SELF_TRIGGER


def test_case_041_a_ping_pong_acts_at_depths_0_to_4_and_stops_at_5() -> None:
    context: AutomationContext | None = None
    verdicts = []
    for automation_id in islice(cycle([A, B]), 6):
        verdicts.append(loop_guard(context, automation_id, 5))
        context = emitted(automation_id, context)
    assert verdicts == [None] * 5 + [SkipReason.DEPTH_LIMIT]


def test_case_042_a_loop_that_keeps_its_context_on_the_way_is_a_self_trigger() -> None:
    context = emitted(A, None)
    sent_around = AutomationContext(
        context.automation_id, context.run_id, context.root_run_id, context.depth, context.chain
    )
    assert loop_guard(sent_around, A, 5) is SkipReason.SELF_TRIGGER


def test_case_043_another_automation_in_the_chain_acts() -> None:
    assert loop_guard(emitted(A, None), B, 5) is None


def test_an_automation_further_up_the_chain_may_act_again() -> None:
    assert loop_guard(emitted(B, emitted(A, None)), A, 5) is None


@pytest.mark.parametrize(
    ("depth", "max_depth", "expected"),
    [
        (0, 5, None),
        (4, 5, None),
        (5, 5, SkipReason.DEPTH_LIMIT),
        (6, 5, SkipReason.DEPTH_LIMIT),
        (0, 1, None),
        (1, 1, SkipReason.DEPTH_LIMIT),
    ],
)
def test_a_run_at_the_depth_limit_does_not_act(
    depth: int, max_depth: int, expected: SkipReason | None
) -> None:
    assert loop_guard(AutomationContext(A, RUN, ROOT, depth, ()), B, max_depth) is expected


@pytest.mark.parametrize("depth", [0, 5, 99])
def test_a_self_trigger_is_named_before_the_depth(depth: int) -> None:
    context = AutomationContext(A, RUN, ROOT, depth, ())
    assert loop_guard(context, A, 5) is SkipReason.SELF_TRIGGER


def test_an_emitted_event_is_one_deeper_and_remembers_the_way() -> None:
    assert child_context(B, RUN, ROOT, 1, (A,)) == AutomationContext(B, RUN, ROOT, 2, (A, B))
