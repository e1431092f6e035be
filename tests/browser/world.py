"""What a test has made before somebody looks: a workspace, automations, runs."""

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from tests.e2e.conftest import Api, Stack, eventually

Json = dict[str, Any]
VIEWER_EMAIL = "viewer@demo.test"
STATUS_IS_B = {"field": {"ref": "property", "name": "Status"}, "operator": "eq", "value": "B"}
SET_C = {
    "type": "UPDATE_RECORD",
    "config": {"recordId": "from_trigger", "propertyValues": {"Status": "C"}},
}
NOTIFY = {"type": "CREATE_NOTIFICATION", "config": {"title": "Ticket {{record.Name}}"}}
RECORD_CREATED = {"type": "RECORD_CREATED", "config": {}}


@dataclass
class World:
    """A workspace with a Tickets database, as its OWNER sees it through the API."""

    stack: Stack
    api: Api
    workspace_id: str
    database_id: str

    @property
    def owner_token(self) -> str:
        return str(self.stack.ready["token"])

    @property
    def viewer_token(self) -> str:
        return str(self.stack.ready["viewerToken"])

    def as_owner(self) -> Json:
        """What opens the console as the OWNER."""
        return {"token": self.owner_token, "workspace_id": self.workspace_id}

    def as_viewer(self) -> Json:
        return {"token": self.viewer_token, "workspace_id": self.workspace_id}

    def automation(self, *actions: Json, status: str = "ACTIVE", **parts: Any) -> Json:
        """A new automation; in DRAFT it stays as it is made."""
        body = {
            "name": "Triage new tickets",
            "databaseId": self.database_id,
            "triggers": [RECORD_CREATED],
            "actions": list(actions),
            **parts,
        }
        made = self.api.ok("POST", f"/workspaces/{self.workspace_id}/automations", body)
        if status != "DRAFT":
            self.api.ok("POST", f"/automations/{made['id']}/status", {"status": status})
        return dict(made)

    def record(self, **properties: Any) -> str:
        path = f"/databases/{self.database_id}/records"
        return str(self.api.ok("POST", path, {"properties": properties})["id"])

    def runs(self, automation: Json | None = None, **query: str) -> list[Json]:
        path = f"/workspaces/{self.workspace_id}/runs"
        chosen = {"automationId": automation["id"]} if automation else {}
        answer = self.api.call("GET", path, params={**chosen, **query})
        return list(answer.json()["data"])

    def run_with(self, automation: Json, status: str, count: int = 1) -> Json:
        """The newest of `count` runs, once so many have this status."""

        def look() -> Json | None:
            found = [run for run in self.runs(automation) if run["status"] == status]
            return found[0] if len(found) >= count else None

        return eventually(look, f"{count} runs are {status}")

    def detail(self, run: Json) -> Json:
        path = f"/automations/{run['automationId']}/runs/{run['id']}"
        return dict(self.api.ok("GET", path))

    def titles(self) -> list[str]:
        """What the owner was notified of in this workspace, newest first."""
        told = self.api.ok("GET", "/me/notifications")["data"]
        return [one["title"] for one in told if one["workspaceId"] == self.workspace_id]


def make_world(stack: Stack, name: str | None = None) -> World:
    api = stack.api(stack.ready["token"])
    made = api.ok("POST", "/workspaces", {"name": name or f"Support {uuid4().hex[:6]}"})
    workspace = f"/workspaces/{made['id']}"
    api.ok("POST", f"{workspace}/members", {"email": VIEWER_EMAIL, "role": "VIEWER"})
    seeded = api.ok("GET", f"/databases/{stack.ready['databaseId']}")
    tickets = {"name": "Tickets", "properties": seeded["properties"]}
    database = api.ok("POST", f"{workspace}/databases", tickets)
    return World(stack, api, made["id"], database["id"])
