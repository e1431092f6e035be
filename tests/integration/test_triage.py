"""The main job at the engine's level: one event, one run, its steps, its end."""

from typing import Any

import pytest

from tests.integration.engine_world import TRIAGE_CONDITION, World
from whenthen.engine.context import Context

UPDATE = {
    "type": "UPDATE_RECORD",
    "config": {"recordId": "from_trigger", "propertyValues": {"Status": "C"}},
}
NOTIFY = {"type": "CREATE_NOTIFICATION", "config": {"title": "Ticket {{record.Name}}"}}


@pytest.fixture
def world(context: Context) -> World:
    return World(context)


def triage(world: World, status: str) -> Any:
    world.add_automation([UPDATE, NOTIFY], condition=TRIAGE_CONDITION)
    record_id = world.add_record(Name="Tap", Status=status)
    world.match(world.created_event(record_id, Name="Tap", Status=status))
    world.execute()
    return record_id


def test_a_matching_event_runs_both_actions_and_succeeds(world: World) -> None:
    record_id = triage(world, "B")
    run = world.the_run()
    assert run["status"] == "SUCCEEDED", run["error"]
    assert world.record(record_id)["properties"] == {"Name": "Tap", "Status": "C"}
    (notification,) = world.sql("select * from notifications")
    assert (notification["title"], notification["user_id"]) == ("Ticket Tap", world.owner_id)
    output = run["output"]
    assert [action["type"] for action in output["actions"]] == [
        "UPDATE_RECORD",
        "CREATE_NOTIFICATION",
    ]
    assert output["totalMs"] == sum(action["ms"] for action in output["actions"])
    assert output["actions"][0]["output"] == {
        "recordId": str(record_id),
        "changedProperties": ["Status"],
    }


def test_a_run_logs_every_transition_in_order(world: World) -> None:
    triage(world, "B")
    assert world.lines(world.the_run()["id"]) == [
        "info run created",
        "info run started",
        "info action 1/2 UPDATE_RECORD started",
        "info action 1/2 UPDATE_RECORD done",
        "info action 2/2 CREATE_NOTIFICATION started",
        "info action 2/2 CREATE_NOTIFICATION done",
        "info run completed",
    ]


def test_a_condition_that_does_not_hold_is_a_skip_without_a_trace_of_a_try(world: World) -> None:
    record_id = triage(world, "A")
    run = world.the_run()
    assert (run["status"], run["output"], run["error"]) == (
        "SUCCEEDED",
        {"skipped": "conditions_not_met"},
        None,
    )
    assert world.steps(run["id"]) == []
    assert world.record(record_id)["version"] == 1
    explain = world.line_data(run["id"], "run skipped: conditions_not_met")["explain"]
    assert explain == {"op": "eq", "left": "A", "right": "B", "result": False}


def test_an_ended_run_holds_no_lease_and_no_wake_up(world: World) -> None:
    triage(world, "B")
    run = world.the_run()
    assert (run["lease_token"], run["lease_expires_at"], run["enqueue_after"]) == (None, None, None)
    assert run["started_at"] <= run["finished_at"]
