"""Who is behind a run: the user whose request made the event true, and nobody whom it names."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from tests.integration.conftest import Aws
from tests.integration.engine_world import arrival
from tests.integration.http_api.client import WEBHOOK_TRIGGER, Api, Client
from tests.integration.http_api.some_runs import execute
from whenthen.domain.kinds import Role
from whenthen.engine.match_events import match_events
from whenthen.engine.sweep import relay_outbox
from whenthen.store.new_id import new_id

TELL_ACTOR = {"type": "CREATE_NOTIFICATION", "config": {"title": "Hello", "audience": "actor"}}
TRIGGERS: list[dict[str, Any]] = [
    {"type": type_, "config": {}} for type_ in ("RECORD_CREATED", "RECORD_UPDATED", "PAGE_CREATED")
]


def activated(api: Api, *triggers: dict[str, Any]) -> Any:
    made = api.mine.create_automation(
        databaseId=str(api.mine.database_id), triggers=list(triggers), actions=[TELL_ACTOR]
    )
    api.mine.editor.post(f"/automations/{made['id']}/status", {"status": "ACTIVE"})
    return made


def let_it_run(api: Api, aws: Aws) -> list[Any]:
    """Match what is on the stream and execute the runs; return them."""
    match_events(api.context, [arrival(event) for event in aws.stream_records()], [])
    waiting = api.sql("select id from automation_runs where status = 'PENDING' order by id")
    execute(api, *[str(row["id"]) for row in waiting])
    return api.sql("select * from automation_runs order by id")


def told(api: Api) -> list[UUID]:
    return [row["user_id"] for row in api.sql("select user_id from notifications order by id")]


def create_record(api: Api, who: Client) -> None:
    path = f"/databases/{api.mine.database_id}/records"
    assert who.post(path, {"properties": {"Name": "x"}}).status == 201


def create_page(api: Api, who: Client) -> None:
    path = f"/workspaces/{api.mine.workspace_id}/pages"
    assert who.post(path, {"title": "x"}).status == 201


def submit_form(api: Api, who: Client) -> None:
    path = f"/databases/{api.mine.database_id}/forms/submissions"
    assert who.post(path, {"properties": {"Name": "x"}}).status == 201


@pytest.mark.parametrize("write", [create_record, create_page, submit_form])
def test_the_actor_of_a_write_is_who_made_the_request(
    api: Api, aws: Aws, write: Callable[[Api, Client], None]
) -> None:
    activated(api, *TRIGGERS)
    write(api, api.mine.clients[Role.ADMIN])
    assert [run["status"] for run in let_it_run(api, aws)] == ["SUCCEEDED"]
    assert told(api) == [api.mine.user_ids[Role.ADMIN]]


def test_the_actor_of_an_update_is_who_updated_and_not_who_created(api: Api, aws: Aws) -> None:
    record = api.mine.create_record(Name="x")
    activated(api, {"type": "RECORD_UPDATED", "config": {}})
    admin = api.mine.clients[Role.ADMIN]
    assert admin.patch(f"/records/{record['id']}", {"properties": {"Name": "y"}}).status == 200
    let_it_run(api, aws)
    assert told(api) == [api.mine.user_ids[Role.ADMIN]]


def test_the_actor_of_a_manual_run_is_who_started_it_whatever_its_input_says(
    api: Api, aws: Aws
) -> None:
    made = activated(api, *TRIGGERS)
    forged = {"input": {"actorId": str(api.mine.user_ids[Role.OWNER])}}
    assert api.mine.editor.post(f"/automations/{made['id']}/run", forged).status == 202
    let_it_run(api, aws)
    assert told(api) == [api.mine.user_ids[Role.EDITOR]]


def test_an_actor_survives_a_lost_put_and_is_no_part_of_the_event(api: Api, aws: Aws) -> None:
    activated(api, *TRIGGERS)
    create_record(api, api.mine.editor)
    api.sql("update outbox set relay_at = whenthen_now()")
    relay_outbox(api.context, lambda: True)
    (first, again) = aws.stream_records()
    assert first == again
    assert first["actorId"] == str(api.mine.user_ids[Role.EDITOR])
    (run,) = let_it_run(api, aws)
    assert "actorId" not in {*run["input"], *run["input"]["payload"]}
    assert told(api) == [api.mine.user_ids[Role.EDITOR]]


def test_a_host_says_itself_who_acted(api: Api, aws: Aws) -> None:
    activated(api, *TRIGGERS)
    viewer = api.mine.user_ids[Role.VIEWER]
    payload = {"databaseId": str(api.mine.database_id), "recordId": "7", "actorId": str(viewer)}
    path = f"/workspaces/{api.mine.workspace_id}/events"
    assert api.mine.editor.post(path, {"type": "record.created", "payload": payload}).status == 202
    let_it_run(api, aws)
    assert told(api) == [viewer]


@pytest.mark.parametrize("place", ["body", "payload of the body"])
def test_what_a_webhook_names_is_nobody(api: Api, aws: Aws, place: str) -> None:
    made = activated(api, WEBHOOK_TRIGGER)
    named: dict[str, Any] = {"actorId": str(api.mine.user_ids[Role.OWNER])}
    if place != "body":
        named = {"payload": named}
    event = {
        "id": f"hook:{api.mine.workspace_id}:{made['id']}/1",
        "type": "webhook.received",
        "workspaceId": str(api.mine.workspace_id),
        "payload": {"automationId": made["id"], "body": named},
        "outboxId": str(new_id()),
    }
    match_events(api.context, [arrival(event)], [])
    (run,) = let_it_run(api, aws)
    assert (run["status"], run["error"]["code"], told(api)) == ("FAILED", "NOT_FOUND", [])


def test_the_events_of_an_automation_have_no_actor(api: Api, aws: Aws) -> None:
    made = api.mine.create_automation(
        actions=[{"type": "CREATE_PAGE", "config": {"title": "by itself"}}]
    )
    activated(api, *TRIGGERS)
    assert api.mine.editor.post(f"/automations/{made['id']}/run", {}).status == 202
    let_it_run(api, aws)
    (caused,) = [run for run in let_it_run(api, aws) if run["trigger_type"] == "page.created"]
    assert (caused["status"], caused["actor_id"]) == ("FAILED", None)
