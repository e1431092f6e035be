"""Who may act on a run, and when it stops: status, cancel, leases, lost connections."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from tests.integration.engine_world import World
from tests.integration.test_failures import WEBHOOK, Target
from tests.integration.test_triage import NOTIFY, UPDATE
from whenthen.actions.registry import clear_test_executors, register_test_executor
from whenthen.actions.requests import StepRequest, StepSuccess
from whenthen.domain.kinds import ActionType
from whenthen.engine.context import Context
from whenthen.store.connection import Database


@pytest.fixture
def world(context: Context) -> World:
    return World(context)


@pytest.fixture(autouse=True)
def _no_executors_left() -> Iterator[None]:
    yield
    clear_test_executors()


def pending_run(world: World, *actions: Any) -> UUID:
    world.add_automation(list(actions))
    world.match(world.created_event(world.add_record(Status="A")))
    run_id: UUID = world.the_run()["id"]
    return run_id


@pytest.mark.parametrize(
    ("status", "output"),
    [("PAUSED", "automation_paused"), ("ARCHIVED", "automation_archived")],
)
def test_case_108_a_claim_asks_for_the_automations_status(
    world: World, status: str, output: str
) -> None:
    pending_run(world, NOTIFY)
    world.sql("update automations set status = :s", s=status)
    world.execute()
    assert world.the_run()["output"] == {"skipped": output}


def test_a_forced_run_ignores_that_its_automation_is_paused(world: World) -> None:
    pending_run(world, NOTIFY)
    world.sql("update automations set status = 'PAUSED'")
    world.sql("update automation_runs set forced = true")
    world.execute()
    assert "actions" in world.the_run()["output"]


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("update automations set status = 'ARCHIVED'", "AUTOMATION_ARCHIVED"),
        ("update automation_runs set cancelled_by = gen_random_uuid()", "CANCELLED"),
    ],
)
def test_case_124_a_run_stops_before_its_next_step(world: World, statement: str, code: str) -> None:
    def stop_now(_request: StepRequest) -> StepSuccess:
        world.sql(statement)
        return StepSuccess({"status": 200})

    register_test_executor(ActionType.SEND_WEBHOOK, stop_now)
    run_id = pending_run(world, WEBHOOK, NOTIFY)
    world.execute()
    run = world.the_run()
    assert (run["status"], run["error"]["code"], run["error"]["actionIndex"]) == (
        "FAILED",
        code,
        None,
    )
    assert [step["status"] for step in world.steps(run_id)] == ["SUCCEEDED"]
    assert world.sql("select 1 from notifications") == []


def test_a_run_cancelled_in_its_last_step_still_succeeds(world: World) -> None:
    def cancel_now(_request: StepRequest) -> StepSuccess:
        world.sql("update automation_runs set cancelled_by = gen_random_uuid()")
        return StepSuccess({"status": 200})

    register_test_executor(ActionType.SEND_WEBHOOK, cancel_now)
    pending_run(world, WEBHOOK)
    world.execute()
    assert world.the_run()["status"] == "SUCCEEDED"


def test_case_056_a_step_that_does_not_fit_is_left_to_a_continuation(
    world: World, aws: Any
) -> None:
    run_id = pending_run(world, NOTIFY)
    aws.queued()
    world.execute(remaining_s=20)
    run = world.the_run()
    assert (run["status"], run["retry_count"], run["crash_count"]) == ("PENDING", 0, 0)
    assert world.steps(run_id) == []
    assert world.lines(run_id)[-1] == "info run continued"
    assert [message["runId"] for message in aws.queued()] == [str(run_id)]
    world.execute()
    assert world.the_run()["status"] == "SUCCEEDED"
    assert world.steps(run_id)[0]["attempts"] == 1


def test_case_036_a_second_worker_finds_nothing_to_claim(world: World) -> None:
    seen: list[str] = []

    def second_worker(_request: StepRequest) -> StepSuccess:
        world.execute([run_id])
        seen.append(world.the_run()["status"])
        return StepSuccess({"status": 200})

    register_test_executor(ActionType.SEND_WEBHOOK, second_worker)
    run_id = pending_run(world, WEBHOOK)
    world.execute()
    assert seen == ["RUNNING"]
    assert world.lines(run_id).count("info run started") == 1
    assert world.the_run()["status"] == "SUCCEEDED"


def test_case_037_a_worker_that_lost_its_lease_can_change_nothing(world: World) -> None:
    def lose_lease(_request: StepRequest) -> StepSuccess:
        world.sql("update automation_runs set lease_token = :t", t=uuid4())
        return StepSuccess({"status": 200})

    register_test_executor(ActionType.SEND_WEBHOOK, lose_lease)
    run_id = pending_run(world, WEBHOOK)
    before = world.lines(run_id)
    world.execute()
    run = world.the_run()
    assert (run["status"], run["output"]) == ("RUNNING", None)
    assert world.lines(run_id) == [*before, "info run started"]
    assert world.steps(run_id)[0]["status"] == "STARTED"


def test_case_121_a_connection_that_died_while_idle_is_replaced(world: World) -> None:
    run_id = pending_run(world, UPDATE)
    kill_connections(world)
    world.execute([run_id])
    assert world.the_run()["status"] == "SUCCEEDED"


def test_a_success_is_recorded_although_the_connection_broke_meanwhile(world: World) -> None:
    def cut(_request: StepRequest) -> StepSuccess:
        kill_connections(world)
        return StepSuccess({"status": 200})

    register_test_executor(ActionType.SEND_WEBHOOK, cut)
    pending_run(world, WEBHOOK)
    world.execute()
    assert world.the_run()["status"] == "SUCCEEDED"


def test_case_123_no_transaction_is_open_while_an_action_is_outside(world: World) -> None:
    states: list[str] = []

    def look(_request: StepRequest) -> StepSuccess:
        rows = world.sql(
            "select state from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        )
        states.extend(row["state"] for row in rows)
        return StepSuccess({"status": 200})

    register_test_executor(ActionType.SEND_WEBHOOK, look)
    pending_run(world, WEBHOOK)
    world.execute()
    assert "idle in transaction" not in states


def test_runs_that_newer_code_defined_are_given_back(world: World) -> None:
    run_id = pending_run(world, NOTIFY)
    world.sql("update automation_versions set schema = 99")
    world.execute()
    run = world.the_run()
    assert (run["status"], run["retry_count"]) == ("PENDING", 0)
    assert world.steps(run_id) == []


def test_an_unknown_run_is_passed_over(world: World) -> None:
    world.execute([uuid4()])
    assert world.runs() == []


def test_a_retry_asks_the_condition_no_more(world: World) -> None:
    target = Target(ConnectionResetError(104, "reset"), StepSuccess({"status": 200}))
    register_test_executor(ActionType.SEND_WEBHOOK, target)
    world.add_automation(
        [WEBHOOK],
        condition={
            "field": {"ref": "property", "name": "Status"},
            "operator": "eq",
            "value": "B",
        },
    )
    record_id = world.add_record(Status="B")
    # No snapshot: the condition reads the record's row.
    event = world.created_event(record_id)
    del event["payload"]["properties"]
    world.match(event)
    world.execute()
    assert world.the_run()["status"] == "PENDING"
    world.sql("update records set properties = '{}'")
    world.sql("update automation_runs set due_at = whenthen_now()")
    world.execute()
    assert "actions" in world.the_run()["output"]


@pytest.mark.parametrize("has_row", [True, False])
def test_a_conditions_types_are_those_of_the_events_database_record_or_not(
    world: World, *, has_row: bool
) -> None:
    condition = {
        "field": {"ref": "property", "name": "Priority"},
        "operator": "gt",
        "value": "9",
    }
    world.add_automation([NOTIFY], condition=condition)
    record_id = world.add_record(Priority="10")
    world.match(world.created_event(record_id, Priority="10"))
    if not has_row:
        world.sql("delete from records")
    world.execute()
    # As numbers: as texts "10" comes before "9".
    assert "actions" in world.the_run()["output"]


def kill_connections(world: World) -> None:
    """End every pooled connection of the world from the server's side, the caller's included."""
    killer = Database(world.context.settings, lambda: ("postgres", None))
    killer.transact(
        lambda connection: connection.execute(
            text(
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where datname = current_database() and pid <> pg_backend_pid()"
            )
        ).all()
    )
    killer.close()
