"""Bodies about automations."""

from typing import Any
from uuid import UUID

import pytest

from whenthen.domain.errors import InvalidError
from whenthen.domain.kinds import AutomationStatus
from whenthen.domain.schemas.automations import (
    ActionsBody,
    ConditionBody,
    CreateAutomation,
    PatchAutomation,
    StatusBody,
    TriggersBody,
    stored_actions,
    stored_triggers,
)
from whenthen.domain.schemas.base import Model
from whenthen.domain.schemas.problems import read

ID = UUID("019a0000-0000-7000-8000-000000000001")
OTHER = UUID("019a0000-0000-7000-8000-000000000002")
RECORD = {"type": "RECORD_CREATED", "config": {"databaseId": str(ID)}}
WEBHOOK = {"type": "WEBHOOK", "config": {}}
UPDATE = {
    "type": "UPDATE_RECORD",
    "config": {"recordId": "from_trigger", "propertyValues": {"Status": None}},
}
CONDITION = {
    "field": {"ref": "property", "name": "Status"},
    "operator": "eq",
    "value": "B",
}


def _refused(model: type[Model], body: Any) -> InvalidError:
    with pytest.raises(InvalidError) as caught:
        read(model, body)
    return caught.value


def _paths(model: type[Model], body: Any) -> list[str]:
    error = _refused(model, body)
    assert error.code == "VALIDATION_FAILED"
    assert error.details is not None
    return [one["path"] for one in error.details]  # type: ignore[index]


def test_the_example_of_the_api_is_read() -> None:
    body = read(
        CreateAutomation,
        {
            "name": "Triage new tickets",
            "description": "…",
            "databaseId": str(ID),
            "triggers": [RECORD],
            "condition": CONDITION,
            "actions": [UPDATE],
        },
    )
    assert body.name == "Triage new tickets"
    assert body.database_id == ID
    assert body.condition == CONDITION
    assert stored_triggers(body.triggers, [OTHER]) == [{"id": str(OTHER), **RECORD}]
    assert stored_actions(body.actions, [OTHER]) == [
        {"id": str(OTHER), **UPDATE, "retries": None, "timeoutMs": None}
    ]


def test_a_name_alone_makes_an_automation() -> None:
    body = read(CreateAutomation, {"name": "x"})
    assert (body.description, body.database_id, body.condition) == (None, None, None)
    assert (body.triggers, body.actions) == ([], [])


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "x" * 100},
        {"name": "😀" * 100},
        {"description": "x" * 500},
        {"description": ""},
        {"description": None, "databaseId": None, "condition": None},
        {"triggers": [], "actions": []},
        {"triggers": [RECORD] * 3},
        {"triggers": [WEBHOOK, RECORD, RECORD]},
        {"actions": [UPDATE] * 50},
        {"actions": [UPDATE | {"id": str(ID)}, UPDATE | {"id": str(OTHER)}, UPDATE, UPDATE]},
    ],
)
def test_what_lies_within_the_limits_is_taken(changes: dict[str, Any]) -> None:
    assert read(CreateAutomation, {"name": "x"} | changes)


@pytest.mark.parametrize(
    ("changes", "paths"),
    [
        ({"name": ""}, ["name"]),
        ({"name": "x" * 101}, ["name"]),
        ({"name": None}, ["name"]),
        ({"name": 5}, ["name"]),
        ({"description": "x" * 501}, ["description"]),
        ({"databaseId": "x"}, ["databaseId"]),
        ({"database_id": str(ID)}, ["database_id"]),
        ({"status": "ACTIVE"}, ["status"]),
        ({"triggers": [RECORD] * 4}, ["triggers"]),
        ({"triggers": None}, ["triggers"]),
        ({"triggers": {}}, ["triggers"]),
        ({"triggers": [WEBHOOK, WEBHOOK]}, ["triggers"]),
        ({"triggers": [RECORD, 5]}, ["triggers[1]"]),
        ({"triggers": [{"type": "WEBHOOK"}]}, ["triggers[0].config"]),
        ({"triggers": [RECORD, WEBHOOK | {"config": {"x": 1}}]}, ["triggers[1].config.x"]),
        ({"actions": [UPDATE] * 51}, ["actions"]),
        ({"actions": [UPDATE | {"id": str(ID)}] * 2}, ["actions"]),
        (
            {"actions": [UPDATE, {"type": "SEND_WEBHOOK", "config": {"url": "x"}}]},
            ["actions[1].config.url"],
        ),
        (
            {"name": "", "actions": [{"type": "x", "config": {}}], "zz": 1},
            ["name", "actions[0].type", "zz"],
        ),
    ],
)
def test_what_lies_beyond_is_refused_with_all_paths(
    changes: dict[str, Any], paths: list[str]
) -> None:
    assert _paths(CreateAutomation, {"name": "x"} | changes) == paths


