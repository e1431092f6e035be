"""Whether a claimed run may act: every standing, and the order in which reasons are given."""

from collections.abc import Callable
from itertools import product
from typing import Any
from uuid import UUID

import pytest

from whenthen.domain.errors import FatalError
from whenthen.domain.kinds import AutomationStatus, SkipReason
from whenthen.domain.rules.condition import Evaluation
from whenthen.domain.rules.run_guards import (
    Go,
    Skip,
    Standing,
    Start,
    Stop,
    Verdict,
    before_claimed_run,
    before_further_step,
)
from whenthen.domain.schemas.events import AutomationContext

OWN = UUID("01970000-0000-7000-8000-00000000000a")
OTHER = UUID("01970000-0000-7000-8000-00000000000b")
RUN = UUID("01970000-0000-7000-8000-00000000000c")

EXPLAIN = {"op": "eq", "left": "A", "right": "B", "result": False}
HOLDS = Evaluation(result=True, explain=None)
FAILS = Evaluation(result=False, explain=EXPLAIN)

FLAGS = (False, True)
DRAFT, ACTIVE, PAUSED, ARCHIVED = AutomationStatus

STANDINGS = [
    Standing(cancelled, status, forced, finished)
    for cancelled, status, forced, finished in product(FLAGS, AutomationStatus, FLAGS, FLAGS)
]

# (cancelled, status, forced, has a finished step) → before a further step, after a claim.
# A line that is written once for both values of `forced` says None there.
GO = Go()
CANCELLED = Stop("CANCELLED", "the run was cancelled")
HALF_DONE = Stop("AUTOMATION_ARCHIVED", "the automation was archived while the run was on")
UNTOUCHED = Skip(SkipReason.AUTOMATION_ARCHIVED)
IS_PAUSED = Skip(SkipReason.AUTOMATION_PAUSED)
TABLE: list[tuple[bool, AutomationStatus, bool | None, bool, Verdict, Verdict]] = [
    (False, DRAFT, None, False, GO, GO),
    (False, DRAFT, None, True, GO, GO),
    (False, ACTIVE, None, False, GO, GO),
    (False, ACTIVE, None, True, GO, GO),
    (False, PAUSED, False, False, GO, IS_PAUSED),
    (False, PAUSED, True, False, GO, GO),
    (False, PAUSED, None, True, GO, GO),
    (False, ARCHIVED, None, False, UNTOUCHED, UNTOUCHED),
    (False, ARCHIVED, None, True, HALF_DONE, HALF_DONE),
    *[
        (True, status, None, finished, CANCELLED, CANCELLED)
        for status, finished in product(AutomationStatus, FLAGS)
    ],
]
VERDICTS = {
    Standing(cancelled, status, each, finished): (further, claimed)
    for cancelled, status, forced, finished, further, claimed in TABLE
    for each in (FLAGS if forced is None else (forced,))
}


def start(
    evaluate: Callable[[], Evaluation] = lambda: HOLDS,
    *,
    context: AutomationContext | None = None,
    max_depth: int = 5,
    action_count: int = 1,
    overlaps: Callable[[], bool] = lambda: False,
) -> Start:
    return Start(context, OWN, max_depth, action_count, overlaps, evaluate)


def came_from(automation_id: UUID, depth: int) -> AutomationContext:
    return AutomationContext(automation_id, RUN, RUN, depth, ())


def standing(**changes: Any) -> Standing:
    facts = {
        "cancelled": False,
        "automation_status": ACTIVE,
        "forced": False,
        "has_finished_step": False,
    }
    return Standing(**{**facts, **changes})


def never() -> Evaluation:
    raise AssertionError("the condition was asked")


def test_the_table_covers_every_standing() -> None:
    assert VERDICTS.keys() == set(STANDINGS)
    assert len(STANDINGS) == 32


@pytest.mark.parametrize("present", STANDINGS, ids=str)
def test_case_124_what_stops_a_run_before_a_further_step(present: Standing) -> None:
    assert before_further_step(present) == VERDICTS[present][0]


@pytest.mark.parametrize("present", STANDINGS, ids=str)
def test_case_108_what_stops_a_run_that_was_claimed_again(present: Standing) -> None:
    assert before_claimed_run(present, None) == VERDICTS[present][1]


@pytest.mark.parametrize("present", STANDINGS, ids=str)
def test_case_108_what_stops_a_run_at_its_first_claim(present: Standing) -> None:
    assert before_claimed_run(present, start()) == VERDICTS[present][1]


