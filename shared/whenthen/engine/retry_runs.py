"""Brings ended runs back when a person asks: one of them, or all that match a filter."""

from typing import TYPE_CHECKING
from uuid import UUID

from whenthen.aws.run_queue import QueuedRun
from whenthen.domain.errors import ConflictError, NotFoundError
from whenthen.domain.kinds import AutomationStatus, RunStatus
from whenthen.domain.rules import log_lines
from whenthen.domain.rules.retry_point import From, plan_retry
from whenthen.domain.rules.run_status import refuse_retry
from whenthen.engine.identify import Caller
from whenthen.store import audit, run_retries
from whenthen.store.run_retries import RunFilter

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

# A redrive must not drown the runs that are new: so many a second, so many at once.
REDRIVES_PER_SECOND = 50
REDRIVES_MAX = 10_000


def retry(  # noqa: PLR0913  # who, what, and the two choices of the body
    connection: "Connection",
    caller: Caller,
    automation_id: UUID,
    run_id: UUID,
    *,
    from_: From,
    latest: bool,
) -> QueuedRun:
    """Make a FAILED or DEAD_LETTER run PENDING again and return its message, for after the commit.

    Of several at once one succeeds and the others find the run on its way.

    Raises:
        NotFoundError: the automation has no such run.
        ConflictError: `NOT_RETRYABLE`, or `ARCHIVED`.
        InvalidError: `RETRY_POINT_INVALID`.
    """
    run = run_retries.lock_run(connection, automation_id, run_id)
    if run is None:
        raise NotFoundError
    if run.automation_status == AutomationStatus.ARCHIVED:
        raise ConflictError("ARCHIVED", "the automation is archived")
    refuse_retry(run.status)
    plan = plan_retry(from_, run.pinned, run.latest if latest else None, run.finished)
    word = "latest" if latest else "original"
    version = run.latest_version if latest else run.version
    line = log_lines.run_retried(caller.user_id, from_, word)
    if not run_retries.bring_back(connection, run, version, plan, line):
        refuse_retry(RunStatus.PENDING)
    data = {"from": from_, "version": word}
    audit.add(
        connection,
        [
            audit.by_user(
                run.workspace_id,
                caller.user_id,
                "run.retried",
                on=("automation_run", run.id),
                data=data,
            )
        ],
    )
    return QueuedRun(run.id, run.workspace_id)


def redrivable(connection: "Connection", wanted: RunFilter) -> int:
    """Return how many runs `redrive` would bring back."""
    return run_retries.count_redrivable(connection, wanted, REDRIVES_MAX)


def redrive(connection: "Connection", caller: Caller, wanted: RunFilter) -> int:
    """Bring back every FAILED and DEAD_LETTER run that matches, paced, and return how many."""
    count = run_retries.redrive(
        connection,
        wanted,
        log_lines.run_retried(caller.user_id, "failed", "original"),
        most=REDRIVES_MAX,
        per_second=REDRIVES_PER_SECOND,
    )
    audit.add(
        connection,
        [
            audit.by_user(
                wanted.workspace_id,
                caller.user_id,
                "runs.redriven",
                on=("workspace", wanted.workspace_id),
                data={"count": count},
            )
        ],
    )
    return count
