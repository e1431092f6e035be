"""Everything may arrive twice, and at once."""

from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest

from tests.integration.engine_world import World, arrival
from tests.integration.test_triage import NOTIFY
from whenthen.domain.kinds import ActionType
from whenthen.engine.context import Context
from whenthen.engine.match_events import match_events


@pytest.fixture
def world(context: Context) -> World:
    return World(context)


def test_case_038_the_same_event_five_times_twice_at_once_is_one_run(world: World) -> None:
    world.add_automation([NOTIFY])
    event = world.created_event(world.add_record(), Status="B")
    with ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(world.match, event) for _ in range(2)]:
            future.result()
    for _ in range(3):
        world.match(event)
    assert len(world.runs()) == 1


def test_case_038_two_automations_get_a_run_each(world: World) -> None:
    world.add_automation([NOTIFY])
    world.add_automation([NOTIFY])
    event = world.created_event(world.add_record(), Status="B")
    world.match(event)
    world.match(event)
    assert len(world.runs()) == 2


def test_case_038_an_event_without_an_id_is_known_by_its_place_on_the_stream(world: World) -> None:
    world.add_automation([NOTIFY])
    event = {**world.created_event(world.add_record()), "id": None}
    for source in ("shardId-0:1", "shardId-0:1", "shardId-0:2"):
        match_events(world.context, [arrival(event, source)], [])
    assert [run["event_id"] for run in world.runs()] == [
        f"evt:{world.workspace_id}:shardId-0:1",
        f"evt:{world.workspace_id}:shardId-0:2",
    ]


def test_one_event_twice_in_one_batch_is_one_run(world: World) -> None:
    world.add_automation([NOTIFY])
    event = world.created_event(world.add_record())
    world.match(event, event)
    assert len(world.runs()) == 1


def test_the_same_run_message_five_times_is_one_execution(world: World) -> None:
    world.add_automation([NOTIFY])
    world.match(world.created_event(world.add_record()))
    run_id = world.the_run()["id"]
    with ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(world.execute, [run_id]) for _ in range(2)]:
            future.result()
    for _ in range(3):
        world.execute([run_id])
    assert len(world.sql("select 1 from notifications")) == 1
    assert world.lines(run_id).count("info run started") == 1


def test_50_claimers_on_500_runs_execute_each_once(world: World) -> None:
    world.add_automation([NOTIFY])
    events = [world.created_event(world.add_record()) for _ in range(500)]
    for start in range(0, 500, 100):
        world.match(*events[start : start + 100])
    run_ids: list[UUID] = world.pending_ids()
    assert len(run_ids) == 500

    def claimer(n: int) -> None:
        # Each starts elsewhere and meets the others' runs on its way.
        turned = run_ids[n * 10 :] + run_ids[: n * 10]
        for start in range(0, 60, 5):
            world.execute(turned[start : start + 5])

    with ThreadPoolExecutor(50) as pool:
        for future in [pool.submit(claimer, n) for n in range(50)]:
            future.result()
    assert {run["status"] for run in world.runs()} == {"SUCCEEDED"}
    per_run = world.sql("select run_id, count(*) as n from notifications group by run_id")
    assert (len(per_run), {row["n"] for row in per_run}) == (500, {1})
    attempts = world.sql("select distinct attempts from automation_run_steps")
    assert [row["attempts"] for row in attempts] == [1]
    assert ActionType.CREATE_NOTIFICATION in {
        row["type"] for row in world.sql("select distinct type from automation_run_steps")
    }
