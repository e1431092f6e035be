"""Runs that automations start in each other: delayed by the minute, stopped by the day."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tests.conftest import settings_for
from tests.integration.conftest import Aws
from tests.integration.engine_world import World
from tests.integration.test_triage import NOTIFY
from whenthen.domain.rules.loop_guard import child_context
from whenthen.engine.context import Context
from whenthen.store.new_id import new_id

WEBHOOK_TRIGGER = {"type": "WEBHOOK", "config": {}}


@pytest.fixture
def world(migrated_url: str, aws: Aws) -> Iterator[World]:
    """A world whose automations may start 2 runs a minute and 5 a day in each other."""
    context = Context(
        settings_for(
            migrated_url,
            EVENT_STREAM_NAME=aws.stream,
            RUN_QUEUE_URL=aws.queue_url,
            NOTICE_QUEUE_URL=aws.notice_url,
            AUTOMATION_MAX_RUNS_PER_MINUTE="2",
            AUTOMATION_MAX_CHAINED_RUNS_PER_DAY="5",
        ),
        "test",
    )
    yield World(context)
    context.database.close()


def chained(world: World) -> dict[str, Any]:
    """An event that the run of another automation has emitted."""
    cause = child_context(new_id(), new_id(), new_id(), 0, ())
    return {
        **world.created_event(world.add_record()),
        "automationContext": {
            "automationId": str(cause.automation_id),
            "runId": str(cause.run_id),
            "rootRunId": str(cause.root_run_id),
            "depth": cause.depth,
            "chain": [str(link) for link in cause.chain],
        },
    }


def called(world: World, automation_id: object) -> dict[str, Any]:
    return {
        "id": str(new_id()),
        "type": "webhook.received",
        "workspaceId": str(world.workspace_id),
        "payload": {"automationId": str(automation_id)},
    }


def delays(world: World) -> list[int]:
    rows = world.sql("select extract(epoch from due_at - created_at) as s from automation_runs")
    return sorted(round(row["s"]) for row in rows)


def counts(world: World) -> dict[str, int]:
    rows = world.sql("select span, sum(n) as n from automation_rate group by span")
    return {row["span"]: int(row["n"]) for row in rows}


def start_of_minute(world: World) -> None:
    """Turn the clock to the beginning of a minute, so that no test straddles two of them."""
    (row,) = world.sql(
        "select 60 - extract(second from whenthen_now()) as left_s,"
        " extract(hour from whenthen_now() at time zone 'UTC') as hour"
    )
    world.turn_clock(float(row["left_s"]) + 0.1)
    if row["hour"] == 23:
        world.turn_clock(3_600)


def match(world: World, events: Sequence[Any]) -> None:
    world.match(*events)


@pytest.mark.parametrize("by_one", [True, False])
def test_case_042_chained_runs_above_the_minutes_limit_are_delayed_not_dropped(
    world: World, aws: Aws, *, by_one: bool
) -> None:
    world.add_automation([NOTIFY])
    start_of_minute(world)
    events = [chained(world) for _ in range(5)]
    for batch in [[event] for event in events] if by_one else [events]:
        match(world, batch)
    assert delays(world) == [0, 0, 60, 60, 120]
    assert (len(aws.queued()), aws.delayed()) == (2, 3)
    assert counts(world) == {"minute": 5, "day": 5}
    world.execute()
    assert [run["status"] for run in world.runs()].count("SUCCEEDED") == 2
    for _ in range(2):
        world.turn_clock(60)
        world.execute()
    assert {run["status"] for run in world.runs()} == {"SUCCEEDED"}


def test_a_new_minute_counts_anew(world: World) -> None:
    world.add_automation([NOTIFY])
    start_of_minute(world)
    match(world, [chained(world) for _ in range(2)])
    world.turn_clock(60)
    match(world, [chained(world) for _ in range(2)])
    assert delays(world) == [0, 0, 0, 0]


def test_webhooks_count_and_ordinary_events_do_not(world: World) -> None:
    hooked = world.add_automation([NOTIFY], triggers=[WEBHOOK_TRIGGER])
    start_of_minute(world)
    match(world, [called(world, hooked) for _ in range(3)])
    assert delays(world) == [0, 0, 60]
    world.sql("delete from automation_runs")
    world.add_automation([NOTIFY])
    match(world, [world.created_event(world.add_record()) for _ in range(20)])
    assert delays(world) == [0] * 20
    assert counts(world) == {"minute": 3, "day": 3}


def test_each_automation_has_its_own_rate(world: World) -> None:
    for _ in range(2):
        world.add_automation([NOTIFY])
    start_of_minute(world)
    match(world, [chained(world) for _ in range(2)])
    assert delays(world) == [0, 0, 0, 0]


@pytest.mark.parametrize("times", [1, 3])
def test_a_batch_that_comes_again_counts_nothing_and_takes_no_place(
    world: World, times: int
) -> None:
    world.add_automation([NOTIFY])
    start_of_minute(world)
    seen = [chained(world) for _ in range(4)]
    match(world, seen)
    for _ in range(times):
        match(world, seen)
    assert counts(world) == {"minute": 4, "day": 4}
    # Four old ones and one new one are five, not nine: the day's limit is not reached.
    new = chained(world)
    match(world, [*seen, new, new])
    assert delays(world) == [0, 0, 60, 60, 120]
    assert counts(world) == {"minute": 5, "day": 5}
    assert world.sql("select status from automations")[0]["status"] == "ACTIVE"


def test_case_042_above_the_days_limit_the_automation_is_paused_and_its_admins_are_told(
    world: World, aws: Aws
) -> None:
    hooked = world.add_automation([NOTIFY], triggers=[WEBHOOK_TRIGGER])
    admin = world.add_member(new_id(), "ADMIN")
    world.add_member(new_id(), "EDITOR")
    start_of_minute(world)
    match(world, [called(world, hooked) for _ in range(7)])
    assert world.sql("select status from automations")[0]["status"] == "PAUSED"
    skipped = [run for run in world.runs() if run["status"] == "SUCCEEDED"]
    assert [run["output"] for run in skipped] == [{"skipped": "rate_limited"}] * 2
    for run in skipped:
        assert (run["lease_token"], run["enqueue_after"]) == (None, None)
        assert run["finished_at"] is not None
        assert world.lines(run["id"])[-1] == "info run skipped: rate_limited"
    told = world.sql("select user_id, title from notifications")
    assert {row["user_id"] for row in told} == {world.owner_id, admin}
    assert {row["title"] for row in told} == {'Automation "Triage" was paused'}
    (entry,) = world.sql("select * from audit_log")
    assert (entry["action"], entry["actor_type"], entry["actor_id"], entry["resource_id"]) == (
        "automation.breaker_tripped",
        "SYSTEM",
        f"automation:{hooked}",
        str(hooked),
    )
    # The excess is told as every end of a root run is; what was counted in is not lost.
    executed = [e for e in aws.stream_records() if e["type"] == "automation.executed"]
    assert sorted(e["payload"]["runId"] for e in executed) == sorted(
        str(run["id"]) for run in skipped
    )
    assert [run["status"] for run in world.runs()].count("PENDING") == 5
    # Paused, it is not matched any more, so nobody is told twice.
    match(world, [called(world, hooked)])
    assert (len(world.runs()), len(world.sql("select 1 from audit_log"))) == (7, 1)


def test_an_automation_resumed_above_the_days_limit_trips_again(world: World) -> None:
    hooked = world.add_automation([NOTIFY], triggers=[WEBHOOK_TRIGGER])
    start_of_minute(world)
    match(world, [called(world, hooked) for _ in range(6)])
    world.sql("update automations set status = 'ACTIVE'")
    match(world, [called(world, hooked)])
    assert world.sql("select status from automations")[0]["status"] == "PAUSED"
    assert len(world.sql("select 1 from audit_log")) == 2
    world.sql("update automations set status = 'ACTIVE'")
    world.turn_clock(86_400)
    match(world, [called(world, hooked)])
    assert world.sql("select status from automations")[0]["status"] == "ACTIVE"


def test_above_the_days_limit_a_run_that_newer_code_defined_is_left_to_newer_code(
    world: World,
) -> None:
    hooked = world.add_automation([NOTIFY], triggers=[WEBHOOK_TRIGGER])
    world.sql(
        "update automation_versions set schema = 2,"
        """ actions = jsonb_set(actions, '{0,type}', '"TELEPORT"')"""
    )
    start_of_minute(world)
    match(world, [called(world, hooked) for _ in range(7)])
    assert world.sql("select status from automations")[0]["status"] == "PAUSED"
    runs = world.runs()
    assert [run["status"] for run in runs] == ["PENDING"] * 7
    assert all(run["lease_token"] is None and run["enqueue_after"] for run in runs)
