"""What is read with a claimed run, in a statement after the claim."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy.engine import Connection

from tests.integration.engine_world import TRIAGE_CONDITION
from tests.integration.store_world import LEASE_S, StoreWorld
from whenthen.domain.kinds import AutomationStatus, StepStatus
from whenthen.engine.context import Context
from whenthen.store.run_claims import ClaimedRun, StepRow, WaitingRun, claim, read, read_again

NOTIFY = {"type": "CREATE_NOTIFICATION", "config": {"title": "x"}}


@pytest.fixture
def world(shared_context: Context) -> StoreWorld:
    return StoreWorld(shared_context)


def read_run(world: StoreWorld, run_id: UUID) -> ClaimedRun:
    def work(connection: Connection) -> ClaimedRun:
        (run,), waiting = read(connection, [run_id], frozenset([run_id]))
        assert waiting == []
        return run

    return world.transact(work)


def test_a_claimed_run_is_read_whole(world: StoreWorld) -> None:
    record_id = world.add_record(Name="Tap", Priority=1)
    automation_id = world.add_automation([NOTIFY, NOTIFY], condition=TRIAGE_CONDITION)
    root, parent = uuid4(), uuid4()
    run_id = world.pending(
        automation_id=automation_id,
        event_id="evt:x:1",
        record_id=str(record_id),
        input=world.input(Name="Tap"),
        depth=2,
        root_run_id=root,
        parent_run_id=parent,
        chain=["a", "b"],
    )
    held = world.claimed(run_id)
    run = read_run(world, run_id)
    row = world.row(run_id)
    assert run == ClaimedRun(
        id=run_id,
        automation_id=automation_id,
        version=1,
        workspace_id=world.workspace_id,
        workspace_name="World",
        event_id="evt:x:1",
        trigger_type="record.created",
        record_id=str(record_id),
        input=world.input(Name="Tap"),
        depth=2,
        root_run_id=root,
        parent_run_id=parent,
        chain=["a", "b"],
        retry_count=0,
        crash_count=0,
        generation=0,
        next_action=0,
        forced=False,
        cancelled_by=None,
        actor_id=None,
        deaths=0,
        created_at=row["created_at"],
        started_at=row["started_at"],
        elapsed_ms=run.elapsed_ms,
        definition_schema=1,
        automation_name="Triage",
        actions=[{"id": str(action_id), **NOTIFY} for action_id in held.action_ids],
        condition=TRIAGE_CONDITION,
        automation_status=AutomationStatus.ACTIVE,
        steps=[StepRow(held.action_ids[0], StepStatus.STARTED, 1, None, None)],
        record_database_id=world.database_id,
        record_properties={"Name": "Tap", "Priority": 1},
        database_schema=run.database_schema,
    )
    assert 0 <= run.elapsed_ms < 60_000
    assert [item["name"] for item in run.database_schema] == [
        "Name",
        "Status",
        "Priority",
        "Assignee",
    ]


def test_an_automation_without_a_condition_has_none(world: StoreWorld) -> None:
    held = world.running()
    assert read_run(world, held.run_id).condition is None
    (row,) = world.sql(
        "select v.condition is null as none from automation_versions v"
        " join automation_runs r using (automation_id, version) where r.id = :r",
        r=held.run_id,
    )
    assert row["none"] is True


@pytest.mark.parametrize(
    "record_id",
    [
        None,
        "",
        "42",
        "not-a-uuid",
        "01970000-0000-7000-8000-00000000000g",
        "{01970000-0000-7000-8000-00000000000a}",
        "01970000-0000-7000-8000-00000000000a",
        "01970000-0000-7000-8000-00000000000a\n",
        "' or 1=1 --",
    ],
)
def test_a_record_id_from_outside_that_names_nothing_is_no_record(
    world: StoreWorld, record_id: str | None
) -> None:
    held = world.running(record_id=record_id)
    run = read_run(world, held.run_id)
    assert (run.record_id, run.record_database_id, run.record_properties) == (record_id, None, None)
    assert run.database_schema == []


def test_case_113_a_record_of_another_workspace_is_not_read(world: StoreWorld) -> None:
    foreign = StoreWorld(world.context).add_record(Name="secret")
    held = world.running(record_id=str(foreign))
    assert read_run(world, held.run_id).record_properties is None


@pytest.mark.parametrize("is_scoped", [True, False])
def test_case_113_a_record_outside_the_automations_database_is_none_to_it(
    world: StoreWorld,
    is_scoped: bool,  # noqa: FBT001
) -> None:
    record_id = world.add_record(Name="Tap")
    automation_id = world.add_automation([], database_id=world.add_database())
    if not is_scoped:
        world.sql(
            "update automation_versions set database_id = null where automation_id = :a",
            a=automation_id,
        )
    run_id = world.pending(automation_id=automation_id, record_id=str(record_id))
    world.claimed(run_id)
    run = read_run(world, run_id)
    assert (run.record_id, run.record_database_id, run.record_properties) == (
        (None, None, None) if is_scoped else (str(record_id), world.database_id, {"Name": "Tap"})
    )


def test_an_id_in_capitals_names_its_record(world: StoreWorld) -> None:
    record_id = world.add_record(Name="Tap")
    held = world.running(record_id=str(record_id).upper())
    assert read_run(world, held.run_id).record_properties == {"Name": "Tap"}


def test_steps_of_the_present_generation_are_read_and_no_others(world: StoreWorld) -> None:
    held = world.running(2)
    world.step(held.run_id, held.action_ids[0], "SUCCEEDED", output='{"old":1}')
    world.change(held.run_id, "generation = 1")
    world.step(held.run_id, held.action_ids[1], "SUCCEEDED", output='{"id":9007199254740993}')
    run = read_run(world, held.run_id)
    assert run.steps == [
        StepRow(held.action_ids[1], StepStatus.SUCCEEDED, 1, {"id": 9007199254740993}, None)
    ]


def test_a_batch_tells_claimed_runs_from_those_not_due_and_leaves_out_the_rest(
    world: StoreWorld,
) -> None:
    mine, later, other, over = (world.pending() for _ in range(4))
    world.change(later, "due_at = whenthen_now() + interval '300 seconds'")
    world.change(other, "status = 'RUNNING'")
    world.change(over, "status = 'SUCCEEDED'")
    run_ids = [later, mine, other, over, uuid4()]

    def work(connection: Connection) -> Any:
        return claim(connection, run_ids, uuid4(), LEASE_S)

    claimed, waiting = world.transact(work)
    assert [run.id for run in claimed] == [mine]
    ((run_id, workspace_id, due_in_s),) = [(w.id, w.workspace_id, w.due_in_s) for w in waiting]
    assert (run_id, workspace_id) == (later, world.workspace_id)
    assert due_in_s == pytest.approx(300, abs=5)
    assert isinstance(waiting[0], WaitingRun)


def test_a_due_run_that_somebody_else_holds_is_neither_claimed_nor_waiting(
    world: StoreWorld,
) -> None:
    run_id = world.pending()
    found = world.transact(lambda connection: read(connection, [run_id], frozenset()))
    assert found == ([], [])


# ------------------------------------------------------------- after a commit of unknown end


def test_a_run_that_is_still_ours_is_read_again_as_it_is_now(world: StoreWorld) -> None:
    held = world.running(2)
    world.step(held.run_id, held.action_ids[0], "SUCCEEDED", output='{"n":1}')
    run = world.transact(lambda connection: read_again(connection, held.run_id, held.lease))
    assert run is not None
    assert (run.id, run.steps[0].status) == (held.run_id, StepStatus.SUCCEEDED)


@pytest.mark.parametrize(
    "assignments",
    ["lease_token = gen_random_uuid()", "status = 'PENDING'", "status = 'SUCCEEDED'"],
)
def test_a_run_that_is_ours_no_more_is_not_read(world: StoreWorld, assignments: str) -> None:
    held = world.running()
    world.change(held.run_id, assignments)
    assert world.transact(lambda c: read_again(c, held.run_id, held.lease)) is None
    assert world.transact(lambda c: read_again(c, uuid4(), held.lease)) is None
