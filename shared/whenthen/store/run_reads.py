"""Runs as people read them: one page of a list, or one run with its steps and its log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.domain import limits
from whenthen.domain.kinds import RunStatus
from whenthen.store import paging
from whenthen.store.paging import Page, PageRequest


@dataclass(frozen=True, slots=True)
class RunSummary:
    id: UUID
    status: str
    trigger_type: str
    started_at: datetime | None
    finished_at: datetime | None
    retry_count: int
    error: Mapping[str, Any] | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class RunDetail:
    """One run; instants inside `steps` and `logs` are seconds since 1970.

    `logs` holds the newest `RUN_LOGS_SHOWN_MAX + 1` lines, oldest first.
    """

    id: UUID
    status: str
    trigger_type: str
    started_at: datetime | None
    finished_at: datetime | None
    retry_count: int
    error: Mapping[str, Any] | None
    created_at: datetime
    automation_id: UUID
    version: int
    depth: int
    root_run_id: UUID
    parent_run_id: UUID | None
    event_id: str
    due_at: datetime
    generation: int
    input: Mapping[str, Any]
    output: Mapping[str, Any] | None
    steps: Sequence[Mapping[str, Any]]
    logs: Sequence[Mapping[str, Any]]


_SUMMARY_COLUMNS = """
    r.id, r.status, r.trigger_type, r.started_at, r.finished_at, r.retry_count, r.error,
    r.created_at
"""


def page(
    connection: Connection, automation_id: UUID, status: RunStatus | None, request: PageRequest
) -> Page[RunSummary]:
    """Return a page of an automation's runs."""
    values: dict[str, Any] = {"automation_id": automation_id, **paging.parameters(request)}
    condition = ""
    if status is not None:
        condition, values["status"] = "and r.status = :status", status.value
    sql = (
        f"select {_SUMMARY_COLUMNS} from automation_runs r"  # noqa: S608  # constants and names
        f" where r.automation_id = :automation_id {condition} {paging.rest_sql(request, 'r')}"
    )
    rows = [RunSummary(**row) for row in connection.execute(text(sql), values).mappings()]
    return paging.cut(rows, request)


def detail(connection: Connection, automation_id: UUID, run_id: UUID) -> RunDetail | None:
    """Return a run of this automation; None when there is none or it is another's.

    One statement, so that status, steps and log are of one instant.
    """
    values = {
        "automation_id": automation_id,
        "id": run_id,
        "lines": limits.RUN_LOGS_SHOWN_MAX + 1,
    }
    row = connection.execute(_DETAIL, values).mappings().one_or_none()
    return RunDetail(**row) if row else None


_DETAIL = text(
    f"""
    select {_SUMMARY_COLUMNS}, r.automation_id, r.version, r.depth, r.root_run_id,
        r.parent_run_id, r.event_id, r.due_at, r.generation, r.input, r.output,
        steps.steps, logs.logs
    from automation_runs r
    cross join lateral (
        select coalesce(jsonb_agg(jsonb_build_object('index', s.index, 'actionId', s.action_id,
            'type', s.type, 'status', s.status, 'attempts', s.attempts, 'output', s.output,
            'error', s.error, 'startedAt', extract(epoch from s.started_at),
            'finishedAt', extract(epoch from s.finished_at))
            || case when s.type = 'DELAY' then jsonb_build_object(
                'resumeAt', extract(epoch from s.resume_at)) else '{{}}' end
            order by s.index), '[]') as steps
        from automation_run_steps s where s.run_id = r.id and s.generation = r.generation
    ) steps
    cross join lateral (
        select coalesce(jsonb_agg(jsonb_build_object('level', l.level, 'message', l.message,
            'data', l.data, 'createdAt', extract(epoch from l.created_at)) order by l.seq), '[]')
            as logs
        from (select * from automation_logs where run_id = r.id
              order by seq desc limit cast(:lines as integer)) l
    ) logs
    where r.id = cast(:id as uuid) and r.automation_id = :automation_id
    """  # noqa: S608  # only constants of this module
)
