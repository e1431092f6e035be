"""The JSON of every object that the API shows; each key is always present.

Source: docs/api.md, "Exact JSON".
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from http_api.shown_once import ShownOnce
from whenthen.domain import instants, limits
from whenthen.domain.kinds import RunStatus
from whenthen.domain.rules.trigger_event import build_trigger_event
from whenthen.engine.edit_definition import Edited
from whenthen.engine.webhook_secrets import WebhookSecret
from whenthen.store.automations import AutomationDetail, AutomationSummary
from whenthen.store.data_lists import NotificationRow
from whenthen.store.database_rows import DatabaseRow
from whenthen.store.pages import PageRow
from whenthen.store.records import RecordRow
from whenthen.store.run_reads import RunDetail, RunSummary
from whenthen.store.tenants import User
from whenthen.store.version_reads import VersionRow, VersionSnapshot
from whenthen.store.workspace_runs import WorkspaceRun

JsonObject = dict[str, Any]


def automation_summary(row: AutomationSummary) -> JsonObject:
    return {
        "id": str(row.id),
        "name": row.name,
        "description": row.description,
        "databaseId": _id(row.database_id),
        "status": row.status,
        "triggers": row.trigger_types,
        "hasCondition": row.has_condition,
        "actions": row.action_types,
        "createdAt": instants.to_text(row.created_at),
        "updatedAt": instants.to_text(row.updated_at),
        "createdById": _id(row.created_by),
        "latestRun": _latest_run(row.latest_run),
    }


def automation_detail(row: AutomationDetail) -> JsonObject:
    return {
        "id": str(row.id),
        "workspaceId": str(row.workspace_id),
        "name": row.name,
        "description": row.description,
        "databaseId": _id(row.database_id),
        "status": row.status,
        "version": row.version,
        "triggers": [{"type": one["type"], "config": one["config"]} for one in row.triggers],
        "hasCondition": row.condition is not None,
        "condition": row.condition,
        "actions": [_action(one) for one in row.actions],
        "createdAt": instants.to_text(row.created_at),
        "updatedAt": instants.to_text(row.updated_at),
        "createdById": _id(row.created_by),
        "latestRun": _latest_run(row.latest_run),
    }


def edited_automation(edited: Edited, base_url: str) -> JsonObject:
    """Return the detail, and beside it the webhook's secret if one was made: its only showing."""
    body = automation_detail(edited.automation)
    if edited.made is not None:
        body["webhook"] = webhook(edited.made, base_url)
    return body


def version_line(row: VersionRow) -> JsonObject:
    return {
        "version": row.version,
        "createdAt": instants.to_text(row.created_at),
        "createdById": _id(row.created_by),
    }


def version_snapshot(row: VersionSnapshot) -> JsonObject:
    return {
        "version": row.version,
        "createdAt": instants.to_text(row.created_at),
        "createdById": _id(row.created_by),
        "name": row.name,
        "databaseId": _id(row.database_id),
        "triggers": [{"type": one["type"], "config": one["config"]} for one in row.triggers],
        "condition": row.condition,
        "actions": [_action(one) for one in row.actions],
    }


def webhook(secret: WebhookSecret, base_url: str) -> JsonObject:
    """Return a webhook's secret in its two forms, for its only showing: the URL holds it too."""
    url = f"{base_url}/webhooks/incoming/{secret.token}"
    return {"url": ShownOnce(url), "secret": ShownOnce(secret.text)}


def run_summary(row: RunSummary | RunDetail | WorkspaceRun) -> JsonObject:
    return {
        "id": str(row.id),
        "status": row.status,
        "triggerType": row.trigger_type,
        "startedAt": _instant(row.started_at),
        "finishedAt": _instant(row.finished_at),
        "retryCount": row.retry_count,
        "error": row.error,
        "createdAt": instants.to_text(row.created_at),
    }


