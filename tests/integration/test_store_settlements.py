"""One move of a run writes all that belongs to it, or nothing at all."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from tests.integration.settlements import TYPE, done, event_of, failed, goes_on, move, settled
from tests.integration.store_world import Held, StoreWorld
from whenthen.domain.kinds import RunStatus, StepStatus
from whenthen.domain.rules import log_lines
from whenthen.domain.rules.log_lines import LogLine
from whenthen.engine.context import Context
from whenthen.store.run_settlements import NextStep, settle


@pytest.fixture
def world(shared_context: Context) -> StoreWorld:
    return StoreWorld(shared_context)


# ----------------------------------------------------------------------- a step is finished


def test_a_finished_step_the_next_one_the_log_and_the_events_are_written_together(
    world: StoreWorld,
) -> None:
    held = world.running(2)
    before = world.row(held.run_id)
    settlement = goes_on(world, held)
    moved, events = world.transact(lambda connection: settle(connection, [settlement]))
    assert moved == {held.run_id}
    (event,) = events
    assert event.id == settlement.events[0].id
    assert isinstance(event.occurred_at, datetime)

    row = world.row(held.run_id)
    kept = ["status", "lease_token", "lease_expires_at", "enqueue_after", "due_at", "started_at"]
    assert {name: row[name] for name in kept} == {name: before[name] for name in kept}
    assert (row["next_action"], row["finished_at"], row["retry_count"]) == (1, None, 0)

    first, second = world.steps(held.run_id)
    assert (first["status"], first["attempts"], first["output"], first["ms"]) == (
        "SUCCEEDED",
        1,
        {"n": 0},
        7,
    )
    assert first["finished_at"] >= first["started_at"]
    assert (second["status"], second["attempts"], second["index"], second["finished_at"]) == (
        "STARTED",
        1,
        1,
        None,
    )
    assert world.lines(held.run_id)[-2:] == ["info one", "warn two"]
    assert world.line_data(held.run_id, "two") == {"n": 1}
    (stored,) = world.everything(held.run_id)[3]
    assert (stored["id"], stored["occurred_at"]) == (event.id, event.occurred_at)


@pytest.mark.parametrize("status", RunStatus)
def test_case_037_a_move_under_another_lease_writes_nothing_at_all(
    world: StoreWorld, status: RunStatus
) -> None:
    held = world.running(2)
    before = world.everything(held.run_id)
    zombie = Held(held.run_id, uuid4(), held.action_ids)
    settlement = move(
        world,
        zombie,
        status,
        next_action=1,
        steps=[done(held)],
        next_step=NextStep(held.action_ids[1], 1, TYPE),
        untried_action_id=held.action_ids[0],
        due_in_s=5,
        wake_in_s=65,
        counts_retry=True,
        counts_crash=True,
        death=1,
        output={"a": 1},
        error={"code": "X"},
        lines=[LogLine("info", "one")],
        events=[event_of(world)],
    )
    assert world.transact(lambda connection: settle(connection, [settlement])) == (frozenset(), [])
    assert world.everything(held.run_id) == before


@pytest.mark.parametrize("status", [s for s in RunStatus if s != RunStatus.RUNNING])
def test_case_107_a_run_that_is_not_running_is_not_moved_even_with_its_old_lease(
    world: StoreWorld, status: RunStatus
) -> None:
    held = world.running(2)
    world.change(held.run_id, "status = :s", s=status.value)
    before = world.everything(held.run_id)
    assert settled(world, goes_on(world, held)) == frozenset()
    assert world.everything(held.run_id) == before


def test_a_second_delivery_of_an_end_changes_nothing(world: StoreWorld) -> None:
    held = world.running()
    end = move(
        world,
        held,
        RunStatus.SUCCEEDED,
        steps=[done(held)],
        lines=[LogLine("info", "run completed")],
        events=[event_of(world)],
    )
    assert settled(world, end) == {held.run_id}
    before = world.everything(held.run_id)
    assert settled(world, end) == frozenset()
    assert world.everything(held.run_id) == before


def test_of_several_moves_those_of_lost_runs_drop_out_and_the_others_are_written(
    world: StoreWorld,
) -> None:
    mine, lost = world.running(2), world.running(2)
    theirs = Held(lost.run_id, uuid4(), lost.action_ids)
    before = world.sql("select * from automation_run_steps where run_id = :r", r=lost.run_id)
    assert settled(world, goes_on(world, theirs), goes_on(world, mine)) == {mine.run_id}
    assert len(world.steps(mine.run_id)) == 2
    assert world.steps(lost.run_id) == before
    assert len(world.everything(mine.run_id)[3]) == 1


def test_no_moves_are_no_statement(world: StoreWorld) -> None:
    assert settled(world) == frozenset()


# ---------------------------------------------------------------- finished steps stay as they are


@pytest.mark.parametrize("late", [StepStatus.FAILED, StepStatus.SUCCEEDED])
def test_case_035_a_succeeded_step_is_never_written_again(
    world: StoreWorld, late: StepStatus
) -> None:
    held = world.running(2)
    settled(world, goes_on(world, held))
    first = world.steps(held.run_id)[0]
    result = failed(held, status=late, attempts=5, output={"n": "other"}, ms=99)
    assert settled(world, move(world, held, RunStatus.FAILED, steps=[result])) == {held.run_id}
    assert world.steps(held.run_id)[0] == first


@pytest.mark.parametrize("status", ["SUCCEEDED", "WAITING"])
def test_a_next_step_that_is_done_or_waits_is_not_started_again(
    world: StoreWorld, status: str
) -> None:
    held = world.running(2)
    world.step(held.run_id, held.action_ids[1], status, index=1, output='{"kept":1}')
    before = world.steps(held.run_id)[1]
    settled(world, goes_on(world, held))
    assert world.steps(held.run_id)[1] == before


def test_a_next_step_that_has_failed_before_is_started_anew(world: StoreWorld) -> None:
    held = world.running(2)
    world.step(held.run_id, held.action_ids[1], "FAILED", index=1, attempts=3, error='{"code":"X"}')
    world.sql(
        "update automation_run_steps set finished_at = now() where run_id = :r", r=held.run_id
    )
    settled(world, goes_on(world, held))
    step = world.steps(held.run_id)[1]
    assert (step["status"], step["attempts"]) == ("STARTED", 4)
    assert (step["error"], step["finished_at"]) == (None, None)


def test_steps_of_an_earlier_generation_stay_as_history(world: StoreWorld) -> None:
    held = world.running(2)
    old = world.steps(held.run_id)
    world.change(held.run_id, "generation = 1")
    settled(world, goes_on(world, held))
    steps = world.steps(held.run_id)
    assert steps[:1] == old
    assert [(step["generation"], step["status"]) for step in steps[1:]] == [
        (1, "SUCCEEDED"),
        (1, "STARTED"),
    ]


# ---------------------------------------------------------------------- the untried attempt


@pytest.mark.parametrize(
    ("attempts", "left"), [(1, []), (2, [("FAILED", 1)]), (5, [("FAILED", 4)])]
)
def test_an_attempt_that_was_counted_but_not_made_is_taken_back(
    world: StoreWorld, attempts: int, left: list[tuple[str, int]]
) -> None:
    held = world.running()
    world.step(held.run_id, held.action_ids[0], "STARTED", attempts=attempts)
    given_back = move(world, held, RunStatus.PENDING, untried_action_id=held.action_ids[0])
    settled(world, given_back)
    assert [(step["status"], step["attempts"]) for step in world.steps(held.run_id)] == left


@pytest.mark.parametrize("status", ["SUCCEEDED", "WAITING", "FAILED"])
def test_nothing_is_taken_back_from_a_step_that_is_not_started(
    world: StoreWorld, status: str
) -> None:
    held = world.running()
    world.step(held.run_id, held.action_ids[0], status, attempts=1)
    before = world.steps(held.run_id)
    settled(world, move(world, held, RunStatus.PENDING, untried_action_id=held.action_ids[0]))
    assert world.steps(held.run_id) == before


@pytest.mark.parametrize("status", [RunStatus.SUCCEEDED, RunStatus.FAILED, RunStatus.DEAD_LETTER])
def test_an_end_leaves_no_step_waiting_but_keeps_the_attempt_that_was_made(
    world: StoreWorld, status: RunStatus
) -> None:
    held = world.running()
    world.step(held.run_id, held.action_ids[0], "WAITING", attempts=1)
    settled(world, move(world, held, status, untried_action_id=held.action_ids[0]))
    (step,) = world.steps(held.run_id)
    assert (step["status"], step["attempts"], step["error"]) == ("FAILED", 1, None)
    assert step["finished_at"] is not None


def test_a_step_waits_until_its_run_is_due_to_the_microsecond(world: StoreWorld) -> None:
    held = world.running()
    due_at = datetime(2027, 1, 1, 9, 0, 0, 123_456, tzinfo=UTC)
    waiting = done(held, status=StepStatus.WAITING, output=None, ms=None)
    settled(world, move(world, held, RunStatus.PENDING, steps=[waiting], due_in_s=5, due_at=due_at))
    (step,) = world.steps(held.run_id)
    assert (step["status"], step["resume_at"], step["finished_at"]) == ("WAITING", due_at, None)
    assert world.row(held.run_id)["due_at"] == due_at


@pytest.mark.parametrize("attempts", [1, 2])
def test_nothing_is_taken_back_from_an_earlier_generation(world: StoreWorld, attempts: int) -> None:
    held = world.running()
    world.step(held.run_id, held.action_ids[0], "STARTED", attempts=attempts)
    before = world.steps(held.run_id)
    world.change(held.run_id, "generation = 1")
    settled(world, move(world, held, RunStatus.PENDING, untried_action_id=held.action_ids[0]))
    assert world.steps(held.run_id) == before


# ------------------------------------------------------------------------ JSON null, SQL NULL


def test_what_is_not_there_is_sql_null_and_never_a_json_null(world: StoreWorld) -> None:
    held = world.running(2)
    settled(
        world,
        move(
            world,
            held,
            RunStatus.RUNNING,
            next_action=1,
            steps=[done(held, output=None, ms=None)],
            next_step=NextStep(held.action_ids[1], 1, TYPE),
            events=[event_of(world)],
        ),
    )
    (run,) = world.sql(
        "select output is null as output, error is null as error from automation_runs"
        " where id = :r",
        r=held.run_id,
    )
    steps = world.sql(
        "select output is null as output, error is null as error, ms is null as ms"
        " from automation_run_steps where run_id = :r",
        r=held.run_id,
    )
    (event,) = world.sql(
        "select automation_context is null as context from outbox where workspace_id = :w",
        w=world.workspace_id,
    )
    assert dict(run) == {"output": True, "error": True}
    assert [dict(step) for step in steps] == [{"output": True, "error": True, "ms": True}] * 2
    assert event["context"] is True


def test_case_075_values_inside_an_output_stay_what_they_are(world: StoreWorld) -> None:
    held = world.running()
    output: dict[str, Any] = {
        "null": None,
        "id": 9007199254740993,
        "text": "null",
        "list": [None, {}, ""],
    }
    end = move(world, held, RunStatus.SUCCEEDED, steps=[done(held, output=output)], output=output)
    settled(world, end)
    assert world.row(held.run_id)["output"] == output
    assert world.steps(held.run_id)[0]["output"] == output


def test_a_line_without_data_has_an_empty_object(world: StoreWorld) -> None:
    held = world.running()
    settled(world, move(world, held, RunStatus.PENDING, lines=[log_lines.run_continued()]))
    assert world.line_data(held.run_id, "run continued") == {}
