"""Versions of an automation over HTTP: the history, one snapshot, and the way back to it."""

import base64
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from http_api import paging
from tests.integration.http_api.client import (
    CREATED_TRIGGER,
    NOTIFY,
    WEBHOOK_TRIGGER,
    Api,
    Client,
)
from whenthen.store.paging import Position

PAGE_TRIGGER = {"type": "PAGE_CREATED", "config": {}}
CONDITION = {"field": {"ref": "event", "path": "a"}, "operator": "eq", "value": 1}


def path_to(automation: Any, *parts: object) -> str:
    return "/".join(["/automations", automation["id"], *map(str, parts)])


def restore(api: Api, automation: Any, version: int, client: Client | None = None) -> Any:
    return (client or api.mine.editor).post(path_to(automation, "versions", version, "restore"))


def rename(api: Api, automation: Any, *names: str) -> None:
    for name in names:
        assert api.mine.editor.patch(path_to(automation), {"name": name}).status == 200


def edited(api: Api, automation: Any, part: str, value: Any) -> Any:
    key = {"triggers": "triggers", "conditions": "condition", "actions": "actions"}[part]
    answer = api.mine.editor.put(path_to(automation, part), {key: value})
    assert answer.status == 200, answer.text
    return answer.json


def definition(automation: Any) -> Any:
    return {key: automation[key] for key in ("name", "databaseId", "triggers", "condition")}


def trigger_ids(api: Api, automation: Any) -> list[UUID]:
    rows = api.sql(
        "select id from automation_triggers where automation_id = :a order by position",
        a=UUID(automation["id"]),
    )
    return [row["id"] for row in rows]


def test_each_change_is_a_version_and_the_newest_comes_first(api: Api) -> None:
    made = api.mine.create_automation(triggers=[CREATED_TRIGGER], actions=[NOTIFY])
    rename(api, made, "B", "C")
    body = api.mine.viewer.get(path_to(made, "versions")).json
    assert [row["version"] for row in body["data"]] == [3, 2, 1]
    assert body["nextCursor"] is None
    assert list(body["data"][0]) == ["version", "createdAt", "createdById"]
    assert body["data"][0]["createdById"] == made["createdById"]


def test_a_version_is_the_snapshot_of_that_time(api: Api) -> None:
    made = api.mine.create_automation(
        databaseId=str(api.mine.database_id),
        triggers=[CREATED_TRIGGER],
        condition=CONDITION,
        actions=[NOTIFY],
    )
    rename(api, made, "B")
    edited(api, made, "conditions", None)
    first = api.mine.viewer.get(path_to(made, "versions", 1)).json
    assert first == {
        "version": 1,
        "createdAt": first["createdAt"],
        "createdById": made["createdById"],
        "name": "Triage",
        "databaseId": str(api.mine.database_id),
        "triggers": [CREATED_TRIGGER],
        "condition": CONDITION,
        "actions": made["actions"],
    }
    assert api.mine.viewer.get(path_to(made, "versions", 2)).json["name"] == "B"


def test_a_version_that_is_not_there_is_404(api: Api) -> None:
    made = api.mine.create_automation()
    for number in ("0", "2", "-1", "1.0", "01", "x", "\uff11", "9" * 9, "9" * 10, "9" * 5000):
        for answer in (
            api.mine.viewer.get(path_to(made, "versions", number)),
            api.mine.editor.post(path_to(made, "versions", number, "restore")),
        ):
            assert answer.status == 404, number
            assert answer.error == {"code": "NOT_FOUND", "message": "not found"}


def test_case_104_versions_are_paged_each_once_while_new_ones_come(api: Api) -> None:
    made = api.mine.create_automation()
    rename(api, made, *"BCDEFG")
    # As if the clock had stood still, or had been set back in between.
    api.sql("update automation_versions set created_at = '2026-01-01Z' where version <> 4")
    seen: list[int] = []
    query = {"limit": "3"}
    while True:
        body = api.mine.viewer.get(path_to(made, "versions"), **query).json
        seen += [row["version"] for row in body["data"]]
        if body["nextCursor"] is None:
            break
        query["cursor"] = body["nextCursor"]
        rename(api, made, f"later {len(seen)}")
    assert seen == [7, 6, 5, 4, 3, 2, 1]


