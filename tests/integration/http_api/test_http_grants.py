"""A person with a database grant but no role: what it opens, and what it must not."""

from typing import Any

import pytest

from tests.integration.http_api.client import CREATED_TRIGGER, NOTIFY, Api, Client


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
