"""New runs: one statement for any number of events and the automations that each one starts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.engine import Connection

from whenthen.domain import json_text
from whenthen.domain.rules.wake_up import pending_wake
from whenthen.store.prepared import prepared


@dataclass(frozen=True, slots=True)
class RunEvent:
    """What starts runs. `input` is the stored input: {type, payload, workspaceId, …}."""

    event_id: str
    workspace_id: UUID
    trigger_type: str
    record_id: str | None
    input: Mapping[str, Any]
    depth: int = 0
    root_run_id: UUID | None = None
    parent_run_id: UUID | None = None
    chain: Sequence[str] = ()
    # Called from outside: such runs count towards their automation's rates.
    by_webhook: bool = False
    # The user behind the event, where there is one.
    actor_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class NewRun:
    """One run to be: `event` counts from 0 in the list of events beside it."""

    id: UUID
    event: int
    automation_id: UUID
    version: int
    # A manual run: it ignores that its automation is paused.
    forced: bool = False
    # Seconds until it may be claimed.
    due_in_s: int = 0


@dataclass(frozen=True, slots=True)
class InsertedRun:
    id: UUID
    workspace_id: UUID


def insert_runs(
    connection: Connection, events: Sequence[RunEvent], runs: Sequence[NewRun]
) -> list[InsertedRun]:
    """Insert `runs` as PENDING, each with its line `run created`.

    A run whose (automation, event) already has one is left out of the answer and changes nothing,
    so a second delivery of an event is harmless. Rows are inserted by (automation, event), so two
    writers of the same events cannot deadlock.
    """
    if not runs:
        return []
    rows = _INSERT.rows(
        connection,
        {
            "events": json_text.dumps([_event_row(n, event) for n, event in enumerate(events)]),
            "runs": json_text.dumps([_run_row(run) for run in runs]),
        },
    )
    return [InsertedRun(row["id"], row["workspace_id"]) for row in rows]


# An event's payload travels once, however many automations it starts.
_INSERT = prepared(
    """
    with event as (
        select * from jsonb_to_recordset(cast(:events as jsonb)) as e(
            event integer, event_id text, workspace_id uuid, trigger_type text, record_id text,
            input jsonb, depth integer, root_run_id uuid, parent_run_id uuid, chain jsonb,
            actor_id uuid)
    ),
    run as (
        select * from jsonb_to_recordset(cast(:runs as jsonb)) as r(
            id uuid, event integer, automation_id uuid, version integer, forced boolean,
            due_in_s integer, wake_in_s float8)
    ),
    added as (
        insert into automation_runs (id, automation_id, version, workspace_id, event_id,
            trigger_type, record_id, status, input, depth, root_run_id, parent_run_id, chain,
            forced, actor_id, due_at, enqueue_after)
        select run.id, run.automation_id, run.version, event.workspace_id, event.event_id,
            event.trigger_type, event.record_id, 'PENDING', event.input, event.depth,
            coalesce(event.root_run_id, run.id), event.parent_run_id, event.chain, run.forced,
            event.actor_id,
            whenthen_now() + interval '1 second' * run.due_in_s,
            whenthen_now() + interval '1 second' * run.wake_in_s
        from run join event using (event)
        order by run.automation_id, event.event_id
        on conflict (automation_id, event_id) do nothing
        returning id, workspace_id, event_id
    ),
    line as (
        insert into automation_logs (run_id, level, message, data)
        select id, 'info', 'run created', jsonb_build_object('eventId', event_id) from added
    )
    select id, workspace_id from added order by id
    """
)


def _event_row(n: int, event: RunEvent) -> dict[str, Any]:
    return {
        "event": n,
        "event_id": event.event_id,
        "workspace_id": str(event.workspace_id),
        "trigger_type": event.trigger_type,
        "record_id": event.record_id,
        "input": event.input,
        "depth": event.depth,
        "root_run_id": str(event.root_run_id) if event.root_run_id else None,
        "parent_run_id": str(event.parent_run_id) if event.parent_run_id else None,
        "chain": list(event.chain),
        "actor_id": str(event.actor_id) if event.actor_id else None,
    }


def _run_row(run: NewRun) -> dict[str, Any]:
    return {
        "id": str(run.id),
        "event": run.event,
        "automation_id": str(run.automation_id),
        "version": run.version,
        "forced": run.forced,
        "due_in_s": run.due_in_s,
        "wake_in_s": pending_wake(run.due_in_s).wake_in_s,
    }
