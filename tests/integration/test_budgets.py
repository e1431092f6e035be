"""The statement and commit budgets, counted."""

import pytest

from tests.integration.engine_world import TRIAGE_CONDITION, World
from tests.integration.statements import counted
from tests.integration.test_triage import NOTIFY, UPDATE
from whenthen.engine.context import Context


@pytest.fixture
def world(context: Context) -> World:
    made = World(context)
    made.add_automation([UPDATE, NOTIFY], condition=TRIAGE_CONDITION)
    # Nine more automations of the workspace that listen elsewhere.
    for _ in range(9):
        made.add_automation([NOTIFY], database_id=made.add_database())
    return made


def test_a_batch_of_100_events_is_matched_in_at_most_4_statements(world: World) -> None:
    events = [
        world.created_event(world.add_record(Status="B"), Name=str(n), Status="B")
        for n in range(100)
    ]
    with counted(world.context.database) as cost:
        world.match(*events)
    assert len(world.runs()) == 100
    assert len(cost.statements) <= 4, cost.statements


def test_an_event_of_the_outbox_costs_no_further_statement(world: World) -> None:
    world.add_automation([UPDATE], triggers=[{"type": "RECORD_UPDATED", "config": {}}])
    world.match(world.created_event(world.add_record(Status="B"), Status="B"))
    world.execute()
    events = world.outbox_events()
    assert [event["type"] for event in events] == ["record.updated", "automation.executed"]
    with counted(world.context.database) as cost:
        world.match(*events)
    assert len(cost.statements) <= 4, cost.statements
    assert world.outbox_events() == []


def test_a_batch_of_5_runs_is_claimed_and_read_in_2_statements_and_1_commit(world: World) -> None:
    for _ in range(5):
        world.match(world.created_event(world.add_record(Status="A"), Status="A"))
    run_ids = world.pending_ids()
    with counted(world.context.database) as cost:
        world.execute(run_ids)
    assert {run["status"] for run in world.runs()} == {"SUCCEEDED"}
    claim, read, settle = cost.statements
    assert "for update skip locked" in claim
    assert "for update" not in read
    assert "update automation_runs" in settle
    assert cost.commits == 2


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_a_run_of_n_steps_takes_at_most_n_plus_1_commits(context: Context, steps: int) -> None:
    world = World(context)
    world.add_automation([NOTIFY] * steps)
    world.match(world.created_event(world.add_record(Status="B"), Status="B"))
    run_ids = world.pending_ids()
    with counted(context.database) as cost:
        world.execute(run_ids)
    assert world.the_run()["status"] == "SUCCEEDED"
    assert cost.commits <= steps + 1


def test_five_runs_share_the_transactions_of_their_data_steps(world: World) -> None:
    for _ in range(5):
        world.match(world.created_event(world.add_record(Status="B"), Status="B"))
    run_ids = world.pending_ids()
    with counted(world.context.database) as cost:
        world.execute(run_ids)
    assert {run["status"] for run in world.runs()} == {"SUCCEEDED"}
    assert cost.commits == 2  # the claim, and all ten steps
