"""Automations and their versions: reads for people, and the locked write of a definition."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.domain import json_text, limits
from whenthen.domain.kinds import AutomationStatus
from whenthen.store import paging
from whenthen.store.paging import Page, PageRequest


@dataclass(frozen=True, slots=True)
class AutomationHead:
    """An automation's own row, without its definition."""

    id: UUID
    workspace_id: UUID
    name: str
    description: str | None
    database_id: UUID | None
    status: AutomationStatus
    version: int


@dataclass(frozen=True, slots=True)
class AutomationSummary:
    """One line of a list; `latest_run` is null or the lateral row of `_LATEST_RUN`."""

    id: UUID
    name: str
    description: str | None
    database_id: UUID | None
    status: str
    trigger_types: Sequence[str]
    has_condition: bool
    action_types: Sequence[str]
    created_at: datetime
    updated_at: datetime
    created_by: UUID | None
    latest_run: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class AutomationDetail:
    """An automation with its present version."""

    id: UUID
    workspace_id: UUID
    name: str
    description: str | None
    database_id: UUID | None
    status: str
    version: int
    triggers: Sequence[Mapping[str, Any]]
    condition: Mapping[str, Any] | None
    actions: Sequence[Mapping[str, Any]]
    created_at: datetime
    updated_at: datetime
    created_by: UUID | None
    latest_run: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class VersionBody:
    """The parts of a definition that its version holds and its row does not.

    `triggers` is `[{"id", "type", "config"}]`, `actions`
    `[{"id", "type", "config", "retries", "timeoutMs"}]`.
    """

    triggers: Sequence[Mapping[str, Any]]
    condition: Mapping[str, Any] | None
    actions: Sequence[Mapping[str, Any]]


_LATEST_RUN = """
    left join lateral (
        select jsonb_build_object('id', r.id, 'status', r.status, 'retryCount', r.retry_count,
            'error', r.error, 'createdAt', extract(epoch from r.created_at),
            'finishedAt', extract(epoch from r.finished_at)) as latest_run
        from automation_runs r
        where r.automation_id = a.id
        order by r.created_at desc, r.id desc
        limit 1
    ) latest on true
"""
_VERSION = """
    join automation_versions v on v.automation_id = a.id and v.version = a.version
"""


def detail(connection: Connection, automation_id: UUID) -> AutomationDetail | None:
    """Return one automation, whatever its workspace: the caller checks that against its own."""
    row = connection.execute(_DETAIL, {"id": automation_id}).mappings().one_or_none()
    return AutomationDetail(**row) if row else None


_DETAIL = text(
    f"""
    select a.id, a.workspace_id, a.name, a.description, a.database_id, a.status, a.version,
        v.triggers, v.condition, v.actions, a.created_at, a.updated_at, a.created_by,
        latest.latest_run
    from automations a {_VERSION} {_LATEST_RUN}
    where a.id = cast(:id as uuid)
    """  # noqa: S608  # only constants of this module
)


def page(
    connection: Connection,
    workspace_id: UUID,
    status: AutomationStatus | None,
    only_databases: frozenset[UUID] | None,
    request: PageRequest,
) -> Page[AutomationSummary]:
    """Return a page of a workspace's automations, each with its latest run, in one statement.

    Without a status all but the archived ones; with `only_databases` those scoped to one of them.
    """
    values: dict[str, Any] = {"workspace_id": workspace_id, **paging.parameters(request)}
    conditions = "a.status <> 'ARCHIVED'"
    if status is not None:
        conditions, values["status"] = "a.status = :status", status.value
    if only_databases is not None:
        conditions += " and a.database_id = any(cast(:only_databases as uuid[]))"
        values["only_databases"] = list(only_databases)
    sql = f"{_SUMMARY} and {conditions} {paging.rest_sql(request, 'a')}"
    rows = [AutomationSummary(**row) for row in connection.execute(text(sql), values).mappings()]
    return paging.cut(rows, request)


_SUMMARY = f"""
    select a.id, a.name, a.description, a.database_id, a.status,
        jsonb_path_query_array(v.triggers, '$[*].type') as trigger_types,
        v.condition is not null as has_condition,
        jsonb_path_query_array(v.actions, '$[*].type') as action_types,
        a.created_at, a.updated_at, a.created_by, latest.latest_run
    from automations a {_VERSION} {_LATEST_RUN}
    where a.workspace_id = :workspace_id
"""  # noqa: S608  # only constants of this module


