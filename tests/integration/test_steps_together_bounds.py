"""What a transaction of several steps costs others: it is short, and says nothing of their data."""

import logging
import threading
from time import monotonic
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text
from sqlalchemy.engine import Connection

from tests.integration.engine_world import World
from tests.integration.statements import counted
from tests.integration.test_one_thread_a_run import poll
from tests.integration.test_steps_together import (
    NOTIFY,
    claimed,
    is_asleep,
    notify,
    run_of,
    steps_of,
    told,
    waiting_run,
)
from whenthen.engine.context import Context
from whenthen.engine.data_steps import take_data_steps
from whenthen.engine.step_transaction import Bounds
from whenthen.store.statement_limits import limit_statements


@pytest.fixture
def world(context: Context) -> World:
    made = World(context)
    made.sql(
        "create function doze() returns trigger language plpgsql as $$ begin"
        " if new.title like 'sleep %' then"
        "  perform pg_sleep(cast(split_part(new.title, ' ', 2) as float8));"
        " elsif new.title like 'nobody %' then new.title := null;"
        " end if; return new; end $$"
    )
    made.sql(
        "create trigger doze before insert on notifications for each row execute function doze()"
    )
    return made


def update(record_id: UUID, number: int, **more: Any) -> dict[str, Any]:
    config = {"recordId": str(record_id), "propertyValues": {"Priority": number}}
    return {"type": "UPDATE_RECORD", "config": config, **more}


def test_a_run_that_waits_for_a_record_of_a_slow_transaction_gets_it(world: World) -> None:
    record_id = world.add_record(Priority=0)
    slow = waiting_run(world, update(record_id, 1), notify("sleep 1.5"), notify("sleep 8"))
    other = waiting_run(world, update(record_id, 2, retries=0))
    worker = threading.Thread(target=world.execute, args=([slow],))
    worker.start()
    poll(lambda: is_asleep(world))
    world.execute([other])
    worker.join()
    assert steps_of(world, other) == [("SUCCEEDED", 1)]
    assert steps_of(world, slow) == [("SUCCEEDED", 1)] * 3


def test_runs_that_name_one_record_share_the_transaction_all_the_same(world: World) -> None:
    record_id = world.add_record(Priority=0)
    runs = [waiting_run(world, update(record_id, n + 1), NOTIFY, NOTIFY) for n in range(2)]
    runs += [
        waiting_run(world, update(world.add_record(), n + 1), NOTIFY, NOTIFY) for n in range(3)
    ]
    with counted(world.context.database) as cost:
        world.execute(runs)
    assert {run_of(world, run_id)["status"] for run_id in runs} == {"SUCCEEDED"}
    (record,) = world.sql("select version from records where id = :r", r=record_id)
    assert record["version"] == 3
    assert told(world) == {"told": 10}
    assert cost.commits == 2


@pytest.mark.parametrize(
    ("timeout_s", "passed_s", "goes_on"),
    [(4, 1.0, True), (4, 2.1, False), (1, 0.2, True), (1, 0.6, False), (100, 2.1, False)],
)
def test_no_step_begins_that_could_cost_those_before_it(
    world: World, timeout_s: float, passed_s: float, *, goes_on: bool
) -> None:
    progress = claimed(world, waiting_run(world, notify("told", timeoutMs=120_000)))
    bounds = Bounds(timeout_s, monotonic() - passed_s)
    assert bounds.let_go_on(progress) is goes_on


def test_runs_whose_transaction_took_too_long_are_not_tried_in_turn(world: World) -> None:
    slow = notify("sleep 30", timeoutMs=1_000)
    runs = [claimed(world, waiting_run(world, action, NOTIFY)) for action in (slow, NOTIFY, NOTIFY)]
    with counted(world.context.database, time_passes=True) as cost:
        coming_back = take_data_steps(world.context, runs)
    assert [run.id for run in coming_back] == [run.id for run in runs]
    assert all(run.needs_time and run.one_by_one for run in coming_back)
    assert (cost.commits, told(world)) == (0, {})


def test_what_breaks_a_transaction_is_logged_without_the_row_that_was_refused(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "whenthen"):
        world.execute([waiting_run(world, notify("nobody reads this"), NOTIFY)])
    (line,) = [one for one in caplog.records if one.getMessage() == "group goes one by one"]
    assert vars(line)["code"] == "UNEXPECTED"
    assert "23502" in caplog.text
    assert "Failing row" not in caplog.text


@pytest.mark.parametrize(
    ("begun_ms", "limit_s", "expected"),
    [
        (500, 0.2, "200ms"),
        (500, 60, "500ms"),
        (38_000, 119.4, "38s"),
        (120_000, 0.5, "500ms"),
    ],
)
def test_a_limit_of_statements_is_only_made_shorter(
    world: World, begun_ms: int, limit_s: float, expected: str
) -> None:
    def work(connection: Connection) -> str:
        limit_statements(connection, limit_s)
        return str(connection.execute(text("show statement_timeout")).scalar_one())

    found = world.context.database.transact(work, statement_timeout_ms=begun_ms)
    assert found == expected
