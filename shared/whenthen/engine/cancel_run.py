"""Cancels a run when a person asks: at once if nobody works on it, else before its next step."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from whenthen.domain import limits
from whenthen.domain.errors import ConflictError, NotFoundError
from whenthen.domain.kinds import TERMINAL_RUN_STATUSES, RunStatus
from whenthen.domain.rules import log_lines
from whenthen.domain.rules.run_guards import Stop
from whenthen.engine.identify import Caller
from whenthen.engine.run_progress import begin
from whenthen.engine.step_settlements import released, stopped
from whenthen.store import audit, run_cancels, run_claims
from whenthen.store.outbox import OutboxEvent
from whenthen.store.run_settlements import settle

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The run's status now, and the events to publish once the transaction is committed."""

    status: RunStatus
    events: Sequence[OutboxEvent]


def cancel(
    connection: "Connection", caller: Caller, automation_id: UUID, run_id: UUID
) -> Cancelled:
    """End a PENDING run as FAILED `CANCELLED`; mark a RUNNING one, which ends before its next step.

    One that newer code defined stays PENDING, due now, for newer code to end. A second cancel of a
    run that has not ended yet changes nothing.

    Raises:
        NotFoundError: the automation has no such run.
        ConflictError: `INVALID_TRANSITION`, the run has ended.
    """
    marked = run_cancels.mark_cancelled(
        connection, automation_id, run_id, caller.user_id, log_lines.run_cancelled(caller.user_id)
    )
    if marked is None:
        raise NotFoundError
    status = marked.status
    if status in TERMINAL_RUN_STATUSES:
        details = {"reason": "invalid_transition", "from": status.value, "to": "FAILED"}
        raise ConflictError("INVALID_TRANSITION", f"a run that is {status} has ended", details)
    if not marked.is_new:
        return Cancelled(status, ())
    audit.add(
        connection,
        [
            audit.by_user(
                caller.workspace_id,
                caller.user_id,
                "run.cancelled",
                on=("automation_run", run_id),
            )
        ],
    )
    if status == RunStatus.RUNNING:
        return Cancelled(status, ())
    return _end_now(connection, run_id)


def _end_now(connection: "Connection", run_id: UUID) -> Cancelled:
    lease = uuid4()
    seized = run_cancels.seize(connection, [run_id], lease)
    (run,), _ = run_claims.read(connection, [run_id], seized)
    if run.definition_schema > limits.DEFINITION_SCHEMA:
        settle(connection, [released(run, lease)])
        return Cancelled(RunStatus.PENDING, ())
    cancelled = Stop("CANCELLED", "the run was cancelled")
    _, events = settle(connection, [stopped(begin(run, lease), cancelled)])
    return Cancelled(RunStatus.FAILED, events)
