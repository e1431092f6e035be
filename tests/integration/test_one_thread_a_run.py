"""A run is in the hands of one thread at a time, however fast that one is and however slow others.

Found by the soak: on a busy machine a run whose webhook was answered at once had its next step
taken twice.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any
from uuid import UUID

import pytest

from tests.conftest import open_database
from tests.integration.engine_world import World
from whenthen.actions.registry import clear_test_executors, register_test_executor
from whenthen.actions.requests import StepSuccess
from whenthen.domain.kinds import ActionType
from whenthen.engine.context import Context

CALL = {"type": "SEND_WEBHOOK", "config": {"url": "https://hooks.example.com/"}}
NOTIFY = {"type": "CREATE_NOTIFICATION", "config": {"title": "told"}}
UPDATE = {
    "type": "UPDATE_RECORD",
    "config": {"recordId": "from_trigger", "propertyValues": {"Name": "updated"}},
}
PATIENCE_S = 60


@pytest.fixture
def world(context: Context) -> Iterator[World]:
    register_test_executor(ActionType.SEND_WEBHOOK, lambda _request: StepSuccess({"status": 200}))
    yield World(context)
    clear_test_executors()


@contextmanager
def after_the_submit(wait: Callable[[], None]) -> Iterator[None]:
    """Let this thread `wait` once it has handed work to a pool, before it goes on."""

    def profile(frame: FrameType, event: str, _argument: Any) -> None:
        code = frame.f_code
        if event == "return" and code.co_name == "submit" and "concurrent" in code.co_filename:
            sys.setprofile(None)
            wait()

    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(None)


@contextmanager
def record_locked(world: World, record_id: UUID, until: Callable[[], bool]) -> Iterator[None]:
    """Keep everybody else from a record until `until` holds."""
    locked = threading.Event()

    def hold() -> None:
        database = open_database(str(world.context.settings.database_url))
        with database.engine.connect() as connection:
            connection.exec_driver_sql(f"select 1 from records where id = '{record_id}' for update")
            locked.set()
            poll(until)
        database.close()

    thread = threading.Thread(target=hold)
    thread.start()
    assert locked.wait(PATIENCE_S)
    yield
    thread.join(PATIENCE_S)


def poll(until: Callable[[], bool]) -> None:
    deadline_s, pause = time.monotonic() + PATIENCE_S, threading.Event()
    while not until():
        assert time.monotonic() < deadline_s, "not in time"
        pause.wait(0.005)


def waiting_for_locks(world: World) -> int:
    (row,) = world.sql(
        "select count(*) as n from pg_stat_activity"
        " where datname = current_database() and wait_event_type = 'Lock'"
    )
    return int(row["n"])


def is_awaiting_others(thread_id: int) -> bool:
    """Return whether a thread has nothing left to do but to wait for those of its pool."""
    frame: FrameType | None = sys._current_frames()[thread_id]
    while frame is not None:
        if frame.f_code.co_name == "result" and "concurrent" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


@pytest.mark.parametrize(
    "before",
    [
        pytest.param([CALL], id="it begins outside"),
        pytest.param([NOTIFY, CALL], id="it goes outside from a group"),
    ],
)
def test_a_run_that_is_faster_than_whoever_hands_it_on_takes_each_step_once(
    world: World, before: list[dict[str, Any]]
) -> None:
    actions = [*before, UPDATE, CALL, NOTIFY]
    world.add_automation(actions)
    record_id = world.add_record(Name="new")
    world.match(world.created_event(record_id))
    me = threading.get_ident()

    def decided() -> bool:
        return waiting_for_locks(world) > 1 or is_awaiting_others(me)

    # The thread is at the update, which it cannot finish, before the one that hands it on goes on.
    with (
        record_locked(world, record_id, decided),
        after_the_submit(lambda: poll(lambda: waiting_for_locks(world) > 0)),
    ):
        world.execute()
    run = world.the_run()
    assert run["status"] == "SUCCEEDED"
    n = len(actions)
    assert [line for line in world.lines(run["id"]) if line.endswith(" done")] == [
        f"info action {i}/{n} {action['type']} done" for i, action in enumerate(actions, start=1)
    ]
    assert world.record(record_id)["version"] == 2
