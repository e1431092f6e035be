"""Runs of one schedule at the same time: allowed, or the second one skipped."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from tests.integration.schedule_world import NOTIFY, SECOND, ScheduleWorld
from tests.integration.statements import counted
from whenthen.engine.context import Context
from whenthen.store import active_runs
from whenthen.store.new_id import new_id

MINUTE = timedelta(minutes=1)
EVERY_MINUTE = {"cron": "* * * * *", "overlap": "skip"}
UNKNOWN_RECORD = {"type": "DELETE_RECORD", "config": {"recordId": str(new_id())}}
LONG = {"type": "DELAY", "config": {"seconds": 150}}


@pytest.fixture
def world(acting_context: Context) -> Iterator[ScheduleWorld]:
    made = ScheduleWorld(acting_context)
    yield made
    made.clear()


def two_runs(world: ScheduleWorld, **more: Any) -> tuple[UUID, UUID, UUID]:
    """Return an automation and its runs of noon and of a minute later, both due now."""
    noon = world.noon()
    world.at(noon - 2 * MINUTE - 30 * SECOND)
    automation_id = world.scheduled({"cron": "0,1 12 * * *", "overlap": "skip"}, **more)
    for instant in (noon, noon + MINUTE):
        world.at(instant)
        world.tick()
    first, second = world.runs_of(automation_id)
    return automation_id, first["id"], second["id"]


def active(world: ScheduleWorld, automation_id: UUID) -> UUID | None:
    run_id: UUID | None = world.schedule(automation_id)["active_run_id"]
    return run_id


def status(world: ScheduleWorld, run_id: UUID) -> str:
    (row,) = world.sql("select status from automation_runs where id = :r", r=run_id)
    return str(row["status"])


def is_skipped(world: ScheduleWorld, run_id: UUID) -> bool:
    """Whether the run ended as an overlap; then its occurrence says so too, else it fired."""
    (row,) = world.sql(
        "select r.output ->> 'skipped' as skipped, o.outcome, o.reason from automation_runs r"
        " join schedule_occurrences o on o.run_id = r.id where r.id = :r",
        r=run_id,
    )
    skipped: bool = row["skipped"] == "overlap"
    expected = ("skipped", "overlap") if skipped else ("fired", None)
    assert (row["outcome"], row["reason"]) == expected
    return skipped


@pytest.mark.parametrize("overlap", ["allow", "skip"])
def test_case_025_a_run_that_is_longer_than_the_interval(
    world: ScheduleWorld, overlap: str
) -> None:
    noon = world.noon()
    world.at(noon - 90 * SECOND)
    automation_id = world.scheduled(
        {"cron": "0-4 12 * * *", "overlap": overlap}, actions=[LONG, NOTIFY]
    )
    for n in range(30):
        world.tick_at(noon + (n * 20 + 2) * SECOND)
    runs = world.runs_of(automation_id)
    assert [run["status"] for run in runs] == ["SUCCEEDED"] * 5
    ran = [run["scheduled_for"] for run in runs if "actions" in run["output"]]
    minutes = range(5) if overlap == "allow" else (0, 3)
    assert ran == [noon + n * MINUTE for n in minutes]
    assert [is_skipped(world, run["id"]) for run in runs] == [
        run["scheduled_for"] not in ran for run in runs
    ]
    assert active(world, automation_id) is None


def test_the_active_run_keeps_its_place_while_it_waits_for_another_try(
    world: ScheduleWorld,
) -> None:
    automation_id, first, second = two_runs(world)
    world.admit(first)
    world.sql(
        "update automation_runs set status = 'PENDING', lease_token = null,"
        " due_at = whenthen_now() + interval '1 hour' where id = :r",
        r=first,
    )
    world.execute([second])
    assert is_skipped(world, second)
    assert active(world, automation_id) == first


def ends_well(world: ScheduleWorld, run_id: UUID) -> None:
    world.execute([run_id])
    assert status(world, run_id) == "SUCCEEDED"


def fails(world: ScheduleWorld, run_id: UUID) -> None:
    world.execute([run_id])
    assert status(world, run_id) == "FAILED"


def is_cancelled(world: ScheduleWorld, run_id: UUID) -> None:
    world.admit(run_id)
    world.sql("update automation_runs set status = 'PENDING' where id = :r", r=run_id)
    world.cancel(run_id)
    assert status(world, run_id) == "FAILED"


def dies(world: ScheduleWorld, run_id: UUID) -> None:
    world.admit(run_id)
    for _ in range(8):
        world.turn_clock(240)
        world.sweep()
        if status(world, run_id) == "PENDING":
            world.claim([run_id])
    assert status(world, run_id) == "DEAD_LETTER"


def is_not_for_it(world: ScheduleWorld, run_id: UUID) -> None:
    world.execute([run_id])
    (row,) = world.sql("select output from automation_runs where id = :r", r=run_id)
    assert row["output"] == {"skipped": "conditions_not_met"}


NEVER = {"field": {"ref": "event", "path": "cron"}, "operator": "eq", "value": "never"}
ENDS: list[tuple[Callable[[ScheduleWorld, UUID], None], dict[str, Any]]] = [
    (ends_well, {}),
    (fails, {"actions": [UNKNOWN_RECORD]}),
    (is_cancelled, {}),
    (dies, {}),
    (is_not_for_it, {"condition": NEVER}),
]


@pytest.mark.parametrize(("end", "more"), ENDS)
def test_case_025_every_end_of_the_active_run_makes_room_for_the_next(
    world: ScheduleWorld, end: Callable[[ScheduleWorld, UUID], None], more: dict[str, Any]
) -> None:
    automation_id, first, second = two_runs(world, **more)
    end(world, first)
    assert active(world, automation_id) is None
    assert len(world.admit(second)) == (0 if more.get("condition") else 1)
    assert not is_skipped(world, second)


def test_a_crashed_active_run_stays_active_until_it_has_ended(world: ScheduleWorld) -> None:
    automation_id, first, second = two_runs(world)
    assert len(world.admit(first)) == 1
    # Its worker is gone; nobody knows yet, then the sweep does.
    world.execute([second])
    assert is_skipped(world, second)
    world.turn_clock(240)
    world.sweep()
    assert (status(world, first), active(world, automation_id)) == ("PENDING", first)
    world.execute([first])
    assert status(world, first) == "SUCCEEDED"
    assert not is_skipped(world, first)
    assert active(world, automation_id) is None


def test_a_run_whose_worker_died_before_the_guards_was_never_active(world: ScheduleWorld) -> None:
    automation_id, first, second = two_runs(world)
    world.claim([first])
    world.execute([second])
    assert status(world, second) == "SUCCEEDED"
    assert not is_skipped(world, second)
    world.turn_clock(240)
    world.sweep()
    world.execute([first])
    assert not is_skipped(world, first)
    assert active(world, automation_id) is None


@pytest.mark.parametrize(
    ("actions", "from_", "skipped"),
    [
        # Half done, it goes on; a run that has done nothing yet is asked like any other.
        ([NOTIFY, UNKNOWN_RECORD], "failed", False),
        ([UNKNOWN_RECORD], "failed", True),
        ([NOTIFY, UNKNOWN_RECORD], "start", True),
    ],
)
def test_a_run_that_is_retried_by_hand_beside_an_active_one(
    world: ScheduleWorld,
    actions: list[dict[str, Any]],
    from_: Any,
    skipped: bool,  # noqa: FBT001
) -> None:
    automation_id, first, second = two_runs(world, actions=actions)
    fails(world, first)
    assert len(world.admit(second)) == 1
    world.retry(first, from_=from_)
    world.execute([first])
    assert is_skipped(world, first) == skipped
    assert status(world, first) == ("SUCCEEDED" if skipped else "FAILED")
    assert active(world, automation_id) == second


def test_a_half_done_run_that_is_retried_by_hand_is_the_active_one_again(
    world: ScheduleWorld,
) -> None:
    automation_id, first, second = two_runs(world, actions=[NOTIFY, UNKNOWN_RECORD])
    fails(world, first)
    world.retry(first)
    assert len(world.admit(first)) == 1
    assert active(world, automation_id) == first
    world.execute([second])
    assert is_skipped(world, second)


def test_of_runs_that_are_claimed_together_one_acts(world: ScheduleWorld) -> None:
    _, first, second = two_runs(world)
    world.execute([first, second])
    assert sorted(is_skipped(world, run_id) for run_id in (first, second)) == [False, True]


@pytest.mark.parametrize("attempt", range(5))
def test_of_workers_that_ask_at_once_one_gets_the_place(world: ScheduleWorld, attempt: int) -> None:
    automation_id, *run_ids = two_runs(world)
    run_ids += [world.another_run(run_ids[0], n) for n in range(6)]
    with ThreadPoolExecutor(8) as pool:
        admitted = [len(runs) for runs in pool.map(world.admit, run_ids)]
    assert sum(admitted) == 1, attempt
    assert active(world, automation_id) == run_ids[admitted.index(1)]


@pytest.mark.parametrize(
    ("state", "gets_it"),
    [("null", True), ("own", True), ("gone", True)]
    + [(state, False) for state in ("PENDING", "RUNNING")]
    + [(state, True) for state in ("SUCCEEDED", "FAILED", "DEAD_LETTER")],
)
def test_who_may_take_the_place_of_a_schedule(
    world: ScheduleWorld,
    state: str,
    gets_it: bool,  # noqa: FBT001
) -> None:
    automation_id, first, second = two_runs(world)
    schedule_id = world.schedule(automation_id)["id"]
    named: UUID | None = {"null": None, "own": first, "gone": new_id()}.get(state, second)
    world.sql("update schedules set active_run_id = :r", r=named)
    if state.isupper():
        world.sql("update automation_runs set status = :s where id = :r", s=state, r=second)
    took = world.in_transaction(lambda c: active_runs.take(c, schedule_id, first))
    assert took == gets_it
    assert active(world, automation_id) == (first if gets_it else named)


def test_a_schedule_that_allows_overlap_by_now_or_is_gone_stands_in_nobodys_way(
    world: ScheduleWorld,
) -> None:
    automation_id, first, second = two_runs(world)
    schedule_id = world.schedule(automation_id)["id"]
    world.sql("update schedules set active_run_id = :r", r=second)
    world.put(automation_id, {"cron": "0,1 12 * * *"})
    take = partial(active_runs.take, schedule_id=schedule_id, run_id=first)
    assert world.in_transaction(take)
    world.sql("delete from schedules")
    assert world.in_transaction(take)


@pytest.mark.parametrize("edit", ["actions", "cron", "pause"])
def test_an_edit_does_not_let_the_next_run_begin_beside_the_active_one(
    world: ScheduleWorld, edit: str
) -> None:
    noon = world.noon()
    world.at(noon - 90 * SECOND)
    automation_id = world.scheduled(EVERY_MINUTE, actions=[NOTIFY, LONG, NOTIFY])
    world.tick_at(noon + SECOND)
    (first, *_) = (run["id"] for run in world.runs_of(automation_id))
    assert active(world, automation_id) is not None
    before = active(world, automation_id)
    if edit == "actions":
        world.put_actions(automation_id, NOTIFY)
    elif edit == "cron":
        world.put(automation_id, {"cron": "*/1 * * * *", "overlap": "skip"})
    else:
        world.take(automation_id, "PAUSED")
        world.take(automation_id, "ACTIVE")
    assert active(world, automation_id) == before
    world.tick_at(noon + MINUTE + SECOND)
    assert "overlap" in world.skips(automation_id)
    assert first is not None


def test_only_schedules_whose_runs_may_not_overlap_cost_more(world: ScheduleWorld) -> None:
    """A transaction of two statements for the place, and one statement that gives it back."""
    noon = world.noon()
    costs: list[tuple[int, int]] = []
    for overlap in ("allow", "skip"):
        world.at(noon - 90 * SECOND)
        automation_id = world.scheduled({"cron": "0 12 * * *", "overlap": overlap})
        world.at(noon)
        world.tick()
        (run,) = world.runs_of(automation_id)
        with counted(world.context.database) as cost:
            world.execute([run["id"]])
        assert world.acted(automation_id) == [(noon, 1)]
        costs.append((len(cost.statements), cost.commits))
    (statements, commits), (more_statements, more_commits) = costs
    assert commits == 2
    assert (more_statements - statements, more_commits - commits) == (3, 1)
