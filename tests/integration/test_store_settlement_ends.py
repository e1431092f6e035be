"""How a run's row looks after it has ended, waits for another try, or has crashed."""

import pytest

from tests.integration.settlements import done, failed, move, settled
from tests.integration.store_world import StoreWorld
from whenthen.domain.kinds import RunStatus
from whenthen.domain.rules import log_lines
from whenthen.domain.rules.log_lines import LogLine
from whenthen.engine.context import Context

ENDS = (RunStatus.SUCCEEDED, RunStatus.FAILED, RunStatus.DEAD_LETTER)


@pytest.fixture
def world(shared_context: Context) -> StoreWorld:
    return StoreWorld(shared_context)


@pytest.mark.parametrize("status", ENDS)
def test_an_end_frees_the_run_and_notes_the_instant(world: StoreWorld, status: RunStatus) -> None:
    held = world.running()
    settled(world, move(world, held, status, output={"a": 1}, error={"code": "X"}))
    row = world.row(held.run_id)
    assert row["status"] == status
    assert (row["lease_token"], row["lease_expires_at"], row["enqueue_after"]) == (None, None, None)
    assert (row["output"], row["error"]) == ({"a": 1}, {"code": "X"})
    assert row["finished_at"] >= row["started_at"]


def test_a_death_is_numbered_and_keeps_the_row_awake_until_its_notice_is_out(
    world: StoreWorld,
) -> None:
    held = world.running()
    settled(world, move(world, held, RunStatus.DEAD_LETTER, death=2, wake_in_s=120))
    row = world.row(held.run_id)
    assert (row["deaths"], row["notified_death"]) == (2, 0)
    assert row["wake_in_s"] == pytest.approx(120, abs=5)


@pytest.mark.parametrize(("notified", "wake_in_s"), [(0, 120), (1, None)])
@pytest.mark.parametrize("status", [RunStatus.SUCCEEDED, RunStatus.FAILED])
def test_an_end_stays_awake_while_the_notice_of_an_earlier_death_is_not_out(
    world: StoreWorld, status: RunStatus, notified: int, wake_in_s: int | None
) -> None:
    held = world.running()
    world.change(held.run_id, "deaths = 1, notified_death = :n", n=notified)
    settled(world, move(world, held, status))
    row = world.row(held.run_id)
    assert row["deaths"] == 1
    assert row["wake_in_s"] == (wake_in_s and pytest.approx(wake_in_s, abs=5))


def test_a_retry_is_due_after_its_delay_and_counted(world: StoreWorld) -> None:
    held = world.running()
    settled(
        world,
        move(
            world,
            held,
            RunStatus.PENDING,
            steps=[failed(held)],
            due_in_s=64,
            wake_in_s=124,
            counts_retry=True,
        ),
    )
    row = world.row(held.run_id)
    assert (row["status"], row["retry_count"], row["crash_count"]) == ("PENDING", 1, 0)
    assert (row["lease_token"], row["lease_expires_at"], row["finished_at"]) == (None, None, None)
    assert row["due_in_s"] == pytest.approx(64, abs=5)
    assert (row["enqueue_after"] - row["due_at"]).total_seconds() == pytest.approx(60, abs=0.1)
    (step,) = world.steps(held.run_id)
    assert (step["status"], step["error"]["code"], step["ms"]) == ("FAILED", "X", None)


def test_the_line_of_a_retry_tells_the_instant_that_the_row_is_due(world: StoreWorld) -> None:
    held = world.running()
    lines = [log_lines.retry_scheduled(3, 600), LogLine("info", "other", {"dueIn": None})]
    settled(world, move(world, held, RunStatus.PENDING, due_in_s=600, wake_in_s=660, lines=lines))
    due_at = world.row(held.run_id)["due_at"]
    assert world.line_data(held.run_id, "retry scheduled") == {
        "attempt": 3,
        "delayS": 600,
        "dueAt": due_at.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z",
    }
    assert world.line_data(held.run_id, "other") == {"dueIn": None}


@pytest.mark.parametrize(
    ("status", "result", "crash_count"),
    [
        (RunStatus.RUNNING, "done", 0),
        (RunStatus.SUCCEEDED, "done", 0),
        (RunStatus.PENDING, "failed", 3),
        (RunStatus.PENDING, None, 3),
        (RunStatus.FAILED, "failed", 3),
    ],
)
def test_case_055_only_a_finished_step_ends_a_row_of_crashes(
    world: StoreWorld, status: RunStatus, result: str | None, crash_count: int
) -> None:
    held = world.running()
    world.change(held.run_id, "crash_count = 3")
    step = {"done": done(held), "failed": failed(held), None: None}[result]
    settled(world, move(world, held, status, steps=[step] if step else []))
    assert world.row(held.run_id)["crash_count"] == crash_count


def test_case_055_a_crash_is_counted(world: StoreWorld) -> None:
    held = world.running()
    settled(world, move(world, held, RunStatus.PENDING, counts_crash=True, counts_retry=True))
    row = world.row(held.run_id)
    assert (row["crash_count"], row["retry_count"]) == (1, 1)
