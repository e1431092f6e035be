"""The table of routes as tests walk it: a legal body and real ids for each."""

from typing import Any
from uuid import uuid4

from http_api.routing import API_BASE, ROUTES, Route
from tests.integration.http_api.client import CREATED_TRIGGER, NOTIFY, Api
from whenthen.domain.rules.permissions import Subject

PRIVATE_ROUTES = [entry for entry in ROUTES if entry.needs is not None]
WORKSPACE_ROUTES = [
    entry for entry in PRIVATE_ROUTES if entry.needs and entry.needs.subject is not Subject.CALLER
]
# A body that each model accepts.
BODIES: dict[str, Any] = {
    "CreateAutomation": {"name": "X"},
    "PatchAutomation": {},
    "StatusBody": {"status": "ACTIVE"},
    "TriggersBody": {"triggers": [CREATED_TRIGGER]},
    "ConditionBody": {"condition": None},
    "ActionsBody": {"actions": [NOTIFY]},
    "RunAutomationBody": {},
    "CreateDatabase": {"name": "X"},
    "PatchDatabase": {},
    "RecordBody": {"properties": {}},
    "CreatePage": {"title": "X"},
}


def named(entry: Route) -> str:
    return f"{entry.method} {entry.path}"


def body_of(entry: Route) -> Any:
    return None if entry.body is None else BODIES[entry.body.__name__]


def ids_in(api: Api, owned_by: str) -> dict[str, str]:
    """One real id for every path variable, of one of the two workspaces."""
    tenant = {"mine": api.mine, "other": api.other}[owned_by]
    automation = tenant.create_automation()
    run = tenant.editor.post(f"/automations/{automation['id']}/run").json
    pages = f"/workspaces/{tenant.workspace_id}/pages"
    return {
        "workspaceId": str(tenant.workspace_id),
        "automationId": automation["id"],
        "runId": run["runId"],
        "databaseId": str(tenant.database_id),
        "recordId": tenant.create_record()["id"],
        "pageId": tenant.editor.post(pages, {"title": "X"}).json["id"],
        "notificationId": str(uuid4()),
    }


def path_of(entry: Route, ids: dict[str, str]) -> str:
    path = entry.path.removeprefix(API_BASE)
    for name, value in ids.items():
        path = path.replace(f"{{{name}}}", value)
    return path