def test_a_cursor_of_another_automation_or_a_forged_one_is_no_500(api: Api) -> None:
    made, other = api.mine.create_automation(), api.mine.create_automation()
    rename(api, made, "B")
    cursor = api.mine.viewer.get(path_to(made, "versions"), limit="1").json["nextCursor"]
    refused = api.mine.viewer.get(path_to(other, "versions"), cursor=cursor)
    assert (refused.status, refused.code) == (400, "BAD_CURSOR")
    forged = paging._write(
        Position(datetime(2026, 1, 1, tzinfo=UTC), UUID(int=2**128 - 1)), f"versions:{made['id']}"
    )
    assert base64.urlsafe_b64decode(forged + "==")
    shown = api.mine.viewer.get(path_to(made, "versions"), cursor=forged).json["data"]
    assert [row["version"] for row in shown] == [2, 1]


def test_restoring_makes_a_new_version_that_equals_the_old_one(api: Api) -> None:
    made = api.mine.create_automation(
        databaseId=str(api.mine.database_id),
        description="old",
        triggers=[CREATED_TRIGGER, PAGE_TRIGGER],
        condition=CONDITION,
        actions=[NOTIFY, NOTIFY],
    )
    api.mine.editor.patch(path_to(made), {"name": "B", "description": "new", "databaseId": None})
    edited(api, made, "triggers", [PAGE_TRIGGER])
    edited(api, made, "conditions", None)
    edited(api, made, "actions", [made["actions"][1]])
    answer = restore(api, made, 1)
    assert answer.status == 200
    assert answer.json["version"] == 6
    assert definition(answer.json) == definition(made)
    assert answer.json["actions"] == made["actions"]
    # Of the description versions know nothing.
    assert answer.json["description"] == "new"
    assert answer.json == api.mine.viewer.get(path_to(made)).json
    first, sixth = (
        api.mine.viewer.get(path_to(made, "versions", number)).json for number in (1, 6)
    )
    assert {**sixth, "version": 1, "createdAt": first["createdAt"]} == first


def test_restoring_what_is_already_so_changes_nothing(api: Api) -> None:
    made = api.mine.create_automation(triggers=[CREATED_TRIGGER], actions=[NOTIFY])
    before = trigger_ids(api, made)
    assert restore(api, made, 1).json == api.mine.viewer.get(path_to(made)).json
    rename(api, made, "B")
    edited(api, made, "conditions", CONDITION)
    assert restore(api, made, 3).json["version"] == 3
    assert trigger_ids(api, made) == before


def test_restored_triggers_keep_the_ids_of_their_kind(api: Api) -> None:
    made = api.mine.create_automation(triggers=[CREATED_TRIGGER, PAGE_TRIGGER])
    created, _ = trigger_ids(api, made)
    edited(api, made, "triggers", [CREATED_TRIGGER])
    restore(api, made, 1)
    kept, fresh = trigger_ids(api, made)
    assert kept == created
    edited(api, made, "triggers", [PAGE_TRIGGER, CREATED_TRIGGER])
    restore(api, made, 1)
    assert trigger_ids(api, made) == [kept, fresh]


def test_restoring_rearms_as_the_edit_itself_would(api: Api) -> None:
    parts: list[tuple[str, Any, bool]] = [
        ("triggers", [PAGE_TRIGGER], True),
        ("conditions", CONDITION, False),
        ("actions", [NOTIFY], False),
    ]
    for part, value, rearms in parts:
        made = api.mine.create_automation(triggers=[CREATED_TRIGGER])
        api.mine.editor.post(path_to(made, "status"), {"status": "ACTIVE"})
        edited(api, made, part, value)
        before = active_since(api, made)
        restore(api, made, 1)
        assert (active_since(api, made) != before) is rearms, part


def test_restoring_another_database_rearms_and_moves_the_triggers(api: Api) -> None:
    made = api.mine.create_automation(
        databaseId=str(api.mine.database_id), triggers=[CREATED_TRIGGER]
    )
    api.mine.editor.post(path_to(made, "status"), {"status": "ACTIVE"})
    api.mine.editor.patch(path_to(made), {"databaseId": None})
    before = active_since(api, made)
    assert restore(api, made, 1).json["databaseId"] == str(api.mine.database_id)
    assert active_since(api, made) > before
    (row,) = api.sql("select scope_id from automation_triggers")
    assert row["scope_id"] == api.mine.database_id


def active_since(api: Api, automation: Any) -> Any:
    (row,) = api.sql("select active_since from automations where id = :a", a=UUID(automation["id"]))
    return row["active_since"]


