"""A person with a database grant but no role: what it opens, and what it must not."""

from typing import Any
from uuid import uuid4

import pytest

from tests.integration.http_api.client import CREATED_TRIGGER, NOTIFY, WEBHOOK_TRIGGER, Api, Client
from tests.integration.http_api.hooks import activate, execute, match_outbox, post
from whenthen.domain.kinds import Role


@pytest.fixture
def guest(api: Api) -> Client:
    """Holds EDIT on the Tickets database and nothing else."""
    user_id, client = api.new_person()
    api.grant(user_id, api.mine.database_id, "EDIT")
    return client


@pytest.fixture
def reader(api: Api) -> Client:
    user_id, client = api.new_person()
    api.grant(user_id, api.mine.database_id, "VIEW")
    return client


@pytest.fixture
def second_database(api: Api) -> str:
    path = f"/workspaces/{api.mine.workspace_id}/databases"
    return str(api.mine.owner.post(path, {"name": "Second"}).json["id"])


def scoped(api: Api) -> Any:
    return api.mine.create_automation(databaseId=str(api.mine.database_id))


def test_the_list_is_filtered_to_the_granted_database(
    api: Api, reader: Client, second_database: str
) -> None:
    visible = scoped(api)
    hidden = [
        api.mine.create_automation(),
        api.mine.create_automation(databaseId=second_database),
    ]
    listed = reader.get(api.mine.automations_path).json["data"]
    assert [row["id"] for row in listed] == [visible["id"]]
    assert reader.get(f"/automations/{visible['id']}").status == 200
    assert {reader.get(f"/automations/{one['id']}").status for one in hidden} == {404}


def test_a_view_grant_does_not_edit(api: Api, reader: Client) -> None:
    path = f"/automations/{scoped(api)['id']}"
    assert reader.patch(path, {"name": "New"}).status == 403
    assert reader.post(f"{path}/run").status == 403
    body = {"name": "X", "databaseId": str(api.mine.database_id)}
    assert reader.post(api.mine.automations_path, body).status == 403


def test_an_edit_grant_edits_what_is_scoped_to_its_database(api: Api, guest: Client) -> None:
    path = f"/automations/{scoped(api)['id']}"
    assert guest.patch(path, {"name": "New"}).status == 200
    assert guest.put(f"{path}/triggers", {"triggers": [CREATED_TRIGGER]}).status == 200
    assert guest.put(f"{path}/actions", {"actions": [NOTIFY]}).status == 200
    assert guest.post(f"{path}/status", {"status": "ACTIVE"}).status == 200
    assert guest.post(f"{path}/run").status == 202
    body = {"name": "X", "databaseId": str(api.mine.database_id)}
    assert guest.post(api.mine.automations_path, body).status == 201


def test_a_grant_does_not_escape_its_database(
    api: Api, guest: Client, second_database: str
) -> None:
    path = f"/automations/{scoped(api)['id']}"
    elsewhere = {"databaseId": second_database}
    create = {
        "type": "CREATE_RECORD",
        "config": {**elsewhere, "propertyValues": {}},
    }
    secret = {
        "type": "SEND_WEBHOOK",
        "config": {"url": "https://x.test", "headers": {"A": "{{secrets.KEY}}"}},
    }
    refused = [
        guest.patch(path, elsewhere),
        guest.patch(path, {"databaseId": None}),
        guest.put(f"{path}/triggers", {"triggers": [{**CREATED_TRIGGER, "config": elsewhere}]}),
        guest.put(f"{path}/actions", {"actions": [create]}),
        guest.put(f"{path}/actions", {"actions": [secret]}),
        guest.post(api.mine.automations_path, {"name": "X"}),
        guest.post(api.mine.automations_path, {"name": "X", **elsewhere}),
    ]
    assert [(answer.status, answer.code) for answer in refused] == [(403, "FORBIDDEN")] * 7


def test_a_grant_opens_no_records_and_no_lists_but_automations(api: Api, guest: Client) -> None:
    workspace = f"/workspaces/{api.mine.workspace_id}"
    record = api.mine.create_record(Name="Tap")
    for path in (
        f"{workspace}/databases",
        f"{workspace}/pages",
        f"/databases/{api.mine.database_id}",
        f"/databases/{api.mine.database_id}/records",
        f"/records/{record['id']}",
    ):
        assert guest.get(path).status == 404


