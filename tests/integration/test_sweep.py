"""The sweep: whatever should have moved on by itself, and did not, moves on."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy.engine import Connection

from tests.conftest import settings_for
from tests.integration.conftest import Aws
from tests.integration.engine_world import World
from tests.integration.test_failures import UNAVAILABLE, WEBHOOK, Target
from tests.integration.test_triage import NOTIFY
from whenthen.actions.registry import clear_test_executors, register_test_executor
from whenthen.actions.requests import StepSuccess
from whenthen.domain.errors import RetryableError
from whenthen.domain.kinds import ActionType
from whenthen.domain.schemas.notices import DeathNotice
from whenthen.engine.context import Context
from whenthen.engine.report_deaths import report_death
from whenthen.engine.sweep import relay_outbox, sweep_runs, void_leases
from whenthen.store import outbox, run_holds, sweeps
from whenthen.store.outbox import new_event

SENT_AGAIN = "warn watchdog re-enqueued stale PENDING run"
RECLAIMED = "warn watchdog reclaimed stale RUNNING run"


@pytest.fixture
def world(context: Context) -> World:
    return World(context)


@pytest.fixture(autouse=True)
def _no_executors_left() -> Iterator[None]:
    yield
    clear_test_executors()


def pending_run(world: World, *actions: Any) -> UUID:
    world.add_automation(list(actions) or [NOTIFY])
    world.match(world.created_event(world.add_record(Status="A")))
    run_id: UUID = world.runs()[-1]["id"]
    return run_id


def ids(messages: list[dict[str, Any]]) -> list[str]:
    return [message["runId"] for message in messages]


def test_case_044_a_lost_message_is_sent_again_a_minute_after_its_run_was_due(
    world: World, aws: Aws
) -> None:
    run_id = pending_run(world)
    aws.queued()
    world.turn_clock(30)
    assert (world.sweep(), aws.queued()) == (0, [])
    world.turn_clock(31)
    assert (world.sweep(), ids(aws.queued())) == (1, [str(run_id)])
    run = world.the_run()
    assert (run["status"], run["retry_count"], run["crash_count"]) == ("PENDING", 0, 0)
    assert world.lines(run_id)[-1] == SENT_AGAIN
    # That message has a quarter of an hour before another one follows.
    world.turn_clock(850)
    assert world.sweep() == 0
    world.turn_clock(60)
    assert (world.sweep(), ids(aws.queued())) == (1, [str(run_id)])
    world.execute()
    assert world.the_run()["status"] == "SUCCEEDED"
    assert world.steps(run_id)[0]["attempts"] == 1


def test_case_044_a_consumer_faster_than_the_commit_finds_nothing_and_the_row_wakes_itself(
    world: World, aws: Aws
) -> None:
    run_id = pending_run(world)
    (row,) = world.sql("delete from automation_runs r returning cast(to_jsonb(r) as text) as json")
    world.execute([UUID(text) for text in ids(aws.queued())])
    # The transaction of the writer becomes visible only now.
    world.sql(
        "insert into automation_runs select * from"
        " jsonb_populate_record(cast(null as automation_runs), cast(:r as jsonb))",
        r=row["json"],
    )
    world.turn_clock(61)
    world.sweep()
    assert ids(aws.queued()) == [str(run_id)]


def test_case_044_a_message_that_cannot_be_sent_is_sent_by_the_sweep(
    migrated_url: str, aws: Aws, world: World
) -> None:
    broken = Context(settings_for(migrated_url, RUN_QUEUE_URL=f"{aws.queue_url}-none"), "test")
    world.add_automation([NOTIFY])
    event = world.created_event(world.add_record())
    elsewhere = World(broken)
    elsewhere.match(event)
    broken.database.close()
    assert (world.the_run()["status"], aws.queued()) == ("PENDING", [])
    world.turn_clock(61)
    world.sweep()
    assert ids(aws.queued()) == [str(world.the_run()["id"])]


def test_case_044_a_message_whose_transaction_rolled_back_is_acknowledged(world: World) -> None:
    world.execute([uuid4()])
    assert (world.runs(), world.sweep()) == ([], 0)


def test_case_048_a_run_in_backoff_is_left_alone_until_it_is_due(world: World, aws: Aws) -> None:
    target = Target(RetryableError("X", "busy", retry_after_s=400), StepSuccess({}))
    register_test_executor(ActionType.SEND_WEBHOOK, target)
    run_id = pending_run(world, WEBHOOK)
    world.sql("update automation_runs set created_at = created_at - interval '20 minutes'")
    world.execute()
    aws.queued()
    before = world.lines(run_id)
    world.turn_clock(370)
    assert (world.sweep(), aws.queued(), world.lines(run_id)) == (0, [], before)
    world.turn_clock(100)
    assert (world.sweep(), ids(aws.queued())) == (1, [str(run_id)])
    world.execute([run_id])
    world.execute([run_id])
    assert (world.the_run()["status"], len(target.hits)) == ("SUCCEEDED", 2)


@pytest.mark.parametrize(("days", "held_back"), [(30, 90), (1, 90)])
def test_a_long_delay_is_left_alone_and_woken_once_so_early_that_it_starts_to_the_second(
    world: World, aws: Aws, days: int, held_back: int
) -> None:
    run_id = pending_run(world)
    aws.queued()
    world.sql(
        "update automation_runs set due_at = whenthen_now() + make_interval(days => :d),"
        " enqueue_after = whenthen_now() + make_interval(days => :d, secs => -90)",
        d=days,
    )
    world.turn_clock(days * 86_400 - 120)
    assert (world.sweep(), aws.delayed()) == (0, 0)
    world.turn_clock(30)
    assert (world.sweep(), aws.delayed(), aws.queued()) == (1, 1, [])
    assert world.sweep() == 0
    world.turn_clock(held_back)
    world.execute([run_id])
    assert world.the_run()["status"] == "SUCCEEDED"
    assert SENT_AGAIN not in world.lines(run_id)


def test_a_row_that_wakes_too_early_looks_again_later(world: World, aws: Aws) -> None:
    run_id = pending_run(world)
    aws.queued()
    world.sql(
        "update automation_runs set due_at = whenthen_now() + interval '2 hours',"
        " enqueue_after = whenthen_now()"
    )
    assert (world.sweep(), aws.queued(), aws.delayed()) == (1, [], 0)
    run = world.the_run()
    assert (run["due_at"] - run["enqueue_after"]).total_seconds() == pytest.approx(90, abs=1)
    assert SENT_AGAIN not in world.lines(run_id)


def test_the_run_of_a_dead_worker_is_brought_back_when_its_lease_has_run_out(
    world: World, aws: Aws
) -> None:
    run_id = pending_run(world)
    aws.queued()
    world.claim([run_id])
    world.turn_clock(200)
    assert (world.sweep(), world.the_run()["status"]) == (0, "RUNNING")
    world.turn_clock(31)
    assert world.sweep() == 1
    run = world.the_run()
    assert (run["status"], run["crash_count"], run["retry_count"]) == ("PENDING", 1, 1)
    assert (run["lease_token"], run["lease_expires_at"]) == (None, None)
    # The interrupted attempt is taken back: a crash uses up nothing of the step's budget.
    assert world.steps(run_id) == []
    assert world.lines(run_id)[-1] == RECLAIMED
    assert ids(aws.queued()) == [str(run_id)]
    world.execute()
    run = world.the_run()
    assert (run["status"], run["crash_count"]) == ("SUCCEEDED", 0)
    assert [step["attempts"] for step in world.steps(run_id)] == [1]


def test_a_crash_takes_one_attempt_off_a_step_that_was_tried_before(world: World) -> None:
    register_test_executor(ActionType.SEND_WEBHOOK, Target(UNAVAILABLE, StepSuccess({})))
    run_id = pending_run(world, NOTIFY, WEBHOOK)
    world.execute()
    world.turn_clock(2)
    world.claim([run_id])
    assert [step["attempts"] for step in world.steps(run_id)] == [1, 2]
    world.turn_clock(231)
    world.sweep()
    assert [(step["status"], step["attempts"]) for step in world.steps(run_id)] == [
        ("SUCCEEDED", 1),
        ("FAILED", 1),
    ]
    world.execute()
    assert world.the_run()["status"] == "SUCCEEDED"
    assert [step["attempts"] for step in world.steps(run_id)] == [1, 2]


def test_a_live_lease_is_left_alone_however_long_ago_it_was_claimed(world: World, aws: Aws) -> None:
    run_id = pending_run(world)
    lease = world.claim([run_id])
    aws.queued()
    world.turn_clock(195)
    # A step begins late and pushes the lease on.
    world.context.database.transact(lambda c: run_holds.hold(c, [run_id], lease))
    world.turn_clock(29)
    world.sql("update automation_runs set enqueue_after = whenthen_now()")
    assert (world.sweep(), aws.queued()) == (1, [])
    run = world.the_run()
    assert (run["status"], run["crash_count"], run["lease_token"]) == ("RUNNING", 0, lease)
    woken = (run["enqueue_after"] - run["lease_expires_at"]).total_seconds()
    assert woken == pytest.approx(30, abs=1)


def test_case_055_the_eighth_crash_in_a_row_is_the_end(world: World, aws: Aws) -> None:
    run_id = pending_run(world)
    for crash in range(1, 9):
        assert world.the_run()["status"] == "PENDING", crash
        world.crash([run_id])
    run = world.the_run()
    assert (run["status"], run["crash_count"], run["deaths"]) == ("DEAD_LETTER", 8, 1)
    assert run["error"] == {
        "code": "WORKER_CRASHED",
        "message": "its worker died 8 times in a row",
        "actionIndex": 0,
        "actionType": "CREATE_NOTIFICATION",
        "attempts": 8,
    }
    assert world.steps(run_id) == []
    assert world.lines(run_id)[-2:] == [RECLAIMED, "error run dead-lettered"]
    assert aws.noticed() == [{"v": 1, "kind": "death", "runId": str(run_id), "death": 1}]
    executed = [e for e in aws.stream_records() if e["type"] == "automation.executed"]
    assert [e["payload"]["status"] for e in executed] == ["DEAD_LETTER"]
    # The row stays awake for its notice alone, and announced it sleeps.
    assert report_death(world.context, DeathNotice(run_id, 1))
    assert not report_death(world.context, DeathNotice(run_id, 1))
    world.turn_clock(86_400)
    assert world.sweep() == 0


def test_a_committed_step_ends_the_row_of_crashes(world: World) -> None:
    register_test_executor(ActionType.SEND_WEBHOOK, Target(StepSuccess({}), UNAVAILABLE))
    run_id = pending_run(world, WEBHOOK, WEBHOOK)
    for _ in range(7):
        world.crash([run_id])
    assert world.the_run()["crash_count"] == 7
    world.execute()
    assert (world.the_run()["status"], world.the_run()["crash_count"]) == ("PENDING", 0)


def test_two_sweeps_at_once_take_different_rows(world: World, aws: Aws) -> None:
    first, second = pending_run(world), pending_run(World(world.context))
    aws.queued()
    world.turn_clock(61)

    def hold_one(connection: Connection) -> UUID:
        (taken,) = sweeps.take_woken(connection, 1)
        with ThreadPoolExecutor(1) as other:
            assert other.submit(world.sweep).result() == 1
        return taken.id

    held = world.context.database.transact(hold_one)
    assert {held} | {UUID(text) for text in ids(aws.queued())} == {first, second}


def test_many_sweeps_at_once_send_each_message_once(world: World, aws: Aws) -> None:
    world.add_automation([NOTIFY])
    world.match(*[world.created_event(world.add_record()) for _ in range(100)])
    aws.queued()
    world.turn_clock(61)
    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(lambda _: world.sweep(), range(4))) == 100
    assert sorted(ids(aws.queued())) == sorted(str(run["id"]) for run in world.runs())


def test_case_052_a_run_that_is_just_being_finished_is_no_crash(world: World, aws: Aws) -> None:
    run_id = pending_run(world)
    lease = world.claim([run_id])
    world.turn_clock(231)

    def finish(connection: Connection) -> None:
        # The worker is slow but alive: it holds its row while the sweep passes by.
        assert run_id in run_holds.hold(connection, [run_id], lease)
        with ThreadPoolExecutor(1) as other:
            assert other.submit(world.sweep).result() == 0
        connection.exec_driver_sql(
            "update automation_runs set status = 'SUCCEEDED', lease_token = null,"
            " lease_expires_at = null, enqueue_after = null"
        )

    world.context.database.transact(finish)
    assert world.sweep() == 0
    assert (world.the_run()["status"], aws.noticed()) == ("SUCCEEDED", [])


def test_case_052_a_worker_that_comes_back_after_the_sweep_can_change_nothing(
    world: World,
) -> None:
    run_id = pending_run(world)
    lease = world.claim([run_id])
    world.turn_clock(231)
    world.sweep()
    held = world.context.database.transact(
        lambda connection: run_holds.hold(connection, [run_id], lease)
    )
    assert held == {}
    assert world.the_run()["status"] == "PENDING"


def test_a_sweep_serves_more_rows_than_one_transaction_takes(world: World) -> None:
    run_id = pending_run(world)
    world.claim([run_id])
    world.sql("update automation_runs set enqueue_after = whenthen_now()")
    copied = "id, automation_id, version, workspace_id, event_id, trigger_type, status, input"
    world.sql(
        f"insert into automation_runs ({copied}, root_run_id, lease_token, lease_expires_at,"
        " enqueue_after) select gen_random_uuid(), automation_id, version, workspace_id,"
        " event_id || n, trigger_type, status, input, root_run_id, lease_token,"
        " lease_expires_at, enqueue_after from automation_runs, generate_series(1, 2000) n"
    )
    assert world.sweep() == 2001
    assert world.sweep() == 0


def test_a_sweep_without_time_leaves_everything_to_the_next(world: World, aws: Aws) -> None:
    pending_run(world)
    aws.queued()
    world.turn_clock(61)
    assert sweep_runs(world.context, lambda: False) == 0
    assert relay_outbox(world.context, lambda: False) == 0
    assert (world.sweep(), len(aws.queued())) == (1, 1)


def test_a_dead_runs_notice_is_sent_again_until_it_is_out(world: World, aws: Aws) -> None:
    register_test_executor(ActionType.SEND_WEBHOOK, Target(UNAVAILABLE))
    run_id = pending_run(world, {**WEBHOOK, "retries": 0})
    world.execute()
    assert len(aws.noticed()) == 1
    world.turn_clock(90)
    assert world.sweep() == 0
    world.turn_clock(31)
    assert world.sweep() == 1
    assert aws.noticed() == [{"v": 1, "kind": "death", "runId": str(run_id), "death": 1}]
    world.turn_clock(901)
    assert (world.sweep(), len(aws.noticed())) == (1, 1)
    report_death(world.context, DeathNotice(run_id, 1))
    world.turn_clock(86_400)
    assert (world.sweep(), aws.noticed()) == (0, [])


@pytest.mark.parametrize(
    "definition",
    ['[{"id": "019a0000-0000-7000-8000-00000000000a", "type": "SEND_PIGEON", "config": {}}]'],
)
def test_a_run_that_newer_code_defined_stops_neither_the_sweep_nor_its_batch(
    world: World, definition: str
) -> None:
    newer, other = pending_run(world), pending_run(World(world.context))
    world.sql(
        "update automation_versions set schema = 99, actions = cast(:x as jsonb)"
        " where automation_id = (select automation_id from automation_runs where id = :r)",
        x=definition,
        r=newer,
    )
    world.execute([newer, other])
    statuses = {run["id"]: run["status"] for run in world.runs()}
    assert statuses == {newer: "PENDING", other: "SUCCEEDED"}
    world.turn_clock(61)
    third = pending_run(World(world.context))
    world.claim([newer, third])
    world.turn_clock(231)
    world.sweep()
    crashed = [run["id"] for run in world.runs() if run["crash_count"]]
    assert crashed == [newer, third]
    assert [run["status"] for run in world.runs()] == ["PENDING", "SUCCEEDED", "PENDING"]


# ------------------------------------------------------------------------------- the outbox


def unmatched_event(world: World) -> UUID:
    event = new_event(workspace_id=world.workspace_id, type="record.created", payload={})
    world.context.database.transact(lambda connection: outbox.add(connection, [event]))
    return event.id


def test_case_046_an_unmatched_event_is_relayed_after_a_minute_and_then_ever_more_rarely(
    world: World, aws: Aws
) -> None:
    outbox_id = unmatched_event(world)
    world.turn_clock(30)
    assert relay_outbox(world.context, lambda: True) == 0
    world.turn_clock(31)
    waits = []
    for _ in range(8):
        assert relay_outbox(world.context, lambda: True) == 1
        assert relay_outbox(world.context, lambda: True) == 0
        (row,) = world.sql("select relay_at - whenthen_now() as wait from outbox")
        waits.append(round(row["wait"].total_seconds() / 60))
        world.turn_clock(row["wait"].total_seconds() + 1)
    assert waits == [15, 30, 60, 120, 240, 360, 360, 360]
    relayed = aws.stream_records()
    assert [event["outboxId"] for event in relayed] == [str(outbox_id)] * 8
    assert len({event["occurredAt"] for event in relayed}) == 1


def test_two_relays_at_once_take_different_events(world: World) -> None:
    unmatched_event(world)
    unmatched_event(world)
    world.turn_clock(61)

    def hold_one(connection: Connection) -> None:
        assert len(sweeps.take_unmatched(connection, 1)) == 1
        with ThreadPoolExecutor(1) as other:
            assert other.submit(relay_outbox, world.context, lambda: True).result() == 1

    world.context.database.transact(hold_one)


def test_a_relay_takes_more_events_than_one_batch_holds(world: World, aws: Aws) -> None:
    events = [
        new_event(workspace_id=world.workspace_id, type="record.created", payload={})
        for _ in range(501)
    ]
    world.context.database.transact(lambda connection: outbox.add(connection, events))
    world.turn_clock(61)
    assert relay_outbox(world.context, lambda: True) == 501
    assert len(aws.stream_records()) == 501


# ------------------------------------------------------------------------- all workers are gone


def test_when_all_workers_are_gone_their_leases_are_void_and_nothing_is_counted(
    world: World, aws: Aws
) -> None:
    register_test_executor(ActionType.SEND_WEBHOOK, Target(UNAVAILABLE, StepSuccess({})))
    tried = pending_run(world, WEBHOOK)
    world.execute()
    world.turn_clock(2)
    untried = pending_run(World(world.context))
    unmatched_event(world)
    aws.queued()
    world.claim([tried, untried])
    assert void_leases(world.context) == 2
    for run in world.runs():
        assert (run["status"], run["crash_count"], run["lease_token"]) == ("PENDING", 0, None)
    assert [run["retry_count"] for run in world.runs()] == [1, 0]
    assert (world.steps(tried)[0]["attempts"], world.steps(untried)) == (1, [])
    assert world.sweep() == 2
    assert relay_outbox(world.context, lambda: True) == 1
    # The message of the retry may still be under way with its delay.
    assert set(ids(aws.queued())) == {str(tried), str(untried)}
    assert void_leases(world.context) == 0


def test_when_all_workers_are_gone_backoffs_and_delays_keep_their_time(
    world: World, aws: Aws
) -> None:
    run_id = pending_run(world)
    later = pending_run(World(world.context))
    aws.queued()
    world.sql(
        "update automation_runs set due_at = whenthen_now() + interval '400 seconds',"
        " enqueue_after = whenthen_now() + interval '460 seconds' where id = :r",
        r=run_id,
    )
    world.sql(
        "update automation_runs set due_at = whenthen_now() + interval '1 day',"
        " enqueue_after = whenthen_now() + interval '86310 seconds' where id = :r",
        r=later,
    )
    due = {run["id"]: run["due_at"] for run in world.runs()}
    assert void_leases(world.context) == 0
    assert world.sweep() == 1
    assert (aws.queued(), aws.delayed()) == ([], 1)
    assert {run["id"]: run["due_at"] for run in world.runs()} == due