def test_a_webhook_that_had_gone_gets_a_new_secret_shown_once(api: Api) -> None:
    made = api.mine.create_automation(triggers=[WEBHOOK_TRIGGER])
    edited(api, made, "triggers", [CREATED_TRIGGER])
    back = restore(api, made, 1).json
    assert set(back["webhook"]) == {"url", "secret"}
    assert back["webhook"]["secret"] != made["webhook"]["secret"]
    again = restore(api, made, 1).json
    assert "webhook" not in again
    assert again["version"] == back["version"]


def test_a_webhook_that_is_still_there_keeps_its_secret(api: Api) -> None:
    made = api.mine.create_automation(triggers=[WEBHOOK_TRIGGER])
    (before,) = api.sql("select secret_hash from automation_triggers")
    edited(api, made, "triggers", [{**WEBHOOK_TRIGGER, "config": {"requireSignature": True}}])
    assert "webhook" not in restore(api, made, 1).json
    (after,) = api.sql("select secret_hash, require_signature from automation_triggers")
    assert bytes(after["secret_hash"]) == bytes(before["secret_hash"])
    assert after["require_signature"] is False


def test_an_archived_automation_shows_its_versions_and_takes_none_back(api: Api) -> None:
    made = api.mine.create_automation()
    rename(api, made, "B")
    api.mine.editor.delete(path_to(made))
    assert api.mine.viewer.get(path_to(made, "versions")).status == 200
    answer = restore(api, made, 1)
    assert (answer.status, answer.error) == (
        409,
        {"code": "ARCHIVED", "message": "the automation is archived"},
    )


def test_a_version_whose_database_is_archived_cannot_come_back(api: Api) -> None:
    path = f"/workspaces/{api.mine.workspace_id}/databases"
    gone = api.mine.owner.post(path, {"name": "Gone"}).json["id"]
    made = api.mine.create_automation(databaseId=gone)
    api.mine.editor.patch(path_to(made), {"databaseId": None})
    api.mine.owner.patch(f"/databases/{gone}", {"archived": True})
    answer = restore(api, made, 1)
    assert (answer.status, answer.code) == (422, "DATABASE_UNKNOWN")
    assert api.mine.viewer.get(path_to(made)).json["version"] == 2


def test_a_definition_of_another_schema_is_refused_with_its_faults(api: Api) -> None:
    made = api.mine.create_automation(actions=[NOTIFY])
    rename(api, made, "B")
    api.sql(
        "update automation_versions set actions = jsonb_set(actions, '{0,type}', '\"MAKE_TEA\"')"
        " where version = 1"
    )
    answer = restore(api, made, 1)
    assert (answer.status, answer.code) == (422, "VALIDATION_FAILED")
    assert answer.error["details"][0]["path"] == "actions[0].type"


@pytest.fixture
def guest(api: Api) -> Client:
    """Holds EDIT on the Tickets database and nothing else."""
    user_id, client = api.new_person()
    api.grant(user_id, api.mine.database_id, "EDIT")
    return client


def test_a_grant_restores_only_what_it_could_have_sent(api: Api, guest: Client) -> None:
    path = f"/workspaces/{api.mine.workspace_id}/databases"
    elsewhere = api.mine.owner.post(path, {"name": "Elsewhere"}).json["id"]
    made = api.mine.create_automation(databaseId=str(api.mine.database_id))  # 1
    api.mine.editor.patch(path_to(made), {"databaseId": elsewhere})  # 2
    api.mine.editor.patch(path_to(made), {"databaseId": None})  # 3
    api.mine.editor.patch(path_to(made), {"databaseId": str(api.mine.database_id)})  # 4
    secret = {
        "type": "SEND_WEBHOOK",
        "config": {"url": "https://x.test", "headers": {"A": "{{secrets.KEY}}"}},
    }
    edited(api, made, "actions", [secret])  # 5
    edited(api, made, "triggers", [{**CREATED_TRIGGER, "config": {"databaseId": elsewhere}}])  # 6
    edited(api, made, "actions", [NOTIFY])  # 7
    answers = {number: restore(api, made, number, guest) for number in (2, 3, 5, 6, 1)}
    refused = {number: (one.status, one.code) for number, one in answers.items() if number != 1}
    assert refused == dict.fromkeys((2, 3, 5, 6), (403, "FORBIDDEN"))
    assert (answers[1].status, answers[1].json["version"]) == (200, 8)
