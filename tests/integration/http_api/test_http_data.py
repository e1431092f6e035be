"""Databases, records, pages, the caller and their notifications over HTTP."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.integration.conftest import Aws
from tests.integration.http_api.client import Api
from whenthen.domain.kinds import Role
from whenthen.store.new_id import new_id


def records_path(api: Api) -> str:
    return f"/databases/{api.mine.database_id}/records"


def outbox(api: Api) -> list[Any]:
    return api.sql("select type, payload, event_id, id from outbox order by id")


def test_a_database_is_made_read_and_listed(api: Api) -> None:
    path = f"/workspaces/{api.mine.workspace_id}/databases"
    body = {"name": "Tasks", "properties": [{"name": "Title", "type": "text"}]}
    answer = api.mine.owner.post(path, body)
    assert answer.status == 201
    made = answer.json
    assert list(made) == [
        "id",
        "workspaceId",
        "name",
        "properties",
        "archivedAt",
        "createdAt",
        "updatedAt",
    ]
    assert (made["name"], made["properties"], made["archivedAt"]) == (
        "Tasks",
        [{"name": "Title", "type": "text"}],
        None,
    )
    assert api.mine.viewer.get(f"/databases/{made['id']}").json == made
    listed = api.mine.viewer.get(path).json
    assert [row["id"] for row in listed["data"]] == [made["id"], str(api.mine.database_id)]
    first = api.mine.viewer.get(path, limit="1").json
    rest = api.mine.viewer.get(path, limit="1", cursor=first["nextCursor"]).json
    assert [row["id"] for row in rest["data"]] == [str(api.mine.database_id)]


def test_a_database_patch_changes_what_it_names(api: Api) -> None:
    path = f"/databases/{api.mine.database_id}"
    before = api.mine.owner.get(path).json
    renamed = api.mine.owner.patch(path, {"name": "Issues"}).json
    assert (renamed["name"], renamed["properties"]) == ("Issues", before["properties"])
    archived = api.mine.owner.patch(path, {"archived": True}).json
    assert archived["archivedAt"] is not None
    again = api.mine.owner.patch(path, {"archived": True}).json
    assert again == archived
    back = api.mine.owner.patch(path, {"archived": False, "properties": []}).json
    assert (back["archivedAt"], back["properties"]) == (None, [])


def test_a_select_value_is_stored_as_its_name_whichever_was_given(api: Api) -> None:
    schema = api.mine.owner.get(f"/databases/{api.mine.database_id}").json["properties"]
    options = next(one["options"] for one in schema if one["name"] == "Status")
    record = api.mine.create_record(Status=options[1]["id"])
    assert record["properties"] == {"Status": "B"}


def test_a_new_record_is_shown_and_emitted(api: Api, aws: Aws) -> None:
    answer = api.mine.editor.post(
        records_path(api), {"properties": {"Name": "Tap", "Status": "B", "Done": None}}
    )
    assert answer.status == 201
    record = answer.json
    assert list(record) == ["id", "databaseId", "properties", "version", "createdAt", "updatedAt"]
    assert (record["properties"], record["version"]) == ({"Name": "Tap", "Status": "B"}, 1)
    assert api.mine.viewer.get(f"/records/{record['id']}").json == record
    (row,) = outbox(api)
    payload = {
        "databaseId": str(api.mine.database_id),
        "recordId": record["id"],
        "recordVersion": 1,
        "properties": {"Name": "Tap", "Status": "B"},
    }
    assert (row["type"], row["payload"]) == ("record.created", payload)
    (event,) = aws.stream_records()
    assert (event["id"], event["outboxId"], event["payload"]) == (
        row["event_id"],
        str(row["id"]),
        payload,
    )
    assert event["automationContext"] is None


def test_a_record_patch_merges_clears_and_emits_what_changed(api: Api) -> None:
    record = api.mine.create_record(Name="Tap", Status="A", Priority=1)
    answer = api.mine.editor.patch(
        f"/records/{record['id']}", {"properties": {"Status": "B", "Priority": None, "Name": "Tap"}}
    )
    assert answer.status == 200
    assert answer.json["properties"] == {"Name": "Tap", "Status": "B"}
    assert answer.json["version"] == 2
    _, row = outbox(api)
    assert row["type"] == "record.updated"
    assert row["payload"]["changedProperties"] == ["Priority", "Status"]
    assert row["payload"]["previous"] == {"Priority": 1, "Status": "A"}
    assert row["payload"]["recordVersion"] == 2


@pytest.mark.parametrize("values", [{}, {"Name": "Tap"}, {"Done": None}, {"Priority": "1.0"}])
def test_a_record_patch_that_changes_nothing_writes_and_emits_nothing(
    api: Api, values: Any
) -> None:
    record = api.mine.create_record(Name="Tap", Priority=1)
    answer = api.mine.editor.patch(f"/records/{record['id']}", {"properties": values})
    assert (answer.status, answer.json) == (200, record)
    assert len(outbox(api)) == 1


def test_a_record_is_deleted_without_an_event(api: Api) -> None:
    record = api.mine.create_record(Name="Tap")
    path = f"/records/{record['id']}"
    assert api.mine.editor.delete(path).status == 204
    assert api.mine.editor.delete(path).status == 404
    assert api.mine.editor.get(path).status == 404
    assert len(outbox(api)) == 1


def test_records_are_listed_in_pages_newest_first(api: Api) -> None:
    ids = [api.mine.create_record(Priority=n)["id"] for n in range(3)]
    first = api.mine.viewer.get(records_path(api), limit="2").json
    second = api.mine.viewer.get(records_path(api), limit="2", cursor=first["nextCursor"]).json
    assert [row["id"] for row in first["data"] + second["data"]] == ids[::-1]
    assert second["nextCursor"] is None


@pytest.mark.parametrize(
    ("values", "path"),
    [
        ({"Nobody": 1}, "properties.Nobody"),
        ({"Status": "Z"}, "properties.Status"),
        ({"Name": 1}, "properties.Name"),
        ({"Done": "true"}, "properties.Done"),
        ({"Priority": True}, "properties.Priority"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_its_path(api: Api, values: Any, path: str) -> None:
    record = api.mine.create_record(Name="Tap")
    for answer in (
        api.mine.editor.post(records_path(api), {"properties": values}),
        api.mine.editor.patch(f"/records/{record['id']}", {"properties": values}),
    ):
        assert (answer.status, answer.code) == (422, "VALIDATION_FAILED")
        assert [detail["path"] for detail in answer.error["details"]] == [path]
    assert len(outbox(api)) == 1


def test_a_person_is_a_member_of_the_workspace(api: Api) -> None:
    member = str(api.mine.user_ids[Role.VIEWER])
    stranger = str(api.other.user_ids[Role.VIEWER])
    assert api.mine.create_record(Owner=member)["properties"] == {"Owner": member}
    answer = api.mine.editor.post(records_path(api), {"properties": {"Owner": stranger}})
    assert answer.status == 422


def test_an_archived_database_takes_no_new_record(api: Api) -> None:
    api.mine.owner.patch(f"/databases/{api.mine.database_id}", {"archived": True})
    answer = api.mine.editor.post(records_path(api), {"properties": {}})
    assert (answer.status, answer.code) == (409, "ARCHIVED")


def test_the_records_of_an_archived_database_are_read_and_not_written(api: Api) -> None:
    record = api.mine.create_record(Name="Tap")
    path, database = f"/records/{record['id']}", f"/databases/{api.mine.database_id}"
    api.mine.owner.patch(database, {"archived": True})
    for answer in (
        api.mine.editor.patch(path, {"properties": {"Name": "Pipe"}}),
        api.mine.editor.patch(path, {"properties": {}}),
        api.mine.editor.delete(path),
    ):
        assert (answer.status, answer.code) == (409, "ARCHIVED")
    assert api.mine.viewer.get(path).json == record
    api.mine.owner.patch(database, {"archived": False})
    assert api.mine.editor.patch(path, {"properties": {"Name": "Pipe"}}).status == 200
    assert api.mine.editor.delete(path).status == 204
    assert api.mine.editor.delete(path).status == 404


def test_a_record_is_durable_when_the_stream_cannot_be_reached(api: Api, aws: Aws) -> None:
    aws.kinesis.delete_stream(StreamName=aws.stream)
    api.mine.create_record(Name="Tap")
    assert [row["type"] for row in outbox(api)] == ["record.created"]


def test_case_098_a_large_record_is_stored_whole_and_its_event_is_cut(api: Api) -> None:
    name = "x" * (70 * 1024)
    record = api.mine.create_record(Name=name)
    assert record["properties"]["Name"] == name
    (row,) = api.sql("select payload, octet_length(payload::text) as size from outbox")
    assert row["payload"]["truncated"] is True
    assert row["payload"]["recordId"] == record["id"]
    assert row["size"] <= 66 * 1024  # Postgres writes jsonb with spaces


def test_a_page_is_made_below_another_read_and_listed(api: Api, aws: Aws) -> None:
    path = f"/workspaces/{api.mine.workspace_id}/pages"
    parent = api.mine.editor.post(path, {"title": "Parent"}).json
    answer = api.mine.editor.post(
        path, {"title": "Child", "parentId": parent["id"], "content": "Text"}
    )
    assert answer.status == 201
    child = answer.json
    assert list(child) == ["id", "workspaceId", "title", "parentId", "content", "createdAt"]
    assert (child["title"], child["parentId"], child["content"]) == ("Child", parent["id"], "Text")
    assert api.mine.viewer.get(f"/pages/{child['id']}").json == child
    listed = api.mine.viewer.get(path).json["data"]
    assert [row["id"] for row in listed] == [child["id"], parent["id"]]
    assert [(event["type"], event["payload"]["pageId"]) for event in aws.stream_records()] == [
        ("page.created", parent["id"]),
        ("page.created", child["id"]),
    ]


def test_a_parent_is_a_page_of_the_same_workspace(api: Api) -> None:
    foreign = api.other.editor.post(
        f"/workspaces/{api.other.workspace_id}/pages", {"title": "Theirs"}
    ).json["id"]
    path = f"/workspaces/{api.mine.workspace_id}/pages"
    answers = [
        api.mine.editor.post(path, {"title": "Mine", "parentId": parent})
        for parent in (foreign, str(uuid4()))
    ]
    assert {answer.status for answer in answers} == {422}
    assert answers[0].error == answers[1].error
    assert answers[0].error["details"][0]["path"] == "parentId"


def test_the_caller_sees_themselves_and_their_workspaces(api: Api) -> None:
    me = api.mine.owner.get("/me").json
    assert list(me) == ["id", "email", "name", "workspaces"]
    assert me["id"] == str(api.mine.user_ids[Role.OWNER])
    assert me["workspaces"] == [
        {"id": str(api.mine.workspace_id), "name": "Workspace", "role": "OWNER"}
    ]


def test_a_person_without_membership_has_no_workspaces(api: Api) -> None:
    _, client = api.new_person()
    assert client.get("/me").json["workspaces"] == []


def notify(api: Api, user_id: UUID, title: str) -> str:
    notification_id = new_id()
    api.sql(
        "insert into notifications (id, workspace_id, user_id, title) values (:n, :w, :u, :t)",
        n=notification_id,
        w=api.mine.workspace_id,
        u=user_id,
        t=title,
    )
    return str(notification_id)


def test_notifications_are_listed_and_read_once(api: Api) -> None:
    user_id = api.mine.user_ids[Role.VIEWER]
    older, newer = notify(api, user_id, "Older"), notify(api, user_id, "Newer")
    listed = api.mine.viewer.get("/me/notifications").json["data"]
    assert [(row["id"], row["title"], row["readAt"]) for row in listed] == [
        (newer, "Newer", None),
        (older, "Older", None),
    ]
    assert list(listed[0]) == [
        "id",
        "workspaceId",
        "title",
        "body",
        "runId",
        "readAt",
        "createdAt",
    ]
    path = f"/me/notifications/{older}/read"
    read = api.mine.viewer.post(path)
    assert read.status == 200
    assert read.json["readAt"] is not None
    assert api.mine.viewer.post(path).json == read.json


def test_another_persons_notification_is_not_found(api: Api) -> None:
    theirs = notify(api, api.mine.user_ids[Role.OWNER], "Theirs")
    answers = [
        api.mine.viewer.post(f"/me/notifications/{name}/read") for name in (theirs, uuid4(), "x")
    ]
    assert {answer.status for answer in answers} == {404}
    assert api.mine.viewer.get("/me/notifications").json["data"] == []


def test_who_has_left_a_workspace_no_longer_sees_its_notifications(api: Api) -> None:
    user_id = api.mine.user_ids[Role.VIEWER]
    notification_id = notify(api, user_id, "Hello")
    api.sql("delete from members where user_id = :u", u=user_id)
    assert api.mine.viewer.get("/me/notifications").json["data"] == []
    assert api.mine.viewer.post(f"/me/notifications/{notification_id}/read").status == 404
