"""The events route: what a host reports, taken whole or not at all."""

from typing import Any
from uuid import uuid4

import pytest

from tests.integration.conftest import Aws
from tests.integration.http_api.client import NOTIFY, Answer, Api
from tests.integration.http_api.hooks import activate, execute, match_outbox
from whenthen.domain import json_text
from whenthen.domain.schemas.host_events import EVENTS_MAX


def report(api: Api, body: Any, **headers: str) -> Answer:
    path = f"/workspaces/{api.mine.workspace_id}/events"
    return api.mine.editor.post(path, body, **headers)


def created(api: Api, **more: Any) -> dict[str, Any]:
    payload = {"databaseId": str(api.mine.database_id), "recordId": str(uuid4())}
    return {"type": "record.created", "payload": payload, **more}


def outbox(api: Api) -> list[Any]:
    return api.sql("select * from outbox order by occurred_at, id")


def test_one_event_gets_an_id_and_goes_to_outbox_and_stream(api: Api, aws: Aws) -> None:
    event = created(api, id="order-17")
    answer = report(api, event)
    id_ = f"evt:{api.mine.workspace_id}:order-17"
    assert (answer.status, answer.json) == (202, {"eventIds": [id_]})
    (row,) = outbox(api)
    assert (row["event_id"], row["type"], row["payload"]) == (
        id_,
        "record.created",
        event["payload"],
    )
    (record,) = aws.stream_records()
    assert (record["id"], record["outboxId"]) == (id_, str(row["id"]))
    assert record["automationContext"] is None


def test_a_list_answers_in_its_order_and_without_ids_of_its_own_gets_fresh_ones(api: Api) -> None:
    events = [created(api, id="b"), created(api), created(api, id="a"), created(api)]
    ids = report(api, events).json["eventIds"]
    prefix = f"evt:{api.mine.workspace_id}:"
    assert [ids[0], ids[2]] == [f"{prefix}b", f"{prefix}a"]
    assert len({*ids}) == 4
    assert {row["event_id"] for row in outbox(api)} == {*ids}
    assert report(api, []).json == {"eventIds": []}


@pytest.mark.parametrize(
    "type_", ["record.created", "record.updated", "page.created", "form.submitted"]
)
def test_the_four_types_of_hosts_are_taken(api: Api, type_: str) -> None:
    assert report(api, {"type": type_, "payload": {}}).status == 202


@pytest.mark.parametrize(
    "type_", ["webhook.received", "automation.executed", "schedule", "manual", "", "RECORD.CREATED"]
)
def test_any_other_type_is_refused_with_its_place(api: Api, type_: str) -> None:
    answer = report(api, [created(api), {"type": type_, "payload": {}}])
    assert (answer.status, answer.code) == (422, "EVENT_TYPE_UNKNOWN")
    assert [detail["path"] for detail in answer.error["details"]] == ["[1].type"]
    assert outbox(api) == []


def test_case_113_a_foreign_and_an_unknown_database_are_refused_alike(api: Api) -> None:
    archived = api.mine.owner.post(
        f"/workspaces/{api.mine.workspace_id}/databases", {"name": "Old"}
    ).json["id"]
    api.mine.owner.patch(f"/databases/{archived}", {"archived": True})
    others: list[Any] = [str(api.other.database_id), str(uuid4()), archived, "x", 7, [], ""]
    answers = [
        report(api, [created(api), {"type": "form.submitted", "payload": {"databaseId": named}}])
        for named in others
    ]
    assert [(answer.status, answer.code) for answer in answers] == [
        (422, "DATABASE_UNKNOWN")
    ] * len(answers)
    assert len({json_text.dumps(answer.error) for answer in answers}) == 1
    assert answers[0].error["details"][0]["path"] == "[1].payload.databaseId"
    assert outbox(api) == []


def test_one_event_alone_is_refused_at_its_own_place(api: Api) -> None:
    answer = report(api, {"type": "record.created", "payload": {"databaseId": "x"}})
    assert answer.error["details"][0]["path"] == "payload.databaseId"
    assert report(api, {"type": "record.created"}).error["details"][0]["path"] == "payload"


INVALID: list[Any] = [
    None,
    7,
    "x",
    {},
    {"type": "page.created"},
    {"type": "page.created", "payload": []},
    {"type": "page.created", "payload": {}, "id": ""},
    {"type": "page.created", "payload": {}, "id": "x" * 256},
    {"type": "page.created", "payload": {}, "id": 7},
    {"type": "page.created", "payload": {}, "workspaceId": "x"},
    {"type": "page.created", "payload": {}, "occurredAt": "2020-01-01"},
    [{"type": "page.created", "payload": {}}, None],
    [{"type": "page.created", "payload": {}}] * (EVENTS_MAX + 1),
]


