"""Who may call what: every route of the document, by every kind of caller and of id."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID, uuid4

import pytest
from sqlalchemy.engine import Connection

from http_api.console_files import site
from http_api.openapi import document
from tests.integration.http_api.client import (
    CREATED_TRIGGER,
    NOTIFY,
    WEBHOOK_TRIGGER,
    Answer,
    Api,
    Client,
    Tenant,
    gateway_event,
    send,
)
from whenthen.domain.kinds import Role
from whenthen.store import notifications, secrets, tenants
from whenthen.store.new_id import new_id
from whenthen.store.notifications import NewNotification

ROLES: Final = [Role.VIEWER, Role.EDITOR, Role.ADMIN, Role.OWNER]
# Callers without a role, from nothing to an EDIT grant on the database of all that is asked for.
STRANGER, VIEW_GRANT, EDIT_GRANT = "stranger", "VIEW grant", "EDIT grant"
# What a route asks of its caller, beside the roles.
EVERYBODY, SIGNED_IN = "everybody", "signed in"


@dataclass(frozen=True)
class Row:
    """The least that opens a route, the grant that does so too, and what it then answers."""

    least: str
    status: int
    body: Any = None
    grant: str | None = None


WS, AUTOMATION, DATABASE = (
    "/api/v1/workspaces/{workspaceId}",
    "/api/v1/automations/{automationId}",
    "/api/v1/databases/{databaseId}",
)
TOKEN_BODY = {"name": "X"}
CREATE = {"name": "X", "databaseId": "{databaseId}"}
EVENT = {"type": "record.created", "payload": {"databaseId": "{databaseId}", "recordId": "x"}}
ROWS: dict[str, Row] = {
    "GET /healthz": Row(EVERYBODY, 200),
    "GET /readyz": Row(EVERYBODY, 200),
    "GET /openapi.json": Row(EVERYBODY, 200),
    "GET /": Row(EVERYBODY, 200),
    "HEAD /": Row(EVERYBODY, 200),
    "GET /console/{build}/{file}": Row(EVERYBODY, 200),
    "HEAD /console/{build}/{file}": Row(EVERYBODY, 200),
    "POST /webhooks/incoming/{token}": Row(EVERYBODY, 202, {}),
    "GET /api/v1/me": Row(SIGNED_IN, 200),
    "GET /api/v1/me/notifications": Row(SIGNED_IN, 200),
    # One's own, of a workspace that one is a member of.
    "POST /api/v1/me/notifications/{notificationId}/read": Row("VIEWER", 200),
    "GET /api/v1/me/tokens": Row(SIGNED_IN, 200),
    "POST /api/v1/me/tokens": Row(SIGNED_IN, 201, TOKEN_BODY),
    "DELETE /api/v1/me/tokens/{tokenId}": Row(SIGNED_IN, 204),
    "POST /api/v1/schedules/preview": Row(SIGNED_IN, 200, {"cron": "0 9 * * *"}),
    "POST /api/v1/workspaces": Row(SIGNED_IN, 201, {"name": "X"}),
    f"GET {WS}/automations": Row("VIEWER", 200, grant="VIEW"),
    f"POST {WS}/automations": Row("EDITOR", 201, CREATE, grant="EDIT"),
    f"GET {WS}/automations/stats": Row("VIEWER", 200),
    f"GET {WS}/audit": Row("ADMIN", 200),
    f"GET {WS}/databases": Row("VIEWER", 200),
    f"POST {WS}/databases": Row("ADMIN", 201, {"name": "X"}),
    f"POST {WS}/events": Row("EDITOR", 202, EVENT),
    f"GET {WS}/members": Row("VIEWER", 200),
    f"POST {WS}/members": Row("ADMIN", 201, {"email": "ada@example.test", "role": "VIEWER"}),
    f"DELETE {WS}/members/{{userId}}": Row("ADMIN", 204),
    f"GET {WS}/pages": Row("VIEWER", 200),
    f"POST {WS}/pages": Row("EDITOR", 201, {"title": "X"}),
    f"GET {WS}/runs": Row("VIEWER", 200),
    f"POST {WS}/runs/redrive": Row("ADMIN", 202, {}),
    f"GET {WS}/secrets": Row("ADMIN", 200),
    f"PUT {WS}/secrets/{{name}}": Row("ADMIN", 204, {"value": "long enough"}),
    f"DELETE {WS}/secrets/{{name}}": Row("ADMIN", 204),
    f"GET {AUTOMATION}": Row("VIEWER", 200, grant="VIEW"),
    f"PATCH {AUTOMATION}": Row("EDITOR", 200, {"name": "Y"}, grant="EDIT"),
    f"DELETE {AUTOMATION}": Row("EDITOR", 204, grant="EDIT"),
    f"POST {AUTOMATION}/status": Row("EDITOR", 200, {"status": "PAUSED"}, grant="EDIT"),
    f"PUT {AUTOMATION}/triggers": Row("EDITOR", 200, {"triggers": [CREATED_TRIGGER]}, grant="EDIT"),
    f"PUT {AUTOMATION}/conditions": Row("EDITOR", 200, {"condition": None}, grant="EDIT"),
    f"PUT {AUTOMATION}/actions": Row("EDITOR", 200, {"actions": [NOTIFY]}, grant="EDIT"),
    f"POST {AUTOMATION}/webhook/regenerate": Row("EDITOR", 200, grant="EDIT"),
    f"POST {AUTOMATION}/dry-run": Row("EDITOR", 200, {}, grant="EDIT"),
    f"GET {AUTOMATION}/schedule": Row("VIEWER", 200, grant="VIEW"),
    f"GET {AUTOMATION}/versions": Row("VIEWER", 200, grant="VIEW"),
    f"GET {AUTOMATION}/versions/{{version}}": Row("VIEWER", 200, grant="VIEW"),
    f"POST {AUTOMATION}/versions/{{version}}/restore": Row("EDITOR", 200, grant="EDIT"),
    f"POST {AUTOMATION}/run": Row("EDITOR", 202, {}, grant="EDIT"),
    f"GET {AUTOMATION}/runs": Row("VIEWER", 200, grant="VIEW"),
    f"GET {AUTOMATION}/runs/{{runId}}": Row("VIEWER", 200, grant="VIEW"),
    f"POST {AUTOMATION}/runs/{{runId}}/cancel": Row("EDITOR", 202, grant="EDIT"),
    f"POST {AUTOMATION}/runs/{{runId}}/retry": Row("EDITOR", 200, {}, grant="EDIT"),
    f"GET {DATABASE}": Row("VIEWER", 200),
    f"PATCH {DATABASE}": Row("ADMIN", 200, {"name": "Y"}),
    f"GET {DATABASE}/grants": Row("VIEWER", 200),
    f"POST {DATABASE}/grants": Row("ADMIN", 201, {"email": "ada@example.test", "level": "VIEW"}),
    f"DELETE {DATABASE}/grants/{{userId}}": Row("ADMIN", 204),
    f"GET {DATABASE}/records": Row("VIEWER", 200),
    f"POST {DATABASE}/records": Row("EDITOR", 201, {"properties": {}}),
    f"POST {DATABASE}/forms/submissions": Row("EDITOR", 201, {"properties": {}}),
    "GET /api/v1/records/{recordId}": Row("VIEWER", 200),
    "PATCH /api/v1/records/{recordId}": Row("EDITOR", 200, {"properties": {"Name": "x"}}),
    "DELETE /api/v1/records/{recordId}": Row("EDITOR", 204),
    "GET /api/v1/pages/{pageId}": Row("VIEWER", 200),
}
DOCUMENTED = [
    f"{method.upper()} {path}"
    for path, operations in document()["paths"].items()
    for method in operations
]
WORKSPACE_ROWS = [route for route, row in ROWS.items() if row.least in set(Role)]


# ---- who calls


@dataclass(frozen=True)
class Caller:
    name: str
    user_id: UUID
    client: Client


@pytest.fixture(scope="module")
def api(module_api: Api) -> Api:
    return module_api


@pytest.fixture(scope="module")
def callers(api: Api) -> Mapping[str, Caller]:
    """Everybody with a good token, by what they are to my workspace."""
    found = {
        role.value: Caller(role, api.mine.user_ids[role], api.mine.clients[role]) for role in ROLES
    }
    for name, level in ((STRANGER, None), (VIEW_GRANT, "VIEW"), (EDIT_GRANT, "EDIT")):
        user_id, client = api.new_person()
        if level:
            api.grant(user_id, api.mine.database_id, level)
        found[name] = Caller(name, user_id, client)
    return found


@pytest.fixture(scope="module")
def nobodies(api: Api) -> Mapping[str, Client]:
    """Callers without a good token; two of them had one, of an OWNER."""

    def spoilt(connection: Connection) -> list[str]:
        owner = api.mine.user_ids[Role.OWNER]
        return [tenants.create_token(connection, owner, "old", None)[1] for _ in range(2)]

    revoked, expired = api.context.database.transact(spoilt)
    for token, fate in ((revoked, "revoked_at"), (expired, "expires_at")):
        api.sql(
            f"update api_tokens set {fate} = whenthen_now() - interval '1 s' where token_hash = :h",
            h=tenants.hash_of(token),
        )
    return {"no token": Client(None), "revoked": Client(revoked), "expired": Client(expired)}


# ---- with which ids


class Ids:
    """A fresh and real id of one workspace for each variable, made when it is asked for."""

    def __init__(self, api: Api, tenant: Tenant, user_id: UUID) -> None:
        self._api, self._tenant, self._user_id = api, tenant, user_id
        self.made: dict[str, str] = {
            "workspaceId": str(tenant.workspace_id),
            "databaseId": str(tenant.database_id),
            "version": "1",
            "build": site().build,
            "file": "app.js",
        }
        self._makers: Mapping[str, Callable[[], str]] = {
            "automationId": self._automation,
            "runId": self._run,
            "recordId": lambda: str(tenant.create_record()["id"]),
            "pageId": self._page,
            "userId": self._member,
            "name": self._secret,
            "tokenId": self._token,
            "notificationId": self._notification,
            "token": self._webhook_token,
        }

    def __getitem__(self, name: str) -> str:
        if name not in self.made:
            self.made[name] = self._makers[name]()
        return self.made[name]

    def _automation(self) -> str:
        made = self._tenant.create_automation(
            databaseId=str(self._tenant.database_id), triggers=[CREATED_TRIGGER, WEBHOOK_TRIGGER]
        )
        path = f"/automations/{made['id']}/status"
        assert self._tenant.editor.post(path, {"status": "ACTIVE"}).status == 200
        self.made["token"] = made["webhook"]["url"].rsplit("/", 1)[1]
        return str(made["id"])

    def _webhook_token(self) -> str:
        self.made["automationId"] = self._automation()
        return self.made["token"]

    def _run(self) -> str:
        answer = self._tenant.editor.post(f"/automations/{self['automationId']}/run")
        return str(answer.json["runId"])

    def fail_run(self) -> None:
        path = f"/automations/{self['automationId']}/runs/{self['runId']}/cancel"
        assert self._tenant.editor.post(path).status == 202

    def _page(self) -> str:
        path = f"/workspaces/{self._tenant.workspace_id}/pages"
        return str(self._tenant.editor.post(path, {"title": "X"}).json["id"])

    def _member(self) -> str:
        user_id, _ = self._api.new_person()
        workspace_id = self._tenant.workspace_id
        self._write(lambda c: tenants.add_member(c, workspace_id, user_id, Role.VIEWER))
        self._api.grant(user_id, self._tenant.database_id, "VIEW")
        return str(user_id)

    def _secret(self) -> str:
        workspace_id = self._tenant.workspace_id
        self._write(lambda c: secrets.put(c, workspace_id, "API_KEY", [b"ciphertext"]))
        return "API_KEY"

    def _token(self) -> str:
        made = self._write(lambda c: tenants.create_token(c, self._user_id, "spare", None))
        return str(made[0])

    def _notification(self) -> str:
        id_, workspace_id = new_id(), self._tenant.workspace_id
        row = NewNotification(id_, workspace_id, self._user_id, "X", None, None)
        self._write(lambda c: notifications.insert(c, [row]))
        return str(id_)

    def _write(self, work: Callable[[Connection], Any]) -> Any:
        return self._api.context.database.transact(work)


def call(client: Client, route: str, ids: Any, body: Any = None) -> Answer:
    """Call a route of the document with the ids that its path and its body name."""
    method, path = route.split(" ")
    for name in variables_of(route):
        path = path.replace(f"{{{name}}}", ids[name])
    text = None if body is None else json.dumps(body)
    if text and "{databaseId}" in text:
        text = text.replace("{databaseId}", ids["databaseId"])
    event = gateway_event(method, path, text, {}, {})
    if client.token is not None:
        event["headers"]["authorization"] = f"Bearer {client.token}"
    return send(event)


def variables_of(route: str) -> list[str]:
    return [part[1:-1] for part in route.split("/") if part.startswith("{")]


# ---- what they get


def test_every_route_of_the_document_has_its_row() -> None:
    assert set(ROWS) == set(DOCUMENTED)


@pytest.mark.parametrize("route", ROWS)
def test_without_a_good_token_every_private_route_is_401(
    api: Api, nobodies: Mapping[str, Client], route: str
) -> None:
    row, ids = ROWS[route], Ids(api, api.mine, api.mine.user_ids[Role.OWNER])
    for name, client in nobodies.items():
        answer = call(client, route, ids, row.body)
        if row.least == EVERYBODY:
            assert answer.status == row.status, name
        else:
            assert answer.status == 401, name
            assert answer.error.keys() == {"code", "message"}
            assert answer.code == "UNAUTHENTICATED"


@pytest.mark.parametrize("route", ROWS)
def test_every_caller_gets_what_their_part_in_the_workspace_opens(
    api: Api, callers: Mapping[str, Caller], route: str
) -> None:
    row = ROWS[route]
    for caller in callers.values():
        ids = Ids(api, api.mine, caller.user_id)
        if route.endswith("/retry"):
            ids.fail_run()
        answer = call(caller.client, route, ids, row.body)
        expected = expected_of(row, caller.name)
        assert answer.status == expected, f"{caller.name}: {answer.text}"
        if expected == 403:
            assert answer.error.keys() == {"code", "message"}
            assert answer.code == "FORBIDDEN"
        elif expected == 404:
            assert answer.error == {"code": "NOT_FOUND", "message": "not found"}
        elif expected == 200 and route.endswith("Id}"):
            assert answer.json["id"] == ids[variables_of(route)[-1]]


def expected_of(row: Row, caller: str) -> int:
    if row.least in {EVERYBODY, SIGNED_IN}:
        return row.status
    if caller in set(Role):
        return row.status if ROLES.index(Role(caller)) >= ROLES.index(Role(row.least)) else 403
    if caller == STRANGER or row.grant is None:
        return 404
    return row.status if caller == EDIT_GRANT or row.grant == "VIEW" else 403


def swapped(route: str, mine: Ids, other: Ids) -> Iterator[dict[str, str]]:
    """The ids of a path with one or all of them another workspace's, unknown or nonsense."""
    names = variables_of(route)
    real = {name: mine[name] for name in names}
    foreign = {name: other[name] for name in names}
    yield foreign
    for name in names:
        if name in {"version", "name"}:
            continue
        for id_ in (foreign[name], str(uuid4()), "nonsense"):
            yield {**real, name: id_}


