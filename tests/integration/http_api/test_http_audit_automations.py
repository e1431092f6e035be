"""What the audit log keeps of what people do to automations."""

from typing import Any

from tests.integration.http_api.client import CREATED_TRIGGER, NOTIFY, Api
from tests.integration.http_api.some_runs import audited
from whenthen.domain.kinds import Role

CONDITION = {"field": {"ref": "event", "path": "a"}, "operator": "eq", "value": 1}


def test_every_write_to_an_automation_is_audited_with_who_did_it(api: Api) -> None:
    made = api.mine.create_automation()
    path = f"/automations/{made['id']}"
    editor = api.mine.editor
    writes: list[tuple[Any, str, dict[str, Any]]] = [
        (editor.patch(path, {"name": "B"}), "updated", {"version": 2}),
        (
            editor.put(f"{path}/triggers", {"triggers": [CREATED_TRIGGER]}),
            "updated",
            {"version": 3},
        ),
        (editor.put(f"{path}/conditions", {"condition": CONDITION}), "updated", {"version": 4}),
        (editor.put(f"{path}/actions", {"actions": [NOTIFY]}), "updated", {"version": 5}),
        (editor.post(f"{path}/versions/1/restore"), "updated", {"version": 6, "restored": 1}),
        (
            editor.post(f"{path}/status", {"status": "ACTIVE"}),
            "status_changed",
            {"from": "DRAFT", "to": "ACTIVE"},
        ),
        (
            editor.post(f"{path}/status", {"status": "PAUSED"}),
            "status_changed",
            {"from": "ACTIVE", "to": "PAUSED"},
        ),
        (editor.delete(path), "archived", {"from": "PAUSED", "to": "ARCHIVED"}),
    ]
    assert {answer.status for answer, _, _ in writes} == {200, 204}
    assert audited(api) == [
        ("automation.created", f"automation:{made['id']}", {"name": "Triage"}),
        *((f"automation.{action}", f"automation:{made['id']}", data) for _, action, data in writes),
    ]
    rows = api.sql("select distinct workspace_id, actor_type, actor_id from audit_log")
    assert [tuple(row.values()) for row in rows] == [
        (api.mine.workspace_id, "USER", str(api.mine.user_ids[Role.EDITOR]))
    ]


def test_archiving_by_status_is_audited_as_archiving(api: Api) -> None:
    made = api.mine.create_automation()
    api.mine.editor.post(f"/automations/{made['id']}/status", {"status": "ARCHIVED"})
    assert audited(api)[-1] == (
        "automation.archived",
        f"automation:{made['id']}",
        {"from": "DRAFT", "to": "ARCHIVED"},
    )


def test_what_changes_nothing_or_is_refused_is_not_audited(api: Api) -> None:
    made = api.mine.create_automation(triggers=[CREATED_TRIGGER], actions=[NOTIFY])
    path = f"/automations/{made['id']}"
    editor = api.mine.editor
    quiet = [
        editor.patch(path, {}),
        editor.patch(path, {"name": "Triage"}),
        editor.put(f"{path}/triggers", {"triggers": [CREATED_TRIGGER]}),
        editor.put(f"{path}/conditions", {"condition": None}),
        editor.put(f"{path}/actions", {"actions": made["actions"]}),
        editor.post(f"{path}/versions/1/restore"),
        editor.post(f"{path}/status", {"status": "PAUSED"}),
        editor.post(api.mine.automations_path, {"name": ""}),
        api.mine.viewer.patch(path, {"name": "X"}),
        api.other.editor.patch(path, {"name": "X"}),
    ]
    assert [answer.status for answer in quiet] == [200] * 6 + [409, 422, 403, 404]
    assert [action for action, _, _ in audited(api)] == ["automation.created"]
    editor.delete(path)
    editor.delete(path)
    assert [action for action, _, _ in audited(api)][1:] == ["automation.archived"]


def test_the_entries_are_listed_by_the_audit_route(api: Api) -> None:
    made = api.mine.create_automation()
    path = f"/workspaces/{api.mine.workspace_id}/audit"
    (entry,) = api.mine.clients[Role.ADMIN].get(path).json["data"]
    assert (entry["action"], entry["resource"]) == (
        "automation.created",
        {"type": "automation", "id": made["id"]},
    )
