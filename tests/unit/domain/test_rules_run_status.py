"""The state machine of runs, over the whole product of statuses."""

import pytest

from whenthen.domain.errors import ConflictError
from whenthen.domain.kinds import RunStatus
from whenthen.domain.rules.run_status import may_change, refuse_retry

PENDING, RUNNING, SUCCEEDED, FAILED, DEAD_LETTER = RunStatus
LEGAL = {
    (PENDING, RUNNING): "claimed",
    (PENDING, SUCCEEDED): "superseded or rate limited",
    (PENDING, FAILED): "cancelled",
    (RUNNING, SUCCEEDED): "all steps done, or skipped",
    (RUNNING, FAILED): "fatal error, or the first hop of a retry or a death",
    (RUNNING, PENDING): "continuation, DELAY, crash",
    (FAILED, PENDING): "retry",
    (FAILED, DEAD_LETTER): "last attempt, or last crash",
    (DEAD_LETTER, PENDING): "manual retry",
}


@pytest.mark.parametrize("to", RunStatus)
@pytest.mark.parametrize("from_", RunStatus)
def test_a_run_may_change_exactly_as_the_table_says(from_: RunStatus, to: RunStatus) -> None:
    assert may_change(from_, to) == ((from_, to) in LEGAL)


def test_no_run_dies_without_failing_first() -> None:
    assert [from_ for from_ in RunStatus if may_change(from_, DEAD_LETTER)] == [FAILED]


def test_what_has_not_ended_can_always_go_on() -> None:
    stuck = [status for status in RunStatus if not any(may_change(status, to) for to in RunStatus)]
    assert stuck == [SUCCEEDED]


@pytest.mark.parametrize("status", [FAILED, DEAD_LETTER])
def test_a_failed_or_dead_run_may_be_retried(status: RunStatus) -> None:
    refuse_retry(status)


@pytest.mark.parametrize(
    ("status", "reason"),
    [(PENDING, "no_op"), (RUNNING, "no_op"), (SUCCEEDED, "not_retryable")],
)
def test_any_other_run_is_not_retryable(status: RunStatus, reason: str) -> None:
    with pytest.raises(ConflictError) as caught:
        refuse_retry(status)
    assert caught.value.code == "NOT_RETRYABLE"
    assert caught.value.details == {"reason": reason, "status": status.value}