def test_a_grant_in_one_workspace_opens_nothing_in_another(api: Api, guest: Client) -> None:
    assert guest.get(api.other.automations_path).status == 404


def test_an_automation_that_moved_away_is_out_of_reach(
    api: Api, guest: Client, second_database: str
) -> None:
    path = f"/automations/{scoped(api)['id']}"
    api.mine.editor.patch(path, {"databaseId": second_database})
    assert guest.get(path).status == 404
    assert guest.delete(path).status == 404


def update(record_id: str) -> dict[str, Any]:
    config = {"recordId": record_id, "propertyValues": {}}
    return {"type": "UPDATE_RECORD", "config": config}


def elsewhere(api: Api, database_id: str, **properties: Any) -> str:
    """A record of a database that the guest has no grant on."""
    path = f"/databases/{database_id}"
    api.mine.owner.patch(path, {"properties": [{"name": "Name", "type": "text"}]})
    answer = api.mine.editor.post(f"{path}/records", {"properties": properties})
    assert answer.status == 201, answer.text
    return str(answer.json["id"])


def test_case_114_ids_that_come_with_the_event_are_refused(api: Api, guest: Client) -> None:
    path = f"/automations/{scoped(api)['id']}/actions"
    templated = "{{trigger.recordId}}"
    actions = [
        update(templated),
        {"type": "DELETE_RECORD", "config": {"recordId": templated}},
        {"type": "CREATE_RECORD", "config": {"databaseId": templated, "propertyValues": {}}},
        {"type": "CREATE_PAGE", "config": {"title": "X", "parentId": templated}},
        {"type": "CREATE_NOTIFICATION", "config": {"title": "X", "userIds": [templated]}},
    ]
    for action in actions:
        refused = guest.put(path, {"actions": [NOTIFY, action]})
        assert (refused.status, refused.code) == (403, "FORBIDDEN")
        assert api.mine.editor.put(path, {"actions": [action]}).status == 200


def test_case_114_a_record_may_be_named_if_its_database_is_granted(
    api: Api, guest: Client, second_database: str
) -> None:
    path = f"/automations/{scoped(api)['id']}/actions"
    mine = api.mine.create_record(Name="Tap")["id"]
    outside = elsewhere(api, second_database)
    foreign = api.other.create_record(Name="Tap")["id"]
    statuses = [
        guest.put(path, {"actions": [update(record_id)]}).status
        for record_id in ("from_trigger", mine, outside, foreign, str(uuid4()))
    ]
    assert statuses == [200, 200, 403, 403, 403]


@pytest.fixture
def reaching(api: Api, guest: Client) -> str:
    """The guest's automation: it shows and changes the record of whatever starts it."""
    body = {
        "name": "Reach",
        "databaseId": str(api.mine.database_id),
        "triggers": [WEBHOOK_TRIGGER],
        "condition": {"field": {"ref": "property", "name": "Name"}, "operator": "is_not_empty"},
        "actions": [
            {"type": "CREATE_NOTIFICATION", "config": {"title": "{{record.Name}}"}},
            {
                "type": "UPDATE_RECORD",
                "config": {"recordId": "from_trigger", "propertyValues": {"Name": "changed"}},
            },
        ],
    }
    made = guest.post(api.mine.automations_path, body)
    assert made.status == 201, made.text
    return str(made.json["id"])


def outcome(api: Api, record_id: str) -> tuple[str, Any, list[str]]:
    execute(api)
    (run,) = api.sql("select status, output, error from automation_runs")
    titles = [row["title"] for row in api.sql("select distinct title from notifications")]
    name = api.mine.viewer.get(f"/records/{record_id}").json["properties"].get("Name")
    return run["status"], name, titles


def test_case_114_a_manual_run_reaches_no_record_of_another_database(
    api: Api, guest: Client, reaching: str, second_database: str
) -> None:
    record_id = elsewhere(api, second_database, Name="secret")
    body = {"input": {"recordId": record_id}}
    assert guest.post(f"/automations/{reaching}/run", body).status == 202
    assert outcome(api, record_id) == ("SUCCEEDED", "secret", [])
    dry = guest.post(
        f"/automations/{reaching}/dry-run", {"event": {"type": "manual", "payload": body["input"]}}
    )
    assert "secret" not in dry.text


