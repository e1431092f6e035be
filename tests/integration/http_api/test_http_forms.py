"""Form submissions: a record and two events in one transaction."""

from typing import Any

import pytest

from tests.integration.conftest import Aws
from tests.integration.http_api.client import NOTIFY, Answer, Api
from tests.integration.http_api.hooks import activate, execute, match_outbox


def submit(api: Api, body: Any) -> Answer:
    return api.mine.editor.post(f"/databases/{api.mine.database_id}/forms/submissions", body)


def test_a_submission_is_a_record_and_two_events(api: Api, aws: Aws) -> None:
    answer = submit(api, {"properties": {"Name": "Tap", "Status": "A"}})
    assert answer.status == 201
    record = api.mine.viewer.get(f"/records/{answer.json['recordId']}").json
    assert record["properties"] == {"Name": "Tap", "Status": "A"}
    events = {event["id"]: event for event in aws.stream_records()}
    first, second = (events[id_] for id_ in answer.json["eventIds"])
    assert (first["type"], second["type"]) == ("form.submitted", "record.created")
    assert first["payload"] == second["payload"]
    assert first["payload"]["recordId"] == answer.json["recordId"]


def test_both_kinds_of_triggers_listen_to_it(api: Api) -> None:
    for type_ in ("FORM_SUBMITTED", "RECORD_CREATED", "RECORD_UPDATED"):
        made = api.mine.create_automation(
            databaseId=str(api.mine.database_id),
            triggers=[{"type": type_, "config": {}}],
            actions=[NOTIFY],
        )
        activate(api, made["id"])
    submit(api, {"properties": {"Name": "Tap"}})
    match_outbox(api)
    execute(api)
    rows = api.sql("select trigger_type, status from automation_runs order by trigger_type")
    assert [tuple(row.values()) for row in rows] == [
        ("form.submitted", "SUCCEEDED"),
        ("record.created", "SUCCEEDED"),
    ]


INVALID: list[tuple[Any, str]] = [
    ({}, "properties"),
    ({"properties": []}, "properties"),
    ({"properties": {"Status": "Z"}}, "properties.Status"),
    ({"properties": {"Nope": 1}}, "properties.Nope"),
]


@pytest.mark.parametrize(("body", "at"), INVALID)
def test_what_does_not_fit_is_422_and_leaves_nothing(api: Api, body: Any, at: str) -> None:
    answer = submit(api, body)
    assert (answer.status, answer.code) == (422, "VALIDATION_FAILED")
    assert [detail["path"] for detail in answer.error["details"]] == [at]
    assert api.sql("select 1 from records") == api.sql("select 1 from outbox") == []


def test_an_archived_database_takes_none(api: Api) -> None:
    api.mine.owner.patch(f"/databases/{api.mine.database_id}", {"archived": True})
    answer = submit(api, {"properties": {}})
    assert (answer.status, answer.code) == (409, "ARCHIVED")


def test_case_101_unfit_characters_are_replaced_and_flagged(api: Api) -> None:
    answer = submit(api, '{"properties": {"Name": "a\\u0000b"}}')
    assert answer.status == 201
    (row,) = api.sql("select payload from outbox where type = 'form.submitted'")
    assert row["payload"]["properties"] == {"Name": "a\ufffdb"}
    assert row["payload"]["sanitized"] is True
