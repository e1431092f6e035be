"""Bringing back many runs at once, paced so that new ones are not drowned."""

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from tests.integration.conftest import Aws
from tests.integration.engine_world import World
from tests.integration.test_triage import NOTIFY
from whenthen.domain.kinds import RunStatus
from whenthen.engine.context import Context
from whenthen.engine.retry_runs import redrivable
from whenthen.store.new_id import new_id
from whenthen.store.run_retries import RunFilter


@pytest.fixture
def world(context: Context) -> World:
    return World(context)


def ended(world: World, count: int, status: str = "DEAD_LETTER") -> list[UUID]:
    """That many runs which ended so before their first step."""
    world.add_automation([NOTIFY])
    for _ in range(0, count, 100):
        world.match(*[world.created_event(world.add_record()) for _ in range(min(count, 100))])
    world.sql(
        "update automation_runs set status = :s, deaths = 1, notified_death = 1,"
        " enqueue_after = null, finished_at = whenthen_now(), retry_count = 3,"
        " error = '{}' where status = 'PENDING'",
        s=status,
    )
    return [row["id"] for row in world.sql("select id from automation_runs order by id")]


def test_redriven_runs_become_due_fifty_a_second_and_wake_themselves(
    world: World, aws: Aws
) -> None:
    run_ids = ended(world, 200)
    aws.queued()
    assert world.redrive() == 200
    rows = world.sql(
        "select id, extract(epoch from due_at - min(due_at) over ()) as wait_s,"
        " enqueue_after - due_at < interval '10 ms' as wakes_when_due"
        " from automation_runs order by id"
    )
    assert [row["id"] for row in rows] == run_ids
    paced = [n / 50 for n in range(200)]
    assert [float(row["wait_s"]) for row in rows] == pytest.approx(paced, abs=0.2)
    assert all(row["wakes_when_due"] for row in rows)
    # No message goes out with the request; the sweep sends those that are due by then.
    assert aws.queued() == []
    world.sql(
        "update automation_runs set due_at = due_at + interval '1 minute',"
        " enqueue_after = enqueue_after + interval '1 minute'"
    )
    world.turn_clock(61)
    swept = world.sweep()
    assert 40 <= swept < 200
    world.turn_clock(5)
    assert swept + world.sweep() == 200


def test_a_redriven_run_goes_on_as_new_with_its_log(world: World) -> None:
    (run_id,) = ended(world, 1)
    world.redrive()
    run = world.the_run()
    assert (run["status"], run["retry_count"], run["error"], run["forced"]) == (
        "PENDING",
        0,
        None,
        True,
    )
    assert world.lines(run_id)[-1] == "info run retried manually"
    (entry,) = world.sql("select * from audit_log")
    assert (entry["action"], entry["data"]) == ("runs.redriven", {"count": 1})
    world.turn_clock(1)
    world.execute()
    assert world.the_run()["status"] == "SUCCEEDED"
    assert world.redrive() == 0


def test_only_ended_runs_of_this_workspace_that_match_are_redriven(world: World) -> None:
    other = World(world.context)
    ended(other, 1)
    ended(world, 3)
    first, second, third = (
        run for run in world.runs() if run["workspace_id"] != other.workspace_id
    )
    world.sql("update automation_runs set status = 'FAILED' where id = :r", r=second["id"])
    later = datetime.now(UTC) + timedelta(hours=1)
    filters: list[tuple[dict[str, Any], int]] = [
        ({}, 3),
        ({"status": RunStatus.FAILED}, 1),
        ({"status": RunStatus.DEAD_LETTER}, 2),
        ({"automation_id": first["automation_id"]}, 3),
        ({"automation_id": new_id()}, 0),
        ({"record_id": third["record_id"]}, 1),
        ({"created_from": later}, 0),
        ({"created_to": later}, 3),
        ({"created_to": first["created_at"]}, 0),
        ({"created_from": first["created_at"]}, 3),
    ]
    for narrowed, expected in filters:
        count = partial(redrivable, wanted=RunFilter(world.workspace_id, **narrowed))
        assert world.in_transaction(count) == expected, narrowed
    assert world.redrive(status=RunStatus.FAILED) == 1
    pending = [run["id"] for run in world.runs() if run["status"] == "PENDING"]
    assert pending == [second["id"]]


@pytest.mark.parametrize("status", ["PENDING", "RUNNING", "SUCCEEDED"])
def test_runs_that_have_not_ended_badly_are_not_redriven(world: World, status: str) -> None:
    ended(world, 1, status)
    assert world.redrive() == 0


def test_runs_of_archived_automations_are_passed_over(world: World) -> None:
    ended(world, 1)
    world.sql("update automations set status = 'ARCHIVED'")
    assert world.redrive() == 0


def test_a_run_that_somebody_holds_is_passed_over(world: World) -> None:
    held, _free = ended(world, 2)

    def hold(connection: Any) -> int:
        connection.execute(
            text("select 1 from automation_runs where id = :r for update"), {"r": held}
        )
        return world.redrive()

    assert world.context.database.transact(hold) == 1


def test_finished_steps_stay_finished(world: World) -> None:
    (run_id,) = ended(world, 1)
    (action_id,) = (
        UUID(row["id"])
        for row in world.sql("select actions -> 0 ->> 'id' as id from automation_versions")
    )
    world.sql(
        "insert into automation_run_steps (run_id, generation, action_id, index, type, status,"
        " attempts, output) values (:r, 0, :a, 0, 'CREATE_NOTIFICATION', 'SUCCEEDED', 1, '{}')",
        r=run_id,
        a=action_id,
    )
    world.redrive()
    world.turn_clock(1)
    world.execute()
    assert world.the_run()["status"] == "SUCCEEDED"
    assert world.sql("select 1 from notifications") == []