@pytest.mark.parametrize("route", [route for route in ROWS if "{" in route])
def test_case_113_ids_of_another_workspace_are_as_unknown_as_any(api: Api, route: str) -> None:
    row, owner = ROWS[route], api.mine.user_ids[Role.OWNER]
    mine = Ids(api, api.mine, owner)
    other = Ids(api, api.other, api.other.user_ids[Role.OWNER])
    if row.least == EVERYBODY:
        return
    if route.endswith("/retry"):
        other.fail_run()
    for ids in swapped(route, mine, other):
        body = json.loads(json.dumps(row.body).replace("{databaseId}", mine["databaseId"]))
        answer = call(api.mine.owner, route, ids, body)
        assert answer.status == 404, f"{ids}: {answer.text}"
        assert answer.error == {"code": "NOT_FOUND", "message": "not found"}


FOREIGN_IN_BODY: list[tuple[str, Any, str]] = [
    (f"POST {WS}/automations", {"name": "X", "databaseId": "{id}"}, "DATABASE_UNKNOWN"),
    (
        f"POST {WS}/automations",
        {
            "name": "X",
            "triggers": [{"type": "RECORD_CREATED", "config": {"databaseId": "{id}"}}],
        },
        "DATABASE_UNKNOWN",
    ),
    (f"PATCH {AUTOMATION}", {"databaseId": "{id}"}, "DATABASE_UNKNOWN"),
    (
        f"PUT {AUTOMATION}/triggers",
        {"triggers": [{"type": "FORM_SUBMITTED", "config": {"databaseId": "{id}"}}]},
        "DATABASE_UNKNOWN",
    ),
    (
        f"PUT {AUTOMATION}/actions",
        {
            "actions": [
                {
                    "type": "CREATE_RECORD",
                    "config": {"databaseId": "{id}", "propertyValues": {}},
                }
            ]
        },
        "DATABASE_UNKNOWN",
    ),
    (
        f"POST {WS}/events",
        {"type": "record.created", "payload": {"databaseId": "{id}"}},
        "DATABASE_UNKNOWN",
    ),
    (f"POST {WS}/pages", {"title": "X", "parentId": "{id}"}, "VALIDATION_FAILED"),
    (f"POST {AUTOMATION}/dry-run", {"runId": "{id}"}, "VALIDATION_FAILED"),
]


