"""New runs: one per automation and event, however often and from wherever the event comes."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import cast
from uuid import UUID, uuid4

import pytest
from sqlalchemy.engine import Connection

from tests.integration.statements import counted
from tests.integration.store_world import StoreWorld
from whenthen.engine.context import Context
from whenthen.store.new_id import new_id
from whenthen.store.pipelined import PipelinedConnection
from whenthen.store.run_inserts import InsertedRun, NewRun, RunEvent, insert_runs


@pytest.fixture
def world(shared_context: Context) -> StoreWorld:
    return StoreWorld(shared_context)


def inserted(world: StoreWorld, events: list[RunEvent], runs: list[NewRun]) -> list[InsertedRun]:
    return world.transact(lambda connection: insert_runs(connection, events, runs))


def test_a_run_is_pending_due_now_and_wakes_itself_a_minute_later(world: StoreWorld) -> None:
    automation_id = world.add_automation([])
    event = world.event(event_id="evt:x:1", record_id="r-1", input=world.input(Name="Tap"))
    run = NewRun(new_id(), 0, automation_id, 7)
    assert inserted(world, [event], [run]) == [InsertedRun(run.id, world.workspace_id)]
    row = world.row(run.id)
    assert {
        name: row[name]
        for name in (
            "automation_id",
            "version",
            "workspace_id",
            "event_id",
            "trigger_type",
            "record_id",
            "status",
            "input",
            "depth",
            "root_run_id",
            "parent_run_id",
            "chain",
            "forced",
        )
    } == {
        "automation_id": automation_id,
        "version": 7,
        "workspace_id": world.workspace_id,
        "event_id": "evt:x:1",
        "trigger_type": "record.created",
        "record_id": "r-1",
        "status": "PENDING",
        "input": world.input(Name="Tap"),
        "depth": 0,
        "root_run_id": run.id,
        "parent_run_id": None,
        "chain": [],
        "forced": False,
    }
    assert row["due_in_s"] == pytest.approx(0, abs=5)
    assert (row["enqueue_after"] - row["due_at"]).total_seconds() == pytest.approx(60, abs=0.1)
    assert (row["started_at"], row["finished_at"], row["lease_token"]) == (None, None, None)
    assert world.lines(run.id) == ["info run created"]
    assert world.line_data(run.id, "run created") == {"eventId": "evt:x:1"}


def test_a_run_of_a_chain_keeps_its_root_its_parent_and_its_way(world: StoreWorld) -> None:
    root, parent = uuid4(), uuid4()
    event = world.event(depth=3, root_run_id=root, parent_run_id=parent, chain=["a", "b", "c"])
    run = NewRun(new_id(), 0, world.add_automation([]), 1, forced=True)
    inserted(world, [event], [run])
    row = world.row(run.id)
    assert (row["depth"], row["root_run_id"], row["parent_run_id"], row["chain"]) == (
        3,
        root,
        parent,
        ["a", "b", "c"],
    )
    assert row["forced"] is True


@pytest.mark.parametrize(("due_in_s", "wake_in_s"), [(0, 60), (900, 960), (901, 811)])
def test_a_delayed_run_wakes_itself_after_its_message_or_before_it_is_due(
    world: StoreWorld, due_in_s: int, wake_in_s: int
) -> None:
    run = NewRun(new_id(), 0, world.add_automation([]), 1, due_in_s=due_in_s)
    inserted(world, [world.event()], [run])
    row = world.row(run.id)
    assert row["due_in_s"] == pytest.approx(due_in_s, abs=5)
    ahead_s = (row["enqueue_after"] - row["due_at"]).total_seconds()
    assert ahead_s == pytest.approx(wake_in_s - due_in_s, abs=0.1)


def test_case_038_an_event_that_comes_again_inserts_nothing_and_logs_nothing(
    world: StoreWorld,
) -> None:
    automation_id = world.add_automation([])
    event = world.event(input=world.input(n=1))
    first = NewRun(new_id(), 0, automation_id, 1)
    inserted(world, [event], [first])
    before = world.everything(first.id)
    again = world.event(event_id=event.event_id, input=world.input(n=2))
    second = NewRun(new_id(), 0, automation_id, 2)
    assert inserted(world, [again], [second]) == []
    assert world.everything(first.id) == before
    assert world.sql("select 1 from automation_runs where id = :r", r=second.id) == []
    assert world.lines(second.id) == []


def test_case_021_one_event_twice_in_a_batch_makes_one_run(world: StoreWorld) -> None:
    automation_id = world.add_automation([])
    event = world.event()
    runs = [NewRun(new_id(), place, automation_id, 1) for place in (0, 1)]
    (kept,) = inserted(world, [event, event], runs)
    rows = world.sql("select id from automation_runs where automation_id = :a", a=automation_id)
    assert [row["id"] for row in rows] == [kept.id]
    assert world.lines(kept.id) == ["info run created"]


def test_an_event_starts_several_automations_and_an_automation_has_several_events(
    world: StoreWorld,
) -> None:
    automations = [world.add_automation([]) for _ in range(3)]
    events = [world.event(input=world.input(n=n)) for n in range(2)]
    runs = [
        NewRun(new_id(), place, automation_id, 1)
        for automation_id in automations
        for place in range(2)
    ]
    found = inserted(world, events, runs)
    assert [run.id for run in found] == sorted(run.id for run in runs)
    assert {run.id: world.row(run.id)["input"]["payload"]["n"] for run in runs} == {
        run.id: run.event for run in runs
    }


def test_an_events_payload_travels_once_however_many_automations_it_starts(
    world: StoreWorld,
) -> None:
    automations = [world.add_automation([]) for _ in range(3)]
    event = world.event(input=world.input(text="a text that is long"))
    sent: list[str | None] = []

    def work(connection: Connection) -> list[InsertedRun]:
        raw = cast("PipelinedConnection", connection.connection.dbapi_connection)
        send = raw.send_BIND

        def note(name: bytes, params: Sequence[str | None]) -> None:
            sent.extend(params)
            send(name, params)

        raw.send_BIND = note  # type: ignore[method-assign]
        runs = [NewRun(new_id(), 0, automation_id, 1) for automation_id in automations]
        try:
            return insert_runs(connection, [event], runs)
        finally:
            del raw.send_BIND

    assert len(world.transact(work)) == 3
    assert "".join(text or "" for text in sent).count("a text that is long") == 1


def test_case_038_the_same_event_id_of_two_automations_is_two_runs(world: StoreWorld) -> None:
    event = world.event()
    runs = [NewRun(new_id(), 0, world.add_automation([]), 1) for _ in range(2)]
    assert len(inserted(world, [event], runs)) == 2


def test_no_runs_are_no_statement(world: StoreWorld) -> None:
    with counted(world.context.database) as cost:
        assert inserted(world, [world.event()], []) == []
    assert cost.statements == []


def test_rows_are_inserted_by_automation_and_event_whatever_the_order_they_come_in(
    world: StoreWorld,
) -> None:
    """The order of locks: writers that all keep to it cannot wait for each other in a ring."""
    automations = sorted((world.add_automation([]) for _ in range(4)), reverse=True)
    events = sorted((world.event() for _ in range(8)), key=lambda e: e.event_id, reverse=True)
    runs = [
        NewRun(new_id(), place, automation_id, 1)
        for place in range(len(events))
        for automation_id in automations
    ]
    inserted(world, events, runs)
    rows = "select r.id from automation_runs r join automation_logs l on l.run_id = r.id"
    mine = "where r.workspace_id = :w order by"
    as_written = world.sql(f"{rows} {mine} l.seq", w=world.workspace_id)
    assert as_written == world.sql(f"{rows} {mine} automation_id, event_id", w=world.workspace_id)
    assert len(as_written) == 32


def test_case_021_two_writers_of_the_same_events_do_not_deadlock_and_make_each_run_once(
    world: StoreWorld,
) -> None:
    automations = [world.add_automation([]) for _ in range(4)]
    events = [world.event() for _ in range(25)]
    barrier = Barrier(2)

    def writer(n: int) -> list[UUID]:
        ordered = events if n else events[::-1]
        runs = [
            NewRun(new_id(), place, automation_id, 1)
            for place in range(len(ordered))
            for automation_id in (automations if n else automations[::-1])
        ]
        barrier.wait(30)
        return [run.id for run in inserted(world, ordered, runs)]

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(writer, range(2))
    assert len(first) + len(second) == 100
    rows = world.sql("select id from automation_runs where workspace_id = :w", w=world.workspace_id)
    assert {row["id"] for row in rows} == {*first, *second}
