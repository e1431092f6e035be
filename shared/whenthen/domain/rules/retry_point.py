"""Where a run that a person retries begins again, and which finished steps it keeps.

Source: docs/architecture.md, "Manual retry".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from whenthen.domain.errors import InvalidError

From = Literal["failed", "start"] | int


@dataclass(frozen=True, slots=True)
class RetryPlan:
    """`point`: the index of the first action to be tried, counted from 0.

    With a new generation the finished steps before the point are carried over and the others stay
    as history; without one, progress goes on where it stopped.
    """

    point: int
    new_generation: bool


def plan_retry(
    from_: From,
    pinned: Sequence[UUID],
    latest: Sequence[UUID] | None,
    finished: frozenset[UUID],
) -> RetryPlan:
    """Return where to begin a run whose version has the actions `pinned`, of which `finished` ran.

    `latest` is given when the run moves to another version: then what is finished counts only as
    far as both versions begin with the same actions; if they differ before the point, the run
    begins at its start.

    Raises:
        InvalidError: RETRY_POINT_INVALID, the point lies behind the failed step.
    """
    failed = _first_unfinished(pinned, finished)
    point = _point(from_, failed)
    if latest is None:
        return RetryPlan(point, new_generation=from_ != "failed")
    if pinned[:point] != latest[:point]:
        return RetryPlan(0, new_generation=True)
    same_step = from_ == "failed" and pinned[: point + 1] == latest[: point + 1]
    return RetryPlan(point, new_generation=not same_step)


def _point(from_: From, failed: int) -> int:
    if from_ == "failed":
        return failed
    if from_ == "start":
        return 0
    if from_ > failed:
        raise InvalidError(
            "RETRY_POINT_INVALID",
            f"the run can begin again at its step {failed} or before",
            [{"path": "from", "message": f"must be at most {failed}", "type": "retry_point"}],
        )
    return from_


def _first_unfinished(actions: Sequence[UUID], finished: frozenset[UUID]) -> int:
    return next(
        (index for index, action in enumerate(actions) if action not in finished), len(actions)
    )
