"""Which status a run may take next, and which runs a person may retry."""

from collections.abc import Mapping
from typing import Final

from whenthen.domain.errors import ConflictError
from whenthen.domain.kinds import RunStatus

# DEAD_LETTER is reached through FAILED only, in the same transaction: both hops are logged.
RUN_TRANSITIONS: Final[Mapping[RunStatus, frozenset[RunStatus]]] = {
    # claimed; superseded or rate limited; cancelled
    RunStatus.PENDING: frozenset({RunStatus.RUNNING, RunStatus.SUCCEEDED, RunStatus.FAILED}),
    # done or skipped; fatal, or the first hop of a retry or death; continuation, DELAY, crash
    RunStatus.RUNNING: frozenset({RunStatus.SUCCEEDED, RunStatus.FAILED, RunStatus.PENDING}),
    RunStatus.SUCCEEDED: frozenset(),
    # automatic or manual retry; out of attempts or crashes
    RunStatus.FAILED: frozenset({RunStatus.PENDING, RunStatus.DEAD_LETTER}),
    # manual retry
    RunStatus.DEAD_LETTER: frozenset({RunStatus.PENDING}),
}

_NOT_RETRYABLE: Final[Mapping[RunStatus, str]] = {
    RunStatus.PENDING: "no_op",
    RunStatus.RUNNING: "no_op",
    RunStatus.SUCCEEDED: "not_retryable",
}


def may_change(from_: RunStatus, to: RunStatus) -> bool:
    """Return whether a run in `from_` may take the status `to`; a status never repeats itself.

    Source: docs/architecture.md, "A run's states".
    """
    return to in RUN_TRANSITIONS[from_]


def refuse_retry(status: RunStatus) -> None:
    """Return only if a person may retry a run in `status`: FAILED or DEAD_LETTER.

    Raises:
        ConflictError: `NOT_RETRYABLE` with details such as
            `{"reason": "no_op", "status": "PENDING"}`: `no_op` while the run is on its way
            anyway, `not_retryable` when it has succeeded.
    """
    reason = _NOT_RETRYABLE.get(status)
    if reason is None:
        return
    raise ConflictError(
        "NOT_RETRYABLE",
        f"a run that is {status} cannot be retried",
        {"reason": reason, "status": status.value},
    )
