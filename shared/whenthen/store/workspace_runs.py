"""The runs of a whole workspace as people search them: one page of a filtered list."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.domain.kinds import RunStatus
from whenthen.store import paging
from whenthen.store.paging import Page, PageRequest


@dataclass(frozen=True, slots=True)
class RunsWanted:
    """Which runs of a workspace to show; None does not narrow.

    `created_from` is the first instant that counts, `created_to` the first that no longer does.
    """

    workspace_id: UUID
    status: RunStatus | None = None
    automation_id: UUID | None = None
    record_id: str | None = None
    root_run_id: UUID | None = None
    created_from: datetime | None = None
    created_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class WorkspaceRun:
    """One line of the list, with the name that the automation has now."""

    id: UUID
    status: str
    trigger_type: str
    started_at: datetime | None
    finished_at: datetime | None
    retry_count: int
    error: Mapping[str, Any] | None
    created_at: datetime
    automation_id: UUID
    automation_name: str
    record_id: str | None
    root_run_id: UUID
    parent_run_id: UUID | None


def page(connection: Connection, wanted: RunsWanted, request: PageRequest) -> Page[WorkspaceRun]:
    """Return a page of the runs that `wanted` means.

    Each filter is served by an index of its own, so that what matches decides the cost and not
    how many runs the workspace keeps.
    """
    values, conditions = _filters(wanted)
    sql = f"{_RUNS} {conditions} {paging.rest_sql(request, 'r')}"
    rows = connection.execute(text(sql), values | paging.parameters(request)).mappings()
    return paging.cut([WorkspaceRun(**row) for row in rows], request)


_RUNS = """
    select r.id, r.status, r.trigger_type, r.started_at, r.finished_at, r.retry_count, r.error,
        r.created_at, r.automation_id, a.name as automation_name, r.record_id, r.root_run_id,
        r.parent_run_id
    from automation_runs r join automations a on a.id = r.automation_id
    where r.workspace_id = :workspace_id
"""
# An event's record id is text of any length from outside, which no index could hold whole.
_RECORD = "left(r.record_id, 100) = left(cast(:record_id as text), 100)"
# The root names itself: without that half the index would hold every run that started a chain.
_CHAINED = "r.root_run_id = cast(:root_run_id as uuid) and r.parent_run_id is not null"
_CONDITIONS = {
    "status": "r.status = :status",
    "automation_id": "r.automation_id = :automation_id",
    "record_id": f"{_RECORD} and r.record_id = cast(:record_id as text)",
    "root_run_id": f"(r.id = cast(:root_run_id as uuid) or ({_CHAINED}))",
    "created_from": "r.created_at >= :created_from",
    "created_to": "r.created_at < :created_to",
}


def _filters(wanted: RunsWanted) -> tuple[dict[str, Any], str]:
    chosen = {name: value for name in _CONDITIONS if (value := getattr(wanted, name)) is not None}
    sql = "".join(f" and {_CONDITIONS[name]}" for name in chosen)
    return {"workspace_id": wanted.workspace_id, **chosen}, sql
