"""Where a run that a person retries begins again."""

from collections.abc import Sequence
from uuid import UUID

import pytest

from whenthen.domain.errors import InvalidError
from whenthen.domain.rules.retry_point import From, RetryPlan, plan_retry

A, B, C, D, X = (UUID(int=n) for n in range(1, 6))
PINNED = [A, B, C, D]


def plan(
    from_: From, done: int, latest: Sequence[UUID] | None = None, pinned: Sequence[UUID] = PINNED
) -> RetryPlan:
    return plan_retry(from_, pinned, latest, frozenset(pinned[:done]))


@pytest.mark.parametrize(
    ("from_", "done", "expected"),
    [
        # From the failed step progress goes on where it stopped: no new generation.
        ("failed", 0, RetryPlan(0, new_generation=False)),
        ("failed", 2, RetryPlan(2, new_generation=False)),
        ("failed", 4, RetryPlan(4, new_generation=False)),
        ("start", 0, RetryPlan(0, new_generation=True)),
        ("start", 2, RetryPlan(0, new_generation=True)),
        (0, 2, RetryPlan(0, new_generation=True)),
        (1, 2, RetryPlan(1, new_generation=True)),
        (2, 2, RetryPlan(2, new_generation=True)),
    ],
)
def test_a_retry_on_its_own_version_begins_where_it_is_told(
    from_: From, done: int, expected: RetryPlan
) -> None:
    assert plan(from_, done) == expected


@pytest.mark.parametrize(("from_", "done"), [(1, 0), (3, 2), (50, 2)])
def test_a_point_behind_the_failed_step_is_refused(from_: int, done: int) -> None:
    with pytest.raises(InvalidError) as raised:
        plan(from_, done)
    assert raised.value.code == "RETRY_POINT_INVALID"
    assert raised.value.message == f"the run can begin again at its step {done} or before"


def test_the_failed_step_is_the_first_unfinished_one_even_with_finished_ones_behind_it() -> None:
    assert plan_retry("failed", PINNED, None, frozenset({A, C})) == RetryPlan(
        1, new_generation=False
    )


@pytest.mark.parametrize(
    ("from_", "done", "latest", "expected"),
    [
        # The same up to and with the failed step: goes on in the new version as it is.
        ("failed", 2, [A, B, C, D], RetryPlan(2, new_generation=False)),
        ("failed", 2, [A, B, C], RetryPlan(2, new_generation=False)),
        ("failed", 2, [A, B, C, X], RetryPlan(2, new_generation=False)),
        # Another action where it failed: what is finished is carried over.
        ("failed", 2, [A, B, X, D], RetryPlan(2, new_generation=True)),
        ("failed", 2, [A, B], RetryPlan(2, new_generation=True)),
        # Changed before the point: from the start.
        ("failed", 2, [A, X, C, D], RetryPlan(0, new_generation=True)),
        ("failed", 2, [B, A, C, D], RetryPlan(0, new_generation=True)),
        ("failed", 2, [A], RetryPlan(0, new_generation=True)),
        ("failed", 2, [], RetryPlan(0, new_generation=True)),
        ("failed", 0, [X], RetryPlan(0, new_generation=True)),
        ("start", 2, [A, B, C, D], RetryPlan(0, new_generation=True)),
        ("start", 2, [X], RetryPlan(0, new_generation=True)),
        (1, 2, [A, X], RetryPlan(1, new_generation=True)),
        (1, 2, [X, B], RetryPlan(0, new_generation=True)),
    ],
)
def test_a_retry_on_the_latest_version_keeps_what_both_versions_begin_with(
    from_: From, done: int, latest: Sequence[UUID], expected: RetryPlan
) -> None:
    assert plan(from_, done, latest) == expected