def test_case_114_what_the_event_names_elsewhere_is_not_found_by_an_action(
    api: Api, guest: Client, reaching: str, second_database: str
) -> None:
    record_id = elsewhere(api, second_database, Name="secret")
    path = f"/automations/{reaching}"
    guest.put(f"{path}/conditions", {"condition": None})
    guest.put(f"{path}/actions", {"actions": [update("from_trigger")]})
    guest.post(f"{path}/run", {"input": {"recordId": record_id}})
    assert outcome(api, record_id) == ("FAILED", "secret", [])
    (run,) = api.sql("select error from automation_runs")
    assert run["error"]["code"] == "NOT_FOUND"


def test_case_114_a_webhook_reaches_no_record_of_another_database(
    api: Api, guest: Client, reaching: str, second_database: str
) -> None:
    record_id = elsewhere(api, second_database, Name="secret")
    url = guest.post(f"/automations/{reaching}/webhook/regenerate").json["url"]
    activate(api, reaching)
    assert (
        post(url.removeprefix("https://api.example.test"), f'{{"recordId": "{record_id}"}}').status
        == 202
    )
    match_outbox(api)
    assert outcome(api, record_id) == ("SUCCEEDED", "secret", [])


def test_the_record_of_the_granted_database_is_reached(
    api: Api, guest: Client, reaching: str
) -> None:
    record_id = api.mine.create_record(Name="Tap")["id"]
    body = {"input": {"recordId": record_id}}
    assert guest.post(f"/automations/{reaching}/run", body).status == 202
    assert outcome(api, record_id) == ("SUCCEEDED", "changed", ["Tap"])


def path_of(api: Api) -> str:
    return f"/databases/{api.mine.database_id}/grants"


def test_a_grant_opens_the_database_until_it_is_taken_away(api: Api) -> None:
    user_id, client = api.new_person()
    (row,) = api.sql("select email from users where id = :u", u=user_id)
    assert client.get(api.mine.automations_path).status == 404
    admin = api.mine.clients[Role.ADMIN]
    given = admin.post(path_of(api), {"email": row["email"], "level": "VIEW"})
    assert given.status == 201
    assert given.json == {
        "userId": str(user_id),
        "email": row["email"],
        "name": "Person",
        "level": "VIEW",
        "createdAt": given.json["createdAt"],
    }
    assert api.mine.viewer.get(path_of(api)).json == {"data": [given.json], "nextCursor": None}
    assert client.get(api.mine.automations_path).status == 200
    changed = admin.post(path_of(api), {"email": row["email"], "level": "EDIT"})
    assert (changed.status, changed.json["level"]) == (201, "EDIT")
    assert admin.delete(f"{path_of(api)}/{user_id}").status == 204
    assert client.get(api.mine.automations_path).status == 404
    assert admin.delete(f"{path_of(api)}/{user_id}").status == 404
    rows = admin.get(f"/workspaces/{api.mine.workspace_id}/audit").json["data"]
    assert [(one["action"], one["resource"]["id"]) for one in rows] == [
        ("grant.removed", str(user_id)),
        ("grant.added", str(user_id)),
        ("grant.added", str(user_id)),
    ]


def test_a_grant_to_an_unknown_address_waits_for_its_person(api: Api) -> None:
    given = api.mine.owner.post(path_of(api), {"email": "new@example.test", "level": "EDIT"})
    assert (given.status, given.json["name"]) == (201, None)


@pytest.mark.parametrize(
    "body",
    [
        {"email": "a@b.test"},
        {"email": "a@b.test", "level": "ADMIN"},
        {"email": "nobody", "level": "VIEW"},
        {"level": "VIEW"},
    ],
)
def test_a_bad_grant_is_422(api: Api, body: Any) -> None:
    answer = api.mine.owner.post(path_of(api), body)
    assert (answer.status, answer.code) == (422, "VALIDATION_FAILED")


def test_a_grant_gives_no_say_over_grants(api: Api, guest: Client) -> None:
    body = {"email": "a@b.test", "level": "EDIT"}
    assert guest.get(path_of(api)).status == 404
    assert guest.post(path_of(api), body).status == 404
    assert api.mine.editor.post(path_of(api), body).status == 403
