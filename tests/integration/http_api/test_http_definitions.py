"""Triggers, condition and actions over HTTP: each change a version, ids and secrets kept."""

import base64
import hashlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.integration.http_api.client import CREATED_TRIGGER, NOTIFY, Answer, Api
from whenthen.domain.kinds import Role
from whenthen.domain.rules.permissions import Access
from whenthen.domain.schemas.automations import PatchAutomation
from whenthen.engine import manage_automations
from whenthen.engine.identify import Caller

WEBHOOK = {"type": "WEBHOOK", "config": {}}
PAGE = {"type": "PAGE_CREATED", "config": {}}
SCHEDULE = {"type": "SCHEDULE", "config": {"runEvery": 60}}
CONDITION = {"field": {"ref": "event", "path": "a"}, "operator": "eq", "value": 1}


def put(api: Api, automation: Any, part: str, value: Any) -> Answer:
    key = "condition" if part == "conditions" else part
    return api.mine.editor.put(f"/automations/{automation['id']}/{part}", {key: value})


def trigger_rows(api: Api, automation: Any) -> list[Any]:
    return api.sql(
        "select * from automation_triggers where automation_id = :a order by position",
        a=automation["id"],
    )


def test_the_nth_trigger_of_a_type_keeps_its_id(api: Api) -> None:
    made = api.mine.create_automation(triggers=[CREATED_TRIGGER, PAGE])
    created, page = (row["id"] for row in trigger_rows(api, made))
    answer = put(api, made, "triggers", [PAGE, CREATED_TRIGGER, CREATED_TRIGGER])
    assert (answer.status, answer.json["version"]) == (200, 2)
    rows = trigger_rows(api, made)
    assert [row["id"] for row in rows][:2] == [page, created]
    assert rows[2]["id"] not in {created, page}
    put(api, made, "triggers", [PAGE])
    assert [row["id"] for row in trigger_rows(api, made)] == [page]


def test_each_trigger_type_has_its_scope(api: Api) -> None:
    database_id = str(api.mine.database_id)
    made = api.mine.create_automation(
        triggers=[
            {
                "type": "PROPERTY_CHANGED",
                "config": {"databaseId": database_id, "properties": ["*"]},
            },
            CREATED_TRIGGER,
            PAGE,
        ]
    )
    scopes = [row["scope_id"] for row in trigger_rows(api, made)]
    assert scopes == [api.mine.database_id, None, api.mine.workspace_id]
    answer = put(api, made, "triggers", [WEBHOOK, SCHEDULE])
    assert answer.status == 200, answer.text
    assert [str(row["scope_id"]) for row in trigger_rows(api, made)] == [made["id"]] * 2


def test_the_automations_own_database_comes_before_the_triggers(api: Api) -> None:
    mine = api.mine
    second = mine.owner.post(f"/workspaces/{mine.workspace_id}/databases", {"name": "B"}).json["id"]
    trigger = {"type": "RECORD_UPDATED", "config": {"databaseId": str(mine.database_id)}}
    made = mine.create_automation(databaseId=second, triggers=[trigger])
    assert [str(row["scope_id"]) for row in trigger_rows(api, made)] == [second]
    mine.editor.patch(f"/automations/{made['id']}", {"databaseId": None})
    assert [row["scope_id"] for row in trigger_rows(api, made)] == [mine.database_id]


def test_an_action_keeps_its_id_and_a_new_one_gets_one(api: Api) -> None:
    made = api.mine.create_automation(actions=[NOTIFY, NOTIFY])
    first, second = made["actions"]
    answer = put(api, made, "actions", [second, NOTIFY, {**first, "retries": 0}])
    assert (answer.status, answer.json["version"]) == (200, 2)
    ids = [action["id"] for action in answer.json["actions"]]
    assert (ids[0], ids[2]) == (second["id"], first["id"])
    assert ids[1] not in {first["id"], second["id"]}
    assert answer.json["actions"][2]["retries"] == 0


def test_an_unknown_or_repeated_action_id_is_refused(api: Api) -> None:
    made = api.mine.create_automation(actions=[NOTIFY])
    (action,) = made["actions"]
    stranger = {**NOTIFY, "id": str(uuid4())}
    for actions in ([stranger], [action, stranger], [action, action]):
        answer = put(api, made, "actions", actions)
        assert (answer.status, answer.code) == (422, "VALIDATION_FAILED")
    assert (
        api.mine.editor.post(api.mine.automations_path, {"name": "X", "actions": [action]}).status
        == 422
    )
    assert api.mine.editor.get(f"/automations/{made['id']}").json == made


def test_the_same_definition_again_makes_no_version(api: Api) -> None:
    made = api.mine.create_automation(
        triggers=[CREATED_TRIGGER, WEBHOOK], condition=CONDITION, actions=[NOTIFY]
    )
    made.pop("webhook")
    for part, value in [
        ("triggers", made["triggers"]),
        ("conditions", CONDITION),
        ("actions", made["actions"]),
    ]:
        answer = put(api, made, part, value)
        assert (answer.status, answer.json) == (200, made)


def test_true_in_the_place_of_one_is_a_change(api: Api) -> None:
    made = api.mine.create_automation(condition=CONDITION)
    answer = put(api, made, "conditions", {**CONDITION, "value": True})
    assert (answer.json["version"], answer.json["condition"]["value"]) == (2, True)
    cleared = put(api, made, "conditions", None).json
    assert (cleared["version"], cleared["condition"], cleared["hasCondition"]) == (3, None, False)


