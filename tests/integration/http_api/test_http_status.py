"""The status of automations over HTTP, and from when on they are active."""

from collections.abc import Callable
from itertools import product
from typing import Any

from tests.integration.http_api.client import CREATED_TRIGGER, NOTIFY, Answer, Api
from whenthen.domain.kinds import AutomationStatus

LEGAL = {
    ("DRAFT", "ACTIVE"),
    ("DRAFT", "ARCHIVED"),
    ("ACTIVE", "PAUSED"),
    ("ACTIVE", "ARCHIVED"),
    ("PAUSED", "ACTIVE"),
    ("PAUSED", "ARCHIVED"),
}
WAY_TO = {
    "DRAFT": [],
    "ACTIVE": ["ACTIVE"],
    "PAUSED": ["ACTIVE", "PAUSED"],
    "ARCHIVED": ["ARCHIVED"],
}


def test_the_status_machine_over_its_whole_product(api: Api) -> None:
    for from_, to in product(AutomationStatus, AutomationStatus):
        path = f"/automations/{api.mine.create_automation()['id']}/status"
        for step in WAY_TO[from_]:
            assert api.mine.editor.post(path, {"status": step}).status == 200
        answer = api.mine.editor.post(path, {"status": to})
        if (from_, to) in LEGAL:
            assert (answer.status, answer.json["status"]) == (200, to)
            assert answer.json["version"] == 1
        elif from_ == "ARCHIVED":
            assert (answer.status, answer.code) == (409, "ARCHIVED")
        else:
            reason = "no_op" if from_ == to else "invalid_transition"
            assert (answer.status, answer.code) == (409, "INVALID_TRANSITION")
            assert answer.error["details"] == {"reason": reason, "from": from_, "to": to}


def test_deleting_archives_and_deleting_again_is_no_error(api: Api) -> None:
    path = f"/automations/{api.mine.create_automation()['id']}"
    for _ in range(2):
        answer = api.mine.editor.delete(path)
        assert (answer.status, answer.text) == (204, "")
    assert api.mine.viewer.get(path).json["status"] == "ARCHIVED"


def test_every_write_to_an_archived_automation_is_a_conflict(api: Api) -> None:
    made = api.mine.create_automation()
    path = f"/automations/{made['id']}"
    api.mine.editor.delete(path)
    answers = [
        api.mine.editor.patch(path, {"name": "New"}),
        api.mine.editor.post(f"{path}/status", {"status": "ACTIVE"}),
        api.mine.editor.put(f"{path}/triggers", {"triggers": [CREATED_TRIGGER]}),
        api.mine.editor.put(f"{path}/conditions", {"condition": None}),
        api.mine.editor.put(f"{path}/actions", {"actions": [NOTIFY]}),
        api.mine.editor.post(f"{path}/run"),
    ]
    assert {(answer.status, answer.code) for answer in answers} == {(409, "ARCHIVED")}


def active_since(api: Api, automation_id: str) -> Any:
    (row,) = api.sql("select active_since from automations where id = :a", a=automation_id)
    return row["active_since"]


def test_an_automation_is_active_since_its_activation_or_rearming(api: Api) -> None:
    made = api.mine.create_automation(triggers=[CREATED_TRIGGER])
    path = f"/automations/{made['id']}"
    seen = [active_since(api, made["id"])]
    writes: list[tuple[bool, Callable[[], Answer]]] = [
        (True, lambda: api.mine.editor.post(f"{path}/status", {"status": "ACTIVE"})),
        (False, lambda: api.mine.editor.patch(path, {"name": "New"})),
        (False, lambda: api.mine.editor.put(f"{path}/actions", {"actions": [NOTIFY]})),
        (False, lambda: api.mine.editor.put(f"{path}/triggers", {"triggers": [CREATED_TRIGGER]})),
        (True, lambda: api.mine.editor.patch(path, {"databaseId": str(api.mine.database_id)})),
        (
            True,
            lambda: api.mine.editor.put(
                f"{path}/triggers", {"triggers": [{"type": "PAGE_CREATED", "config": {}}]}
            ),
        ),
        (False, lambda: api.mine.editor.post(f"{path}/status", {"status": "PAUSED"})),
        (False, lambda: api.mine.editor.patch(path, {"databaseId": None})),
        (True, lambda: api.mine.editor.post(f"{path}/status", {"status": "ACTIVE"})),
    ]
    assert seen == [None]
    for rearms, write in writes:
        assert write().status == 200
        now = active_since(api, made["id"])
        assert (now != seen[-1]) is rearms
        seen.append(now)