def workspace_run(row: WorkspaceRun) -> JsonObject:
    return {
        **run_summary(row),
        "automationId": str(row.automation_id),
        "automationName": row.automation_name,
        "recordId": row.record_id,
        "rootRunId": str(row.root_run_id),
        "parentRunId": _id(row.parent_run_id),
    }


def run_detail(row: RunDetail) -> JsonObject:
    lines = row.logs[-limits.RUN_LOGS_SHOWN_MAX :]
    return {
        **run_summary(row),
        "automationId": str(row.automation_id),
        "version": row.version,
        "depth": row.depth,
        "rootRunId": str(row.root_run_id),
        "parentRunId": _id(row.parent_run_id),
        "eventId": row.event_id,
        # What the column holds of other states is when they were due, not when they will be.
        "dueAt": instants.to_text(row.due_at) if row.status == RunStatus.PENDING else None,
        "generation": row.generation,
        "input": build_trigger_event(row.input),
        "output": row.output,
        "steps": [_step(step) for step in row.steps],
        "logs": [_timed(line, "createdAt") for line in lines],
        "logsTruncated": len(lines) < len(row.logs),
    }


def database(row: DatabaseRow) -> JsonObject:
    return {
        "id": str(row.id),
        "workspaceId": str(row.workspace_id),
        "name": row.name,
        "properties": row.properties,
        "archivedAt": _instant(row.archived_at),
        "createdAt": instants.to_text(row.created_at),
        "updatedAt": instants.to_text(row.updated_at),
    }


def record(row: RecordRow) -> JsonObject:
    return {
        "id": str(row.id),
        "databaseId": str(row.database_id),
        "properties": row.properties,
        "version": row.version,
        "createdAt": instants.to_text(row.created_at),
        "updatedAt": instants.to_text(row.updated_at),
    }


def page(row: PageRow) -> JsonObject:
    return {
        "id": str(row.id),
        "workspaceId": str(row.workspace_id),
        "title": row.title,
        "parentId": _id(row.parent_id),
        "content": row.content,
        "createdAt": instants.to_text(row.created_at),
    }


def notification(row: NotificationRow) -> JsonObject:
    return {
        "id": str(row.id),
        "workspaceId": str(row.workspace_id),
        "title": row.title,
        "body": row.body,
        "runId": _id(row.run_id),
        "readAt": _instant(row.read_at),
        "createdAt": instants.to_text(row.created_at),
    }


def user(row: User) -> JsonObject:
    return {
        "id": str(row.id),
        "email": row.email,
        "name": row.name,
        "workspaces": row.workspaces,
    }


def _action(stored: Mapping[str, Any]) -> JsonObject:
    return {
        "id": stored["id"],
        "type": stored["type"],
        "config": stored["config"],
        "retries": stored.get("retries"),
        "timeoutMs": stored.get("timeoutMs"),
    }


def _latest_run(row: Mapping[str, Any] | None) -> JsonObject | None:
    if row is None:
        return None
    shown = _timed(row, "createdAt", "finishedAt")
    order = ("id", "status", "createdAt", "finishedAt", "retryCount", "error")
    return {key: shown[key] for key in order}


def _step(step: Mapping[str, Any]) -> JsonObject:
    of_a_delay = ["resumeAt"] if "resumeAt" in step else []
    return _timed(step, "startedAt", "finishedAt", *of_a_delay)


def _timed(row: Mapping[str, Any], *keys: str) -> JsonObject:
    """Return `row` with the seconds since 1970 under `keys` as text."""
    moments = {key: _moment(row[key]) for key in keys}
    return {**row, **moments}


def _moment(seconds: Any) -> str | None:
    return (
        None if seconds is None else instants.to_text(datetime.fromtimestamp(float(seconds), UTC))
    )


def _instant(instant: datetime | None) -> str | None:
    return None if instant is None else instants.to_text(instant)


def _id(found: UUID | None) -> str | None:
    return None if found is None else str(found)
