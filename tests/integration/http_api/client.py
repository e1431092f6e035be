"""A caller of the API: real API Gateway events into the real handler, in this process."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode
from uuid import UUID, uuid4

from sqlalchemy import text
from sqlalchemy.engine import Connection

from http_api.handler import lambda_handler
from tests.integration.http_api.conformance import require_conformity
from whenthen.domain import json_text
from whenthen.domain.kinds import Role
from whenthen.engine.context import Context
from whenthen.store import tenants

TICKETS: list[dict[str, Any]] = [
    {"name": "Name", "type": "text"},
    {"name": "Status", "type": "select", "options": ["A", "B", "C"]},
    {"name": "Priority", "type": "number"},
    {"name": "Done", "type": "checkbox"},
    {"name": "Owner", "type": "person"},
]
CREATED_TRIGGER = {"type": "RECORD_CREATED", "config": {}}
WEBHOOK_TRIGGER = {"type": "WEBHOOK", "config": {}}
NOTIFY = {"type": "CREATE_NOTIFICATION", "config": {"title": "Ticket {{record.Name}}"}}
LAMBDA_CONTEXT = SimpleNamespace(aws_request_id="lambda-1", function_name="http-api")


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json_text.loads(self.text)

    @property
    def error(self) -> Any:
        """The inside of the envelope, without the id that differs on every request."""
        inside = dict(self.json["error"])
        assert inside.pop("requestId") == self.headers["x-request-id"]
        return inside

    @property
    def code(self) -> Any:
        return self.error["code"]


@dataclass(frozen=True)
class Client:
    """Calls with one token, or with none."""

    token: str | None

    def get(self, path: str, **query: str) -> Answer:
        return self.call("GET", path, query=query)

    def post(self, path: str, body: Any = None, **headers: str) -> Answer:
        return self.call("POST", path, body, headers=headers)

    def put(self, path: str, body: Any) -> Answer:
        return self.call("PUT", path, body)

    def patch(self, path: str, body: Any, headers: Mapping[str, str] | None = None) -> Answer:
        return self.call("PATCH", path, body, headers=headers)

    def delete(self, path: str) -> Answer:
        return self.call("DELETE", path)

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Call below `/api/v1`; bytes travel as base64, a text as it is, the rest as JSON."""
        event = gateway_event(method, f"/api/v1{path}", body, query or {}, headers or {})
        if self.token is not None:
            event["headers"].setdefault("authorization", f"Bearer {self.token}")
        return send(event)


def gateway_event(
    method: str, path: str, body: Any, query: Mapping[str, str], headers: Mapping[str, str]
) -> dict[str, Any]:
    """The event of API Gateway's HTTP API, payload format 2.0."""
    sent: str | None
    if isinstance(body, bytes):
        sent = base64.b64encode(body).decode()
    else:
        sent = body if body is None or isinstance(body, str) else json_text.dumps(body)
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": urlencode(query),
        "headers": {"content-type": "application/json", **headers},
        "queryStringParameters": dict(query) or None,
        "requestContext": {
            "requestId": uuid4().hex,
            "domainName": "api.example.test",
            "stage": "$default",
            "http": {"method": method, "path": path, "protocol": "HTTP/1.1"},
        },
        "body": sent,
        "isBase64Encoded": isinstance(body, bytes),
    }


def send(event: dict[str, Any]) -> Answer:
    """Have the handler answer; whatever it answers must be in the OpenAPI document."""
    answer = lambda_handler(event, LAMBDA_CONTEXT)  # type: ignore[arg-type]
    headers = {name.lower(): value for name, value in answer["headers"].items()}
    given = Answer(answer["statusCode"], headers, answer["body"] or "")
    method, path = event["requestContext"]["http"]["method"], event["rawPath"]
    require_conformity(method, path, given.status, given.headers, given.text)
    return given


@dataclass(frozen=True)
class Tenant:
    """A workspace with a database and one client per role."""

    workspace_id: UUID
    database_id: UUID
    clients: Mapping[Role, Client]
    user_ids: Mapping[Role, UUID]

    @property
    def owner(self) -> Client:
        return self.clients[Role.OWNER]

    @property
    def editor(self) -> Client:
        return self.clients[Role.EDITOR]

    @property
    def viewer(self) -> Client:
        return self.clients[Role.VIEWER]

    @property
    def automations_path(self) -> str:
        return f"/workspaces/{self.workspace_id}/automations"

    def create_automation(self, **parts: Any) -> Any:
        answer = self.editor.post(self.automations_path, {"name": "Triage", **parts})
        assert answer.status == 201, answer.text
        return answer.json

    def create_record(self, **properties: Any) -> Any:
        path = f"/databases/{self.database_id}/records"
        answer = self.editor.post(path, {"properties": properties})
        assert answer.status == 201, answer.text
        return answer.json


@dataclass(frozen=True)
class Api:
    """The API over a database of the test's own, with two workspaces that share nobody."""

    context: Context
    mine: Tenant
    other: Tenant

    def sql(self, statement: str, **values: Any) -> list[Any]:
        def work(connection: Connection) -> list[Any]:
            result = connection.execute(text(statement), values)
            return list(result.mappings()) if result.returns_rows else []

        return self.context.database.transact(work)

    def new_person(self) -> tuple[UUID, Client]:
        """A user without any membership."""
        return self.context.database.transact(new_person)

    def grant(self, user_id: UUID, database_id: UUID, level: str) -> None:
        self.sql(
            "insert into database_grants (database_id, user_id, level) values (:d, :u, :l)",
            d=database_id,
            u=user_id,
            l=level,
        )


def new_person(connection: Connection) -> tuple[UUID, Client]:
    user_id = tenants.create_user(connection, f"{uuid4().hex}@example.test", "Person")
    _, token = tenants.create_token(connection, user_id, "test", None)
    return user_id, Client(token)


def make_tenant(connection: Connection) -> Tenant:
    workspace_id = tenants.create_workspace(connection, "Workspace")
    database_id = tenants.create_database(connection, workspace_id, "Tickets", TICKETS)
    people = {role: new_person(connection) for role in Role}
    for role, (user_id, _) in people.items():
        tenants.add_member(connection, workspace_id, user_id, role)
    return Tenant(
        workspace_id,
        database_id,
        {role: client for role, (_, client) in people.items()},
        {role: user_id for role, (user_id, _) in people.items()},
    )
