"""How runs that automations start in each other are spread over time."""

from uuid import UUID

import pytest

from whenthen.domain.rules.rate import Counts, Placement, RatePlan, is_counted

ONE, OTHER = UUID(int=1), UUID(int=2)


@pytest.mark.parametrize(
    ("depth", "by_webhook", "expected"),
    [(0, False, False), (1, False, True), (4, False, True), (0, True, True), (1, True, True)],
)
def test_only_chained_runs_and_webhooks_are_counted(
    depth: int, *, by_webhook: bool, expected: bool
) -> None:
    assert is_counted(depth, by_webhook=by_webhook) is expected


@pytest.mark.parametrize(
    ("nth", "due_in_s"),
    [(1, 0), (2, 0), (599, 0), (600, 0), (601, 60), (1200, 60), (1201, 120), (6001, 600)],
)
def test_case_042_the_nth_run_of_a_minute_is_due_a_minute_later_for_each_full_limit(
    nth: int, due_in_s: int
) -> None:
    plan = RatePlan({ONE: Counts(nth - 1, 0)}, runs_per_minute=600, runs_per_day=10_000)
    assert plan.place(ONE) == Placement(due_in_s, over_limit=False)


@pytest.mark.parametrize(
    ("before", "over_limit"), [(0, False), (9_999, False), (10_000, True), (10_001, True)]
)
def test_case_042_what_is_above_the_days_limit_is_marked(before: int, *, over_limit: bool) -> None:
    plan = RatePlan({ONE: Counts(0, before)}, runs_per_minute=600, runs_per_day=10_000)
    assert plan.place(ONE).over_limit is over_limit


def test_the_runs_of_one_batch_count_each_other_and_no_other_automations() -> None:
    plan = RatePlan({ONE: Counts(1, 2)}, runs_per_minute=2, runs_per_day=4)
    assert [plan.place(ONE) for _ in range(4)] == [
        Placement(0, over_limit=False),
        Placement(60, over_limit=False),
        Placement(60, over_limit=True),
        Placement(120, over_limit=True),
    ]
    assert plan.place(OTHER) == Placement(0, over_limit=False)