@pytest.mark.parametrize("body", [None, [], "x", 5])
def test_a_body_that_is_no_object_is_refused_at_its_root(body: Any) -> None:
    error = _refused(CreateAutomation, body)
    assert error.message == "the body: must be an object"
    assert error.details == [{"path": "", "message": "must be an object", "type": "model_type"}]


@pytest.mark.parametrize("model", [CreateAutomation, ConditionBody])
def test_a_bad_condition_has_its_own_code(model: type[Model]) -> None:
    error = _refused(model, {"name": "x", "condition": {"and": []}})
    assert (error.status, error.code) == (422, "CONDITION_INVALID")
    assert error.message == "condition.and: must be a list of at least one condition"


def test_a_patch_tells_an_absent_key_from_null() -> None:
    assert read(PatchAutomation, {}).model_fields_set == set()
    body = read(PatchAutomation, {"description": None, "databaseId": None})
    assert body.model_fields_set == {"description", "database_id"}
    assert (body.description, body.database_id) == (None, None)
    assert read(PatchAutomation, {"name": "y", "databaseId": str(ID)}).database_id == ID


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"name": None}, "name"),
        ({"name": ""}, "name"),
        ({"status": "ACTIVE"}, "status"),
        ({"triggers": []}, "triggers"),
        ({"databaseId": ""}, "databaseId"),
    ],
)
def test_a_patch_refuses_what_it_may_not_change(body: dict[str, Any], path: str) -> None:
    assert _paths(PatchAutomation, body) == [path]


@pytest.mark.parametrize("status", list(AutomationStatus))
def test_every_status_may_be_asked_for(status: AutomationStatus) -> None:
    assert read(StatusBody, {"status": status.value}).status is status


@pytest.mark.parametrize("body", [{}, {"status": "active"}, {"status": None}, {"status": 1}])
def test_another_status_is_refused(body: dict[str, Any]) -> None:
    assert _paths(StatusBody, body) == ["status"]


@pytest.mark.parametrize(
    ("model", "key", "item", "most"),
    [(TriggersBody, "triggers", RECORD, 3), (ActionsBody, "actions", UPDATE, 50)],
)
def test_a_put_takes_one_to_the_limit(
    model: type[Model], key: str, item: dict[str, Any], most: int
) -> None:
    for count in (1, most):
        assert read(model, {key: [item] * count})
    for count in (0, most + 1):
        assert _paths(model, {key: [item] * count}) == [key]
    assert _paths(model, {}) == [key]


def test_a_put_refuses_what_a_create_refuses() -> None:
    assert _paths(TriggersBody, {"triggers": [WEBHOOK, WEBHOOK]}) == ["triggers"]
    assert _paths(ActionsBody, {"actions": [UPDATE | {"id": str(ID)}] * 2}) == ["actions"]


def test_a_condition_is_put_or_taken_away_but_never_left_out() -> None:
    assert read(ConditionBody, {"condition": CONDITION}).condition == CONDITION
    assert read(ConditionBody, {"condition": None}).condition is None
    assert _paths(ConditionBody, {}) == ["condition"]


def test_what_the_detail_shows_may_be_sent_back() -> None:
    shown = [{"type": "WEBHOOK", "config": {"requireSignature": False}}]
    triggers = read(TriggersBody, {"triggers": shown}).triggers
    assert stored_triggers(triggers, [ID]) == [{"id": str(ID), **shown[0]}]
    actions = stored_actions(read(ActionsBody, {"actions": [UPDATE]}).actions, [ID])
    again = read(ActionsBody, {"actions": actions}).actions
    assert stored_actions(again, [ID]) == actions


def test_a_given_secret_is_not_stored() -> None:
    body = {"triggers": [{"type": "WEBHOOK", "config": {"secret": "s" * 24}}]}
    stored = stored_triggers(read(TriggersBody, body).triggers, [ID])
    assert stored == [{"id": str(ID), "type": "WEBHOOK", "config": {"requireSignature": False}}]