@pytest.mark.parametrize(("route", "body", "code"), FOREIGN_IN_BODY)
def test_case_113_ids_of_another_workspace_in_a_body_are_as_unknown_as_any(
    api: Api, route: str, body: Any, code: str
) -> None:
    mine = Ids(api, api.mine, api.mine.user_ids[Role.OWNER])
    other = Ids(api, api.other, api.other.user_ids[Role.OWNER])
    name = "pageId" if "parentId" in body else "runId" if "runId" in body else "databaseId"
    answers = [
        call(
            api.mine.owner,
            route,
            mine,
            json.loads(json.dumps(body).replace("{id}", id_)),
        )
        for id_ in (other[name], str(uuid4()))
    ]
    assert [(answer.status, answer.code) for answer in answers] == [(422, code)] * 2
    assert answers[0].error == answers[1].error


def test_what_was_refused_has_changed_nothing(api: Api, callers: Mapping[str, Caller]) -> None:
    tables = [
        row["tablename"]
        for row in api.sql("select tablename from pg_tables where schemaname = 'public'")
        # Use of a token is noted, refused or not.
        if row["tablename"] not in {"api_tokens", "idempotency_keys"}
    ]
    ids = Ids(api, api.mine, api.mine.user_ids[Role.OWNER])
    for route in WORKSPACE_ROWS:
        for name in variables_of(route):
            assert ids[name]

    def everything() -> list[str]:
        return [
            row["t"]
            for table in tables
            for row in api.sql(f"select t::text as t from {table} t order by 1")
        ]

    before = everything()
    for route in WORKSPACE_ROWS:
        for name in (STRANGER, VIEW_GRANT, Role.VIEWER):
            if expected_of(ROWS[route], name) >= 400:
                call(callers[name].client, route, ids, ROWS[route].body)
    assert everything() == before
