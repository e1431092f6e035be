"""A run that a person starts by hand."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import UUID

from whenthen.aws.run_queue import QueuedRun
from whenthen.domain import json_text, limits
from whenthen.domain.errors import TooLargeError
from whenthen.domain.kinds import MANUAL_RUN
from whenthen.domain.rules.trigger_event import stored_manual_input
from whenthen.domain.schemas.events import event_id
from whenthen.engine.edit_definition import locked
from whenthen.engine.identify import Caller
from whenthen.engine.send import send_runs
from whenthen.store.new_id import new_id
from whenthen.store.run_inserts import NewRun, RunEvent, insert_runs

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from whenthen.engine.context import Context


def start(
    connection: "Connection",
    caller: Caller,
    automation_id: UUID,
    payload: Mapping[str, Any],
    *,
    sanitized: bool,
) -> QueuedRun:
    """Insert a PENDING run of the present version, whatever the status short of ARCHIVED.

    `sanitized`: characters of the input that cannot be stored were replaced.

    Raises:
        TooLargeError: the input is above 64 KB of JSON.
        ConflictError: `ARCHIVED`.

    """
    if len(json_text.dumps(payload).encode()) > limits.PAYLOAD_MAX_BYTES:
        raise TooLargeError("TOO_LARGE", f"input has at most {limits.PAYLOAD_MAX_BYTES} bytes")
    # The lock keeps the version that the run is pinned to, and an archiving out.
    head = locked(connection, caller, automation_id)
    record_id, cause = payload.get("recordId"), caller.cause
    event = RunEvent(
        event_id=event_id("manual", head.workspace_id, str(new_id())),
        workspace_id=head.workspace_id,
        trigger_type=MANUAL_RUN,
        record_id=record_id if isinstance(record_id, str) else None,
        input=stored_manual_input(payload, head.workspace_id, cause, sanitized=sanitized),
        actor_id=caller.user_id,
        depth=cause.depth if cause else 0,
        root_run_id=cause.root_run_id if cause else None,
        parent_run_id=cause.run_id if cause else None,
        chain=[str(link) for link in cause.chain] if cause else [],
    )
    run = NewRun(new_id(), 0, head.id, head.version, forced=True)
    insert_runs(connection, [event], [run])
    return QueuedRun(run.id, head.workspace_id)


def announce(context: "Context", run: QueuedRun) -> None:
    """Tell the queue of a committed run; if that fails, the row wakes itself within two minutes."""
    send_runs(context, [run])