@pytest.mark.parametrize("body", INVALID, ids=lambda body: str(body)[:60])
def test_a_bad_body_is_422_and_nothing_is_taken(api: Api, body: Any) -> None:
    answer = report(api, json_text.dumps(body))
    assert (answer.status, answer.code) == (422, "VALIDATION_FAILED")
    assert outbox(api) == []


def test_five_hundred_events_are_taken_at_once(api: Api, aws: Aws) -> None:
    events = [created(api, id=f"e{n}") for n in range(EVENTS_MAX)]
    assert len(report(api, events).json["eventIds"]) == EVENTS_MAX
    assert len(outbox(api)) == EVENTS_MAX
    assert len(aws.stream_records()) == EVENTS_MAX


def listening(api: Api) -> str:
    trigger = {"type": "RECORD_CREATED", "config": {}}
    made = api.mine.create_automation(
        databaseId=str(api.mine.database_id), triggers=[trigger], actions=[NOTIFY]
    )
    activate(api, made["id"])
    return str(made["id"])


def test_a_client_id_that_comes_again_is_the_same_event_and_no_second_run(api: Api) -> None:
    listening(api)
    event = created(api, id="order-17")
    ids = report(api, [event, event]).json["eventIds"]
    assert ids[0] == ids[1]
    assert len(outbox(api)) == 1
    match_outbox(api)
    assert report(api, event).json["eventIds"] == ids[:1]
    match_outbox(api)
    assert len(api.sql("select 1 from automation_runs")) == 1
    assert outbox(api) == []


def test_client_ids_cannot_meet_those_of_another_tenant_or_of_the_engine(api: Api) -> None:
    listening(api)
    manual = f"manual:{api.mine.workspace_id}:{uuid4()}"
    ids = report(api, [created(api, id=manual), created(api, id="x")]).json["eventIds"]
    assert ids[0] == f"evt:{api.mine.workspace_id}:{manual}"
    event = {"type": "page.created", "payload": {}, "id": "x"}
    path = f"/workspaces/{api.other.workspace_id}/events"
    assert api.other.editor.post(path, event).json["eventIds"] != ids[1:]


def test_case_115_the_engines_fields_cannot_be_set_from_outside(api: Api) -> None:
    automation_id = listening(api)
    context = {"automationId": automation_id, "depth": -99}
    event = created(api, automationContext=context)
    event["payload"] |= {
        "type": "schedule",
        "workspaceId": str(api.other.workspace_id),
        "automationContext": context,
    }
    assert report(api, event).status == 202
    (row,) = outbox(api)
    assert row["automation_context"] is None
    match_outbox(api)
    execute(api)
    (run,) = api.sql("select * from automation_runs")
    assert (run["workspace_id"], run["depth"], run["status"]) == (
        api.mine.workspace_id,
        0,
        "SUCCEEDED",
    )
    path = f"/automations/{automation_id}/runs/{run['id']}"
    seen = api.mine.viewer.get(path).json["input"]
    assert (seen["type"], seen["workspaceId"], seen["automationContext"]) == (
        "record.created",
        str(api.mine.workspace_id),
        None,
    )


def test_case_098_a_payload_above_64_kb_is_cut_and_says_so(api: Api) -> None:
    event = created(api)
    event["payload"] |= {"note": "x" * 70_000, "small": 1}
    assert report(api, event).status == 202
    (row,) = outbox(api)
    assert row["payload"]["truncated"] is True
    assert row["payload"]["databaseId"] == str(api.mine.database_id)
    assert len(json_text.dumps(row["payload"]).encode()) <= 64 * 1024
    event["payload"]["note"] = "x" * 1_100_000
    assert report(api, event).status == 413


def test_case_101_case_102_unfit_characters_are_replaced_and_flagged(api: Api) -> None:
    listening(api)
    database_id = str(api.mine.database_id)
    body = (
        '{"type": "record.created", "payload": {"databaseId": "%s",'
        ' "note": "a\\u0000b", "k\\u0000": "\\ud800"}}'
    )
    assert report(api, body % database_id).status == 202
    match_outbox(api)
    execute(api)
    (run,) = api.sql("select * from automation_runs")
    assert run["status"] == "SUCCEEDED"
    path = f"/automations/{run['automation_id']}/runs/{run['id']}"
    seen = api.mine.viewer.get(path).json["input"]
    assert (seen["note"], seen["k\ufffd"], seen["sanitized"]) == ("a\ufffdb", "\ufffd", True)


def test_a_viewer_reports_nothing(api: Api) -> None:
    path = f"/workspaces/{api.mine.workspace_id}/events"
    assert api.mine.viewer.post(path, created(api)).status == 403


def test_the_events_of_a_repeated_key_are_taken_once(api: Api) -> None:
    key = {"idempotency-key": "k"}
    event = created(api)
    assert report(api, event, **key).json == report(api, event, **key).json
    assert len(outbox(api)) == 1