def digest_of(webhook: Any) -> bytes:
    token = webhook["url"].rsplit("/", 1)[1]
    key = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    assert webhook["secret"] == "whsec_" + base64.b64encode(key).decode()
    assert len(key) == 32
    return hashlib.sha256(key).digest()


def test_a_webhook_secret_is_made_and_shown_once(api: Api) -> None:
    made = api.mine.create_automation(triggers=[WEBHOOK])
    webhook = made["webhook"]
    assert list(webhook) == ["url", "secret"]
    assert webhook["url"].startswith("https://api.example.test/webhooks/incoming/")
    (row,) = trigger_rows(api, made)
    assert bytes(row["secret_hash"]) == digest_of(webhook)
    assert made["triggers"] == [{"type": "WEBHOOK", "config": {"requireSignature": False}}]
    shown = api.mine.editor.get(f"/automations/{made['id']}")
    assert "webhook" not in shown.json
    assert webhook["secret"] not in shown.text
    stored = api.sql("select triggers::text as t from automation_versions")[0]["t"]
    assert "whsec_" not in stored


def test_a_webhook_keeps_its_secret_until_it_is_taken_away(api: Api) -> None:
    made = api.mine.create_automation(triggers=[WEBHOOK])
    (before,) = trigger_rows(api, made)
    signed = {"type": "WEBHOOK", "config": {"requireSignature": True}}
    answer = put(api, made, "triggers", [PAGE, signed])
    assert "webhook" not in answer.json
    _, after = trigger_rows(api, made)
    assert (after["id"], after["secret_hash"]) == (before["id"], before["secret_hash"])
    assert after["require_signature"] is True
    put(api, made, "triggers", [PAGE])
    again = put(api, made, "triggers", [PAGE, WEBHOOK])
    assert digest_of(again.json["webhook"]) != bytes(before["secret_hash"])


def test_a_given_secret_is_taken_and_shown_nowhere(api: Api) -> None:
    secret = "s" * 24
    given = {"type": "WEBHOOK", "config": {"secret": secret}}
    made = api.mine.create_automation(triggers=[given])
    assert "webhook" not in made
    (row,) = trigger_rows(api, made)
    assert bytes(row["secret_hash"]) == hashlib.sha256(secret.encode()).digest()
    same = put(api, made, "triggers", [given])
    assert (same.json["version"], secret in same.text) == (1, False)
    other = put(api, made, "triggers", [{"type": "WEBHOOK", "config": {"secret": "t" * 24}}])
    assert other.json["version"] == 2
    (row,) = trigger_rows(api, made)
    assert bytes(row["secret_hash"]) == hashlib.sha256(b"t" * 24).digest()


def test_two_automations_cannot_share_a_webhook_secret(api: Api) -> None:
    given = {"type": "WEBHOOK", "config": {"secret": "s" * 24}}
    api.mine.create_automation(triggers=[given])
    answer = api.mine.editor.post(api.mine.automations_path, {"name": "X", "triggers": [given]})
    assert (answer.status, answer.code) == (422, "SECRET_INVALID")
    assert len(api.sql("select * from automations")) == 1


@pytest.mark.parametrize(
    ("title", "code"),
    [
        ("{{record.Name}}", None),
        ("{{ 1 + 1 }}", "TEMPLATE_INVALID"),
        ("{{nobody.knows}}", "TEMPLATE_INVALID"),
        ("{{record.Name", "TEMPLATE_INVALID"),
        ("{{secrets.KEY}}", "SECRET_INVALID"),
        pytest.param('{{ "".__class__.__mro__ }}', "TEMPLATE_INVALID", id="case_081"),
    ],
)
def test_templates_are_checked_on_save(api: Api, title: str, code: str | None) -> None:
    action = {"type": "CREATE_NOTIFICATION", "config": {"title": title}}
    answer = api.mine.editor.post(
        api.mine.automations_path, {"name": "X", "actions": [NOTIFY, action]}
    )
    if code is None:
        assert answer.status == 201
    else:
        assert (answer.status, answer.code) == (422, code)
        assert answer.error["details"][0]["path"] == "actions[1].config.title"


def test_a_template_in_the_place_of_a_database_is_no_literal(api: Api) -> None:
    config = {"databaseId": "{{trigger.databaseId}}", "propertyValues": {}}
    api.mine.create_automation(actions=[{"type": "CREATE_RECORD", "config": config}])


def test_concurrent_definition_writes_never_interleave(api: Api) -> None:
    made = api.mine.create_automation()
    caller = Caller(api.mine.user_ids[Role.EDITOR], api.mine.workspace_id, Access(Role.EDITOR))
    ids = UUID(made["id"])

    def rename(n: int) -> int:
        body = PatchAutomation(name=f"Name {n}")
        edited = api.context.database.transact(
            lambda connection: manage_automations.patch(connection, caller, ids, body, None)
        )
        detail = edited.automation
        assert detail.name == f"Name {n}"
        return detail.version

    with ThreadPoolExecutor(4) as pool:
        versions = list(pool.map(rename, range(12)))
    assert sorted(versions) == list(range(2, 14))
    rows = api.sql("select version, name from automation_versions order by version")
    assert [row["version"] for row in rows] == list(range(1, 14))
