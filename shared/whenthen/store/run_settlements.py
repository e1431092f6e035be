"""Moving claimed runs on: every change of a RUNNING run is one settlement, guarded by its lease."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic
from typing import Any
from uuid import UUID

from sqlalchemy.engine import Connection

from whenthen.domain import json_text, limits
from whenthen.domain.kinds import RunStatus, StepStatus
from whenthen.domain.rules.log_lines import LogLine
from whenthen.store import active_runs, outbox, schedule_occurrences
from whenthen.store.outbox import OutboxEvent
from whenthen.store.prepared import prepared


@dataclass(frozen=True, slots=True)
class StepResult:
    """What became of a tried step: SUCCEEDED with its output and ms, or FAILED with its error.

    WAITING: a DELAY, which is over when its run is due. `over_s` is the moment of the monotonic
    clock at which it came to that; without one it is now.
    """

    action_id: UUID
    index: int
    type: str
    status: StepStatus
    attempts: int
    output: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    ms: int | None = None
    over_s: float | None = None


@dataclass(frozen=True, slots=True)
class NextStep:
    """The step that is STARTED, with attempt 1, in the transaction that finished the one before."""

    action_id: UUID
    index: int
    type: str


@dataclass(frozen=True, slots=True)
class Settlement:
    """One move of one run that the caller holds under `lease`."""

    run_id: UUID
    workspace_id: UUID
    lease: UUID
    # RUNNING: goes on. PENDING: given back. Else: the end.
    status: RunStatus
    next_action: int
    # The steps that were tried in this transaction, in order: all but the last have SUCCEEDED.
    steps: Sequence[StepResult] = ()
    next_step: NextStep | None = None
    # The action whose attempt was counted by the claim but never made: taken back.
    untried_action_id: UUID | None = None
    # PENDING: due in so many seconds, and the row's next wake-up.
    due_in_s: float | None = None
    # The same to the microsecond, where an instant was asked for.
    due_at: datetime | None = None
    # Seconds until the row wakes itself; null at an end without a notice to follow.
    wake_in_s: float | None = None
    counts_retry: bool = False
    # An expired lease: one more crash in a row.
    counts_crash: bool = False
    # The number of the death that this end is, counted from 1.
    death: int | None = None
    output: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    lines: Sequence[LogLine] = ()
    events: Sequence[OutboxEvent] = field(default=())
    # An end: the schedule that has no active run any more, where its runs may not overlap.
    freed_schedule_id: UUID | None = None
    # An end: why the occurrence that the run was made for counts as skipped.
    skipped_occurrence: str | None = None


def settle(
    connection: Connection, settlements: Sequence[Settlement]
) -> tuple[frozenset[UUID], list[OutboxEvent]]:
    """Carry out `settlements` in one statement; return the runs moved and their events.

    A run that is no longer RUNNING under the settlement's lease is left alone, with its steps, log
    and outbox: nothing of its settlement is written. A SUCCEEDED step row is never written again.
    """
    if not settlements:
        return frozenset(), []
    now_s = monotonic()
    moves = json_text.dumps([_row(move, now_s) for move in settlements])
    rows = _SETTLE.rows(connection, {"moves": moves, "ids": [move.run_id for move in settlements]})
    moved = frozenset(row["run_id"] for row in rows if row["event_id"] is None)
    _tell_schedules(connection, [move for move in settlements if move.run_id in moved])
    instants = {row["event_id"]: row["occurred_at"] for row in rows if row["event_id"] is not None}
    events = [event for move in settlements for event in move.events]
    return moved, outbox.with_instants(events, instants)


# Everything joins `moved`, so whatever a settlement holds is written with the run's move or not at
# all. An end that follows a death whose notice is not out yet stays awake for that notice. The
# steps' own rows come in as JSON columns and are opened up here. A step behind the first one has
# no row that tells when it was started. A line whose `dueAt` is null gets the instant that the
# database has just decided on. An end leaves no step waiting.
_SETTLE = prepared(
    f"""
    with move as materialized (
        select * from jsonb_to_recordset(cast(:moves as jsonb)) as m(
            run_id uuid, lease uuid, status text, next_action integer, steps jsonb, next_step jsonb,
            untried_action_id uuid, due_in_s float8, due_at timestamptz, wake_in_s float8,
            counts_retry boolean, counts_crash boolean, death integer, terminal boolean,
            output jsonb, error jsonb, lines jsonb, events jsonb)
    ),
    moved as (
        update automation_runs r
        set status = m.status, next_action = m.next_action,
            retry_count = r.retry_count + cast(m.counts_retry as integer),
            crash_count = case when m.steps @> '[{{"status": "SUCCEEDED"}}]' then 0
                else r.crash_count + cast(m.counts_crash as integer) end,
            deaths = coalesce(m.death, r.deaths),
            due_at = coalesce(m.due_at, whenthen_now() + interval '1 second' * m.due_in_s,
                r.due_at),
            enqueue_after = case when m.status = 'RUNNING' then r.enqueue_after
                when m.terminal and m.death is null and r.notified_death < r.deaths
                    then whenthen_now() + interval '{limits.NOTICE_WAKE_S} seconds'
                else whenthen_now() + interval '1 second' * m.wake_in_s end,
            lease_token = case when m.status = 'RUNNING' then r.lease_token end,
            lease_expires_at = case when m.status = 'RUNNING' then r.lease_expires_at end,
            finished_at = case when m.terminal then whenthen_now() end,
            output = m.output, error = m.error
        from move m
        where r.id = any(cast(:ids as uuid[])) and r.id = m.run_id
            and (r.status = 'RUNNING') is true and r.lease_token = m.lease
        returning r.id, r.generation, r.due_at, m.terminal, m.steps, m.next_step,
            m.untried_action_id, m.lines, m.events
    ),
    tried as (
        insert into automation_run_steps as s (run_id, generation, action_id, index, type, status,
            attempts, output, error, ms, resume_at, started_at, finished_at)
        select moved.id, moved.generation, t.action_id, t.index, t.type, t.status, t.attempts,
            t.output, t.error, t.ms, case when t.status = 'WAITING' then moved.due_at end,
            ended.at - interval '1 millisecond' * coalesce(t.ms, 0),
            case when t.status <> 'WAITING' then ended.at end
        from moved, jsonb_to_recordset(moved.steps) as t(action_id uuid, index integer, type text,
            status text, attempts integer, output jsonb, error jsonb, ms integer, over_ms integer),
            lateral (select whenthen_now() - interval '1 millisecond' * t.over_ms as at) ended
        on conflict (run_id, generation, action_id) do update
            set status = excluded.status, attempts = excluded.attempts, output = excluded.output,
                error = excluded.error, ms = excluded.ms, finished_at = excluded.finished_at,
                resume_at = coalesce(excluded.resume_at, s.resume_at),
                started_at = case when s.status = 'FAILED' then excluded.started_at
                    else s.started_at end
            where s.status <> 'SUCCEEDED'
    ),
    started as (
        insert into automation_run_steps (run_id, generation, action_id, index, type, status,
            attempts)
        select moved.id, moved.generation, n.action_id, n.index, n.type, 'STARTED', 1
        from moved, jsonb_to_record(moved.next_step) as n(action_id uuid, index integer, type text)
        where moved.next_step is not null
        on conflict (run_id, generation, action_id) do update
            set status = 'STARTED', attempts = automation_run_steps.attempts + 1, error = null,
                started_at = whenthen_now(), finished_at = null
            where automation_run_steps.status not in ('SUCCEEDED', 'WAITING')
    ),
    taken_back as (
        update automation_run_steps s
        set attempts = s.attempts - cast(s.status = 'STARTED' as integer), status = 'FAILED',
            finished_at = case when s.status = 'WAITING' then whenthen_now() end
        from moved
        where s.run_id = moved.id and s.generation = moved.generation
            and s.action_id = moved.untried_action_id
            and (s.status = 'STARTED' and s.attempts > 1 or s.status = 'WAITING' and moved.terminal)
    ),
    removed as (
        delete from automation_run_steps s using moved
        where s.run_id = moved.id and s.generation = moved.generation
            and s.action_id = moved.untried_action_id and s.status = 'STARTED' and s.attempts <= 1
    ),
    line as (
        insert into automation_logs (run_id, level, message, data)
        select moved.id, l.line ->> 'level', l.line ->> 'message',
            case when l.line -> 'data' -> 'dueAt' = 'null'
                then jsonb_set(l.line -> 'data', '{{dueAt}}', to_jsonb(to_char(
                    moved.due_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24\\:MI\\:SS.MS"Z"')))
                else l.line -> 'data' end
        from moved, jsonb_array_elements(moved.lines) with ordinality as l(line, n)
        order by moved.id, l.n
    ),
    event as (
        {outbox.INSERT_SELECT}
        from moved, jsonb_to_recordset(moved.events) as e({outbox.ROW_TYPE})
        returning id, occurred_at
    )
    select id as run_id, cast(null as uuid) as event_id, cast(null as timestamptz) as occurred_at
    from moved
    union all
    select null, id, occurred_at from event
    """  # noqa: S608  # only constants of the store
)


def _tell_schedules(connection: Connection, moved: Sequence[Settlement]) -> None:
    skips = {move.run_id: move.skipped_occurrence for move in moved if move.skipped_occurrence}
    schedule_occurrences.skip(connection, skips)
    freed = {move.run_id: move.freed_schedule_id for move in moved if move.freed_schedule_id}
    active_runs.free(connection, freed)


def _row(move: Settlement, now_s: float) -> dict[str, Any]:
    return {
        "run_id": str(move.run_id),
        "lease": str(move.lease),
        "status": move.status.value,
        "next_action": move.next_action,
        "steps": [_step_row(step, now_s) for step in move.steps],
        "next_step": _next_row(move.next_step) if move.next_step else None,
        "untried_action_id": str(move.untried_action_id) if move.untried_action_id else None,
        "due_in_s": move.due_in_s,
        "due_at": move.due_at.isoformat() if move.due_at else None,
        "wake_in_s": move.wake_in_s,
        "counts_retry": move.counts_retry,
        "counts_crash": move.counts_crash,
        "death": move.death,
        "terminal": move.status not in {RunStatus.RUNNING, RunStatus.PENDING},
        "output": move.output,
        "error": move.error,
        "lines": [
            {"level": line.level, "message": line.message, "data": line.data} for line in move.lines
        ],
        "events": [outbox.as_row(event) for event in move.events],
    }


def _step_row(step: StepResult, now_s: float) -> dict[str, Any]:
    return {
        "action_id": str(step.action_id),
        "index": step.index,
        "type": step.type,
        "status": step.status.value,
        "attempts": step.attempts,
        "output": step.output,
        "error": step.error,
        "ms": step.ms,
        "over_ms": 0 if step.over_s is None else round((now_s - step.over_s) * 1000),
    }


def _next_row(step: NextStep) -> dict[str, Any]:
    return {"action_id": str(step.action_id), "index": step.index, "type": step.type}