def lock(connection: Connection, automation_id: UUID) -> AutomationHead | None:
    """Return an automation's row, locked until commit: the first statement of every write to it.

    NO KEY, since inserts that refer to the row (versions, triggers) need not wait.
    """
    row = connection.execute(_LOCK, {"id": automation_id}).mappings().one_or_none()
    return AutomationHead(**{**row, "status": AutomationStatus(row["status"])}) if row else None


_LOCK = text(
    """
    select id, workspace_id, name, description, database_id, status, version
    from automations where id = cast(:id as uuid)
    for no key update
    """
)


def version_body(connection: Connection, automation_id: UUID, version: int) -> VersionBody:
    """Return the definition of an automation that the caller has locked.

    Not part of the locking statement: whoever waited for the lock would read the version from the
    snapshot that the wait began with.
    """
    row = connection.execute(_VERSION_BODY, {"id": automation_id, "version": version})
    return VersionBody(**row.mappings().one())


_VERSION_BODY = text(
    """
    select triggers, condition, actions from automation_versions
    where automation_id = :id and version = :version
    """
)


def insert(
    connection: Connection, head: AutomationHead, body: VersionBody, created_by: UUID
) -> None:
    """Insert an automation as DRAFT together with its first version."""
    connection.execute(_INSERT, _values(head, body, created_by))


_SNAPSHOT = """
    insert into automation_versions (automation_id, version, schema, name, database_id, triggers,
        condition, actions, created_by)
    select id, version, cast(:schema as integer), name, database_id, cast(:triggers as jsonb),
        cast(cast(:condition as text) as jsonb), cast(:actions as jsonb), cast(:user_id as uuid)
    from written
"""
_INSERT = text(
    f"""
    with written as (
        insert into automations (id, workspace_id, name, description, database_id, created_by)
        values (:id, :workspace_id, :name, cast(:description as text),
            cast(:database_id as uuid), :user_id)
        returning id, version, name, database_id
    )
    {_SNAPSHOT}
    """  # noqa: S608  # only constants of this module
)


def write_version(
    connection: Connection,
    head: AutomationHead,
    body: VersionBody,
    user_id: UUID,
    *,
    rearmed: bool,
) -> bool:
    """Write a locked automation's new state as its next version; return whether it has schedules.

    `rearmed`: triggers or database changed, so that events from before this instant no longer
    match an ACTIVE automation.
    """
    written = connection.execute(_WRITE, {**_values(head, body, user_id), "rearmed": rearmed})
    return bool(written.scalar_one())


_WRITE = text(
    f"""
    with written as (
        update automations
        set name = :name, description = cast(:description as text),
            database_id = cast(:database_id as uuid), version = version + 1,
            updated_at = whenthen_now(),
            active_since = case when cast(:rearmed as boolean) and status = 'ACTIVE'
                then whenthen_now() else active_since end
        where id = :id
        returning id, version, name, database_id
    )
    {_SNAPSHOT}
    returning exists (select 1 from schedules s where s.automation_id = :id)
    """  # noqa: S608  # only constants of this module
)


def set_status(connection: Connection, automation_id: UUID, status: AutomationStatus) -> bool:
    """Write the status of a locked automation; return whether it has, or may have, schedules.

    An activation begins at this instant.
    """
    written = connection.execute(_SET_STATUS, {"id": automation_id, "status": status.value})
    return bool(written.scalar_one())


_SET_STATUS = text(
    """
    update automations
    set status = cast(:status as text), updated_at = whenthen_now(),
        active_since = case when cast(:status as text) = 'ACTIVE'
            then whenthen_now() else active_since end
    where id = :id
    returning exists (select 1 from schedules s where s.automation_id = :id) or exists (
        select 1 from automation_triggers t where t.automation_id = :id and t.type = 'SCHEDULE')
    """
)


def _values(head: AutomationHead, body: VersionBody, user_id: UUID) -> dict[str, Any]:
    return {
        "id": head.id,
        "workspace_id": head.workspace_id,
        "name": head.name,
        "description": head.description,
        "database_id": head.database_id,
        "schema": limits.DEFINITION_SCHEMA,
        "triggers": json_text.dumps(body.triggers),
        # SQL NULL for "no condition", never a JSON null.
        "condition": None if body.condition is None else json_text.dumps(body.condition),
        "actions": json_text.dumps(body.actions),
        "user_id": user_id,
    }