@pytest.mark.parametrize(
    "present", [s for s in STANDINGS if not isinstance(VERDICTS[s][1], Go)], ids=str
)
def test_a_run_stopped_by_its_standing_is_asked_nothing_more(present: Standing) -> None:
    looped = start(never, context=came_from(OWN, 9), action_count=99)
    assert before_claimed_run(present, looped) == VERDICTS[present][1]


def test_a_run_whose_step_was_tried_is_not_asked_for_its_condition_again() -> None:
    assert before_claimed_run(standing(), None) == GO


@pytest.mark.parametrize(
    ("context", "reason"),
    [
        (came_from(OWN, 1), SkipReason.SELF_TRIGGER),
        (came_from(OWN, 5), SkipReason.SELF_TRIGGER),
        (came_from(OTHER, 5), SkipReason.DEPTH_LIMIT),
        (came_from(OTHER, 6), SkipReason.DEPTH_LIMIT),
    ],
)
def test_case_041_a_loop_is_named_before_the_actions_and_the_condition(
    context: AutomationContext, reason: SkipReason
) -> None:
    first = start(never, context=context, action_count=51)
    assert before_claimed_run(standing(), first) == Skip(reason)


@pytest.mark.parametrize("depth", [0, 4])
def test_case_043_a_run_below_the_depth_limit_acts(depth: int) -> None:
    assert before_claimed_run(standing(), start(context=came_from(OTHER, depth))) == GO


@pytest.mark.parametrize(("max_depth", "verdict"), [(3, Skip(SkipReason.DEPTH_LIMIT)), (4, GO)])
def test_the_depth_limit_is_the_setting(max_depth: int, verdict: Verdict) -> None:
    first = start(context=came_from(OTHER, 3), max_depth=max_depth)
    assert before_claimed_run(standing(), first) == verdict


@pytest.mark.parametrize("action_count", [0, 1, 50])
def test_up_to_50_actions_can_run(action_count: int) -> None:
    assert before_claimed_run(standing(), start(action_count=action_count)) == GO


@pytest.mark.parametrize("action_count", [51, 1000])
def test_more_than_50_actions_cannot_run_and_the_condition_is_not_asked(action_count: int) -> None:
    verdict = before_claimed_run(standing(), start(never, action_count=action_count))
    assert verdict == Stop("ACTION_COUNT", f"{action_count} actions, at most 50 can run")


def test_a_run_that_overlaps_is_skipped_and_its_condition_is_not_asked() -> None:
    first = start(never, overlaps=lambda: True)
    assert before_claimed_run(standing(), first) == Skip(SkipReason.OVERLAP)


def test_what_stops_a_run_before_its_overlap_leaves_the_schedule_free_for_others() -> None:
    def asked() -> bool:
        raise AssertionError("the run was made its schedule's active one")

    looped = start(overlaps=asked, context=came_from(OWN, 1))
    assert before_claimed_run(standing(), looped) == Skip(SkipReason.SELF_TRIGGER)
    for first in (start(overlaps=asked, action_count=51), None):
        before_claimed_run(standing(), first)
    before_claimed_run(standing(automation_status=PAUSED), start(overlaps=asked))


def test_a_condition_that_holds_lets_the_run_act() -> None:
    assert before_claimed_run(standing(), start(lambda: HOLDS)) == GO


def test_a_condition_that_does_not_hold_skips_the_run_and_says_why() -> None:
    verdict = before_claimed_run(standing(), start(lambda: FAILS))
    assert verdict == Skip(SkipReason.CONDITIONS_NOT_MET, EXPLAIN)


def test_a_forced_run_of_a_paused_automation_still_needs_its_condition() -> None:
    present = standing(automation_status=PAUSED, forced=True)
    assert before_claimed_run(present, start(lambda: FAILS)) == Skip(
        SkipReason.CONDITIONS_NOT_MET, EXPLAIN
    )


def test_a_stored_condition_that_is_not_valid_stops_the_run() -> None:
    def invalid() -> Evaluation:
        raise FatalError("CONDITION_INVALID", "unknown operator")

    verdict = before_claimed_run(standing(), start(invalid))
    assert verdict == Stop("CONDITION_INVALID", "unknown operator")


def test_an_error_that_is_not_the_conditions_is_not_hidden() -> None:
    def broken() -> Evaluation:
        raise KeyError("op")

    with pytest.raises(KeyError):
        before_claimed_run(standing(), start(broken))
