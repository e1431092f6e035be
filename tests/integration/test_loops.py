"""Loop guards, through real events."""

import pytest

from tests.integration.engine_world import World
from tests.integration.test_triage import NOTIFY
from whenthen.domain.kinds import RunStatus
from whenthen.engine.context import Context
from whenthen.store.new_id import new_id

UPDATED = [{"type": "RECORD_UPDATED", "config": {}}]


def flip(field: str, value: object) -> dict[str, object]:
    return {
        "type": "UPDATE_RECORD",
        "config": {"recordId": "from_trigger", "propertyValues": {field: value}},
    }


@pytest.fixture
def world(context: Context) -> World:
    return World(context)


def test_case_041_an_automation_does_not_run_on_its_own_update(world: World) -> None:
    world.add_automation([flip("Name", "touched {{run.id}}")], triggers=UPDATED)
    world.match(updated(world))
    world.settle_all()
    outputs = [run["output"] for run in world.runs()]
    assert len(outputs) == 2
    assert "actions" in outputs[0]
    assert outputs[1] == {"skipped": "self_trigger"}


def test_case_041_a_ping_pong_of_two_automations_ends_at_the_depth_limit(world: World) -> None:
    for name in ("ping", "pong"):
        world.add_automation([flip("Name", f"{name} {{{{run.id}}}}")], triggers=UPDATED)
    world.match(updated(world))
    world.settle_all(rounds=40)
    runs = world.runs()
    executed = [run for run in runs if "actions" in run["output"]]
    skips = [run["output"]["skipped"] for run in runs if "skipped" in run["output"]]
    # The one event starts both, so there are two chains that never meet again.
    assert sorted(run["depth"] for run in executed) == sorted([0, 1, 2, 3, 4] * 2)
    assert skips.count("depth_limit") == 2
    assert set(skips) == {"depth_limit", "self_trigger"}


def test_case_043_another_automation_may_act_on_what_one_did(world: World) -> None:
    create = {
        "type": "CREATE_RECORD",
        "config": {"databaseId": str(world.database_id), "propertyValues": {"Name": "from A"}},
    }
    world.add_automation([create], triggers=UPDATED)
    world.add_automation([NOTIFY])
    world.match(updated(world))
    world.settle_all()
    depths = [(run["depth"], run["status"]) for run in world.runs()]
    assert depths == [(0, RunStatus.SUCCEEDED), (1, RunStatus.SUCCEEDED)]
    child = world.runs()[1]
    assert child["parent_run_id"] == child["root_run_id"] == world.runs()[0]["id"]
    assert child["chain"] == [str(world.runs()[0]["automation_id"])]


def test_only_a_root_run_announces_its_end(world: World) -> None:
    world.add_automation([flip("Name", "x {{run.id}}")], triggers=UPDATED)
    world.match(updated(world))
    announced = []
    for _ in range(4):
        events = world.outbox_events()
        announced += [e["payload"] for e in events if e["type"] == "automation.executed"]
        world.match(*events)
        world.execute()
    (only,) = announced
    root = world.runs()[0]
    assert only == {
        "workspaceId": str(world.workspace_id),
        "automationId": str(root["automation_id"]),
        "runId": str(root["id"]),
        "status": "SUCCEEDED",
        "triggerType": "record.updated",
        "durationMs": only["durationMs"],
    }


def updated(world: World) -> dict[str, object]:
    record_id = world.add_record(Name="new")
    event = world.created_event(record_id, Name="new")
    payload = {**event["payload"], "changedProperties": ["Name"], "previous": {"Name": "old"}}
    return {**event, "id": str(new_id()), "type": "record.updated", "payload": payload}
