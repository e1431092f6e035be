"""What is kept long enough goes; what has not ended, or has not been told, stays."""

import pytest
from sqlalchemy.engine import Connection

from tests.integration.engine_world import World
from tests.integration.test_failures import UNAVAILABLE, WEBHOOK, Target
from tests.integration.test_triage import NOTIFY
from whenthen.actions.registry import clear_test_executors, register_test_executor
from whenthen.domain.kinds import ActionType
from whenthen.domain.schemas.notices import DeathNotice
from whenthen.engine.context import Context
from whenthen.engine.forget import forget
from whenthen.engine.report_deaths import report_death
from whenthen.store import retention
from whenthen.store.new_id import new_id

DAY_S = 86_400


@pytest.fixture
def world(context: Context) -> World:
    return World(context)


def forgotten(world: World) -> int:
    return forget(world.context, lambda: True)


def count(world: World, table: str) -> int:
    (row,) = world.sql(f"select count(*) as n from {table}")
    return int(row["n"])


def a_run(world: World) -> None:
    world.add_automation([NOTIFY])
    world.match(world.created_event(world.add_record()))


def test_an_ended_run_goes_after_30_days_with_its_steps_and_logs(world: World) -> None:
    a_run(world)
    world.turn_clock(10 * DAY_S)
    world.execute()
    # Counted from the end, not from the beginning.
    world.turn_clock(30 * DAY_S - 60)
    assert (forgotten(world), count(world, "automation_runs")) == (0, 1)
    world.turn_clock(120)
    assert forgotten(world) == 1
    for table in ("automation_runs", "automation_run_steps", "automation_logs"):
        assert count(world, table) == 0


@pytest.mark.parametrize("status", ["PENDING", "RUNNING"])
def test_case_124_a_run_that_has_not_ended_is_never_removed(world: World, status: str) -> None:
    a_run(world)
    if status == "RUNNING":
        world.claim([world.the_run()["id"]])
    world.turn_clock(400 * DAY_S)
    assert forgotten(world) == 0
    assert world.the_run()["status"] == status
    assert len(world.lines(world.the_run()["id"])) >= 1


def test_case_124_a_run_brought_back_by_hand_is_kept_however_old_it_is(world: World) -> None:
    a_run(world)
    world.execute()
    world.sql("update automation_runs set status = 'FAILED'")
    world.turn_clock(400 * DAY_S)
    world.retry(world.the_run()["id"])
    forgotten(world)
    assert world.the_run()["status"] == "PENDING"
    assert world.steps(world.the_run()["id"])


def test_a_death_is_kept_until_its_notice_is_out(world: World) -> None:
    register_test_executor(ActionType.SEND_WEBHOOK, Target(UNAVAILABLE))
    world.add_automation([{**WEBHOOK, "retries": 0}])
    world.match(world.created_event(world.add_record()))
    world.execute()
    clear_test_executors()
    world.turn_clock(400 * DAY_S)
    assert (forgotten(world), world.the_run()["status"]) == (0, "DEAD_LETTER")
    assert report_death(world.context, DeathNotice(world.the_run()["id"], 1))
    forgotten(world)
    assert count(world, "automation_runs") == 0


def test_runs_go_in_batches_and_only_while_there_is_time(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whenthen.engine.forget.BATCH", 2)
    world.add_automation([NOTIFY])
    world.match(*[world.created_event(world.add_record()) for _ in range(5)])
    world.execute()
    world.turn_clock(31 * DAY_S)
    assert forget(world.context, lambda: False) == 0
    assert forgotten(world) == 5


AGED = {
    "schedule_occurrences": (
        90,
        "(schedule_id, version, scheduled_for, outcome) values (:i, 1, whenthen_now(), 'missed')",
    ),
    "ticks": (
        8,
        "(name, started_at) select cast(:i as uuid), whenthen_now()",
    ),
    "audit_log": (
        365,
        (
            "(id, workspace_id, action, actor_type, actor_id, resource_type, resource_id)"
            " values (:i, :i, 'x', 'USER', 'x', 'x', 'x')"
        ),
    ),
    "notifications": (90, "(id, workspace_id, user_id, title) values (:i, :i, :i, 'x')"),
    "dead_events": (30, "(id, source, reason, data) values (:i, 'x', 'x', '')"),
    "idempotency_keys": (1, "(user_id, digest, body_hash) values (:i, '', '')"),
    "automation_rate": (
        2,
        "(automation_id, span, bucket) values (:i, 'minute', whenthen_now())",
    ),
}


@pytest.mark.parametrize("table", AGED)
def test_side_tables_keep_their_rows_so_many_days(world: World, table: str) -> None:
    days, values = AGED[table]
    world.sql(f"insert into {table} {values}", i=new_id())
    world.turn_clock(days * DAY_S - 60)
    assert (forgotten(world), count(world, table)) == (0, 1)
    world.turn_clock(120)
    assert (forgotten(world), count(world, table)) == (1, 0)


def test_only_tables_that_go_by_age_can_be_named(world: World) -> None:
    def work(connection: Connection) -> int:
        now = retention.database_now(connection)
        return retention.delete_aged(connection, "users", before=now, limit=1)

    with pytest.raises(ValueError, match="no table that goes by age"):
        world.context.database.transact(work)
