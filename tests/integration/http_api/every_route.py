"""The table of routes as tests walk it: a legal body and real ids for each."""

from typing import Any
from uuid import UUID, uuid4

from sqlalchemy.engine import Connection

from http_api.routing import API_BASE, ROUTES, Route
from tests.integration.http_api.client import (
    CREATED_TRIGGER,
    NOTIFY,
    WEBHOOK_TRIGGER,
    Api,
    Tenant,
)
from whenthen.domain.kinds import Role
from whenthen.domain.rules.permissions import Subject
from whenthen.store import secrets, tenants

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
    "RetryBody": {"from": "failed", "version": "original"},
    "RedriveBody": {"status": "FAILED", "recordId": "x", "from": "2026-01-01", "dryRun": False},
    "DryRunBody": {"event": {"type": "record.created", "payload": {"recordId": "x"}}},
    "CreateDatabase": {"name": "X"},
    "PatchDatabase": {},
    "RecordBody": {"properties": {}},
    "CreatePage": {"title": "X"},
    "PreviewSchedule": {"cron": "0 9 * * *"},
    "CreateWorkspace": {"name": "X"},
    "AddMember": {"email": "ada@example.test", "role": "EDITOR"},
    "AddGrant": {"email": "ada@example.test", "level": "EDIT"},
    "CreateToken": {"name": "X"},
    "SecretBody": {"value": "long enough"},
    "EventsBody": {"type": "page.created", "payload": {}},
}


def named(entry: Route) -> str:
    return f"{entry.method} {entry.path}"


def body_of(entry: Route) -> Any:
    return None if entry.body is None else BODIES[entry.body.__name__]


def ids_in(api: Api, owned_by: str) -> dict[str, str]:
    """One real id for every path variable, of one of the two workspaces."""
    tenant = {"mine": api.mine, "other": api.other}[owned_by]
    automation = tenant.create_automation(triggers=[WEBHOOK_TRIGGER])
    run = tenant.editor.post(f"/automations/{automation['id']}/run").json
    pages = f"/workspaces/{tenant.workspace_id}/pages"
    user_id, client = api.new_person()
    join(api, tenant, user_id)
    return {
        "workspaceId": str(tenant.workspace_id),
        "automationId": automation["id"],
        "runId": run["runId"],
        "version": "1",
        "databaseId": str(tenant.database_id),
        "recordId": tenant.create_record()["id"],
        "pageId": tenant.editor.post(pages, {"title": "X"}).json["id"],
        "notificationId": str(uuid4()),
        # A member who also holds a grant.
        "userId": str(user_id),
        "tokenId": client.get("/me/tokens").json["data"][0]["id"],
        "name": "API_KEY",
    }


def join(api: Api, tenant: Tenant, user_id: UUID) -> None:
    def work(connection: Connection) -> None:
        tenants.add_member(connection, tenant.workspace_id, user_id, Role.VIEWER)
        secrets.put(connection, tenant.workspace_id, "API_KEY", [b"ciphertext"])

    api.context.database.transact(work)
    api.grant(user_id, tenant.database_id, "VIEW")


def ids_for(api: Api, entry: Route) -> dict[str, str]:
    """Ids of my workspace as `ids_in` has them, in a state in which the route has work to do."""
    ids = ids_in(api, "mine")
    if entry.path.endswith("/retry"):
        run = f"/automations/{ids['automationId']}/runs/{ids['runId']}"
        assert api.mine.editor.post(f"{run}/cancel").status == 202
    return ids


def path_of(entry: Route, ids: dict[str, str]) -> str:
    path = entry.path.removeprefix(API_BASE)
    for name, value in ids.items():
        path = path.replace(f"{{{name}}}", value)
    return path
