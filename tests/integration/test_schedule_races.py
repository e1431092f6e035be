"""Schedules under concurrent transactions: edits, ticks, reconciling, workers."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy.engine import Connection

from tests.integration.schedule_world import (
    NOTIFY,
    SECOND,
    ScheduleWorld,
    lock_schedules,
    triggers,
)
from tests.integration.store_world import claimed_ids
from whenthen.domain.kinds import AutomationStatus
from whenthen.domain.schemas import problems
from whenthen.domain.schemas.automations import StatusBody, TriggersBody
from whenthen.engine import align_schedules, edit_definition, fire_schedules, manage_automations
from whenthen.engine.align_schedules import align_all
from whenthen.engine.context import Context
from whenthen.engine.data_steps import take_data_steps
from whenthen.store import active_runs, automations, schedules

AT_25, QUARTERS, NOON = {"cron": "25 * * * *"}, {"cron": "*/15 * * * *"}, {"cron": "0 12 * * *"}
MINUTE = timedelta(minutes=1)
DEADLINE_S = 60


@pytest.fixture
def world(acting_context: Context) -> Iterator[ScheduleWorld]:
    made = ScheduleWorld(acting_context)
    yield made
    made.clear()


@contextmanager
def held_open(
    world: ScheduleWorld,
    work: Callable[[Connection], Any],
    last: Callable[[Connection], Any] = lambda _: None,
) -> Iterator[None]:
    """Do `work` in a transaction that does `last` and commits when the block is left."""
    done, leave = threading.Event(), threading.Event()

    def hold(connection: Connection) -> None:
        work(connection)
        done.set()
        assert leave.wait(DEADLINE_S)
        last(connection)

    with ThreadPoolExecutor(1) as pool:
        holding = pool.submit(world.in_transaction, hold)
        try:
            while not done.wait(0.01):
                assert not holding.done(), holding.result()
            yield
        finally:
            leave.set()
            holding.result(DEADLINE_S)


def waits_for_a_lock(world: ScheduleWorld) -> bool:
    rows = world.sql(
        "select 1 from pg_stat_activity where datname = current_database()"
        " and wait_event_type = 'Lock'"
    )
    return bool(rows)


def until(condition: Callable[[], bool]) -> None:
    pause = threading.Event()
    for _ in range(DEADLINE_S * 50):
        if condition():
            return
        pause.wait(0.02)
    raise AssertionError("it did not come to that")


def activating(world: ScheduleWorld, automation_id: UUID) -> Callable[[Connection], Any]:
    body = StatusBody(status=AutomationStatus.ACTIVE)
    return lambda c: manage_automations.set_status(c, world.owner, automation_id, body)


def putting(
    world: ScheduleWorld, automation_id: UUID, *configs: Any
) -> Callable[[Connection], Any]:
    body = problems.read(TriggersBody, {"triggers": triggers(*configs)})
    return lambda c: edit_definition.put_triggers(c, world.owner, automation_id, body)


def with_stale_row(world: ScheduleWorld) -> UUID:
    """Return a PAUSED automation whose schedule older code has left behind."""
    automation_id = world.scheduled(AT_25)
    world.sql("update automations set status = 'PAUSED' where id = :a", a=automation_id)
    return automation_id


def test_case_019_reconciling_deletes_nothing_that_an_activation_is_writing(
    world: ScheduleWorld,
) -> None:
    """Experiment E12: `delete … where not exists` took away what an activation had written."""
    automation_id = with_stale_row(world)
    with held_open(world, activating(world, automation_id)):
        assert align_all(world.context) == 0
    assert world.schedule(automation_id)["version"] == 1
    assert align_all(world.context) == 0


def test_case_019_reconciling_writes_no_old_cron_over_a_new_one(world: ScheduleWorld) -> None:
    """Experiment E12b: an upsert that had read the old trigger wrote it over the new row."""
    automation_id = world.scheduled(AT_25)
    world.sql("update schedules set version = 0 where automation_id = :a", a=automation_id)
    with held_open(world, putting(world, automation_id, QUARTERS)):
        assert align_all(world.context) == 0
    row = world.schedule(automation_id)
    assert (row["cron"], row["version"]) == ("*/15 * * * *", 2)


@pytest.mark.parametrize("edit", ["activate", "put"])
def test_case_019_what_was_read_before_an_edit_is_not_written_after_it(
    world: ScheduleWorld, edit: str
) -> None:
    automation_id = with_stale_row(world)
    seen = world.in_transaction(lambda c: schedules.drifted(c, 10))
    assert seen == [automation_id]
    world.in_transaction(activating(world, automation_id))
    if edit == "put":
        world.in_transaction(putting(world, automation_id, QUARTERS))
    before = world.schedule(automation_id)
    aligned = world.in_transaction(partial(align_schedules._align_free, seen))
    assert aligned.count == 0
    assert world.schedule(automation_id) == before


def test_two_reconcilers_at_once_write_each_schedule_once(world: ScheduleWorld) -> None:
    ids = [world.scheduled(AT_25) for _ in range(10)]
    world.sql("delete from schedules")
    with ThreadPoolExecutor(4) as pool:
        counts = list(pool.map(align_all, [world.context] * 4))
    assert sum(counts) == 10
    assert align_all(world.context) == 0
    assert all(len(world.schedules(one)) == 1 for one in ids)


def test_an_edit_waits_for_the_tick_that_has_its_schedule_and_takes_back_what_it_fired(
    world: ScheduleWorld,
) -> None:
    noon = world.noon()
    world.at(noon - 10 * MINUTE)
    automation_id = world.scheduled(NOON)
    world.at(noon - 30 * SECOND)
    fire = partial(fire_schedules._fire_batch, 0, None)
    edit = putting(world, automation_id, {"cron": "30 12 * * *"})
    with ThreadPoolExecutor(1) as pool:
        with held_open(world, fire):
            edited = pool.submit(world.in_transaction, edit)
            until(lambda: waits_for_a_lock(world))
            assert not edited.done()
        edited.result(DEADLINE_S)
    (run,) = world.runs_of(automation_id)
    assert (run["version"], run["status"], run["output"]) == (
        1,
        "SUCCEEDED",
        {"skipped": "superseded"},
    )
    assert world.schedule(automation_id)["next_at"] == noon + 30 * MINUTE


def test_an_edit_does_not_wait_for_a_worker_and_leaves_it_its_run(world: ScheduleWorld) -> None:
    noon = world.noon()
    world.at(noon - 10 * MINUTE)
    automation_id = world.scheduled(NOON)
    world.at(noon - SECOND)
    world.tick()
    (run,) = world.runs_of(automation_id)

    def claim(connection: Connection) -> None:
        assert claimed_ids(connection, [run["id"]], uuid4(), 200) == {run["id"]}

    with held_open(world, claim):
        world.at(noon - SECOND)
        world.put_actions(automation_id, NOTIFY, NOTIFY)
    (run,) = world.runs_of(automation_id)
    assert (run["version"], run["status"]) == (1, "RUNNING")
    # It was not taken away, so the new version does not begin with it.
    assert world.schedule(automation_id)["next_at"] == noon + timedelta(days=1)


def test_a_worker_does_not_wait_for_an_edit_that_ends_its_run(world: ScheduleWorld) -> None:
    noon = world.noon()
    world.at(noon - 10 * MINUTE)
    automation_id = world.scheduled(NOON)
    world.at(noon - 1.5 * SECOND)
    world.tick()
    (run,) = world.runs_of(automation_id)
    with held_open(world, putting(world, automation_id, QUARTERS)):
        world.execute([run["id"]])
    world.execute([run["id"]])
    (run,) = world.runs_of(automation_id)[:1]
    assert run["output"] == {"skipped": "superseded"}
    assert world.steps(run["id"]) == []


def test_a_superseded_run_whose_message_is_in_flight_does_nothing(world: ScheduleWorld) -> None:
    noon = world.noon()
    world.at(noon - 10 * MINUTE)
    automation_id = world.scheduled(NOON)
    world.at(noon - 30 * SECOND)
    world.tick()
    (run,) = world.runs_of(automation_id)
    assert run["status"] == "PENDING"
    world.put(automation_id, QUARTERS)
    world.at(noon)
    world.execute([run["id"]])
    after = world.sql("select * from automation_runs where id = :r", r=run["id"])[0]
    assert (after["status"], after["output"]) == ("SUCCEEDED", {"skipped": "superseded"})
    assert (after["started_at"], after["enqueue_after"], after["lease_token"]) == (None,) * 3
    assert world.lines(run["id"]) == ["info run created", "info run skipped: superseded"]
    assert (noon, 1, "skipped", "superseded") in world.occurrences(automation_id)
    executed = [
        event["payload"]["status"]
        for event in world.outbox_events()
        if event["payload"]["runId"] == str(run["id"])
    ]
    assert executed == ["SUCCEEDED"]


def test_an_end_does_not_wait_for_a_schedule_that_a_tick_holds(world: ScheduleWorld) -> None:
    noon = world.noon()
    world.at(noon - 10 * MINUTE)
    automation_id = world.scheduled({**NOON, "overlap": "skip"})
    world.at(noon)
    world.tick()
    (run,) = world.runs_of(automation_id)
    (progress,) = world.admit(run["id"])
    assert world.schedule(automation_id)["active_run_id"] == run["id"]
    with held_open(world, lock_schedules):
        world.cancel(run["id"])
        # Its worker notices before the next step; the clearing is left to whoever comes next.
        assert take_data_steps(world.context, [progress]) == []
    assert world.runs_of(automation_id)[0]["status"] == "FAILED"
    assert world.schedule(automation_id)["active_run_id"] == run["id"]
    world.tick_at(noon + timedelta(days=1))
    assert world.acted(automation_id) == [(noon + timedelta(days=1), 1)]


def test_a_place_that_is_waited_for_is_judged_as_things_stand_after_the_wait(
    world: ScheduleWorld,
) -> None:
    """One UPDATE alone takes it: the winner is not in the snapshot with which it began to wait."""
    noon = world.noon()
    world.at(noon - 10 * MINUTE)
    automation_id = world.scheduled({**NOON, "overlap": "skip"})
    world.at(noon)
    world.tick()
    (run,) = world.runs_of(automation_id)
    schedule_id = run["schedule_id"]
    winners: list[UUID] = []

    def win(connection: Connection) -> None:
        assert active_runs.take(connection, schedule_id, winners[0])

    take = partial(active_runs.take, schedule_id=schedule_id, run_id=run["id"])
    with ThreadPoolExecutor(1) as pool:
        with held_open(world, lock_schedules, win):
            asked = pool.submit(world.in_transaction, take)
            until(lambda: waits_for_a_lock(world))
            winners.append(world.another_run(run["id"], 1))
        assert asked.result(DEADLINE_S) is False
    assert world.schedule(automation_id)["active_run_id"] == winners[0]


def test_a_run_that_cannot_ask_whether_it_overlaps_is_given_back_uncounted(
    world: ScheduleWorld,
) -> None:
    noon = world.noon()
    world.at(noon - 10 * MINUTE)
    automation_id = world.scheduled({**NOON, "overlap": "skip"})
    neighbour = world.scheduled(NOON)
    world.at(noon)
    world.tick()
    with held_open(world, lock_schedules):
        world.execute()
    (run,) = world.runs_of(automation_id)
    assert (run["status"], run["retry_count"], run["crash_count"]) == ("PENDING", 0, 0)
    assert world.steps(run["id"]) == []
    assert world.acted(neighbour) == [(noon, 1)]
    world.at(noon + 10 * SECOND)
    world.execute()
    assert world.acted(automation_id) == [(noon, 1)]


def test_automations_and_schedules_in_many_hands_never_deadlock(world: ScheduleWorld) -> None:
    """Edits, ticks, reconciling and workers over the same few schedules, all at once."""
    noon = world.noon()
    world.at(noon - 10 * MINUTE)
    ids = [world.scheduled({"cron": "* * * * *", "overlap": "skip"}, NOON) for _ in range(4)]
    world.at(noon - 58 * SECOND)

    def edit(n: int) -> None:
        for turn in range(6):
            world.put_actions(ids[n], *[NOTIFY] * (turn % 3 + 1))

    def tick() -> None:
        for _ in range(6):
            world.tick()
            align_all(world.context)

    def work() -> None:
        for _ in range(12):
            world.execute()

    with ThreadPoolExecutor(8) as pool:
        jobs: list[Callable[[], None]] = [*(partial(edit, n) for n in range(4)), tick, tick]
        for done in [pool.submit(job) for job in [*jobs, work, work]]:
            done.result(DEADLINE_S * 3)
    world.at(noon + 5 * SECOND)
    world.tick()
    world.execute()
    twice = world.sql(
        "select o.schedule_id, o.scheduled_for from automation_runs r"
        " join schedule_occurrences o on o.run_id = r.id where r.output ? 'actions'"
        " group by o.schedule_id, o.scheduled_for having count(*) > 1"
    )
    assert twice == []
    for automation_id in ids:
        head = world.in_transaction(partial(automations.lock, automation_id=automation_id))
        assert head is not None
        assert head.version > 1
        assert [row["version"] for row in world.schedules(automation_id)] == [head.version] * 2
        # Both of its schedules are due at noon.
        assert [at for at, _ in world.acted(automation_id)].count(noon) == 2
