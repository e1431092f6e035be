"""Taking the right to act on a run: who gets it, what the claim counts, what is read with it."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.engine import Connection

from tests.integration.store_world import LEASE_S, StoreWorld, claimed_ids
from whenthen.domain.kinds import RunStatus
from whenthen.engine.context import Context

NOTIFY = {"type": "CREATE_NOTIFICATION", "config": {"title": "x"}}


@pytest.fixture
def world(shared_context: Context) -> StoreWorld:
    return StoreWorld(shared_context)


def is_claimed(world: StoreWorld, run_id: UUID) -> bool:
    return world.claim_under([run_id], uuid4()) == {run_id}


_DUE_IN = text(
    "update automation_runs set due_at = whenthen_now()"
    " + interval '1 second' * cast(:s as float8) where id = :r"
)


def due_in(world: StoreWorld, run_id: UUID, seconds: float) -> None:
    world.transact(lambda connection: connection.execute(_DUE_IN, {"s": seconds, "r": run_id}))


# -------------------------------------------------------------------------------- the claim


def test_a_claim_sets_the_lease_its_end_and_the_rows_own_wake_up(world: StoreWorld) -> None:
    run_id, lease = world.pending(), uuid4()
    assert world.claim_under([run_id], lease, LEASE_S) == {run_id}
    row = world.row(run_id)
    assert (row["status"], row["lease_token"]) == ("RUNNING", lease)
    assert row["lease_in_s"] == pytest.approx(LEASE_S, abs=5)
    ahead = row["enqueue_after"] - row["lease_expires_at"]
    assert ahead.total_seconds() == pytest.approx(30, abs=0.1)
    assert world.lines(run_id) == ["info run created", "info run started"]
    assert world.line_data(run_id, "run started") == {"attempt": 1}


@pytest.mark.parametrize(
    ("seconds", "claimed"), [(-3600, True), (0, True), (1.9, True), (2.9, False), (3600, False)]
)
def test_a_run_may_be_claimed_up_to_2_seconds_before_it_is_due(
    world: StoreWorld,
    seconds: float,
    claimed: bool,  # noqa: FBT001
) -> None:
    run_id = world.pending()

    # In one transaction, so that a slow machine does not come to the claim a second later.
    def work(connection: Connection) -> bool:
        connection.execute(_DUE_IN, {"s": seconds, "r": run_id})
        return claimed_ids(connection, [run_id], uuid4(), LEASE_S) == {run_id}

    assert world.transact(work) is claimed
    assert world.row(run_id)["status"] == ("RUNNING" if claimed else "PENDING")


def test_a_run_is_due_by_the_databases_clock(shared_context: Context, world: StoreWorld) -> None:
    run_id = world.pending()
    due_in(world, run_id, 60)
    shared_context.database.clock_offset_s = 60
    try:
        assert is_claimed(world, run_id)
    finally:
        shared_context.database.clock_offset_s = 0


@pytest.mark.parametrize("status", [s for s in RunStatus if s != RunStatus.PENDING])
def test_case_036_only_a_pending_run_can_be_claimed(world: StoreWorld, status: RunStatus) -> None:
    run_id = world.pending()
    world.change(run_id, "status = :s", s=status.value)
    before = world.everything(run_id)
    assert not is_claimed(world, run_id)
    assert world.everything(run_id) == before


def test_a_batch_is_claimed_at_once_and_unknown_ids_are_passed_over(world: StoreWorld) -> None:
    first, second = world.pending(), world.pending()
    assert world.claim_under([uuid4(), second, first, second], uuid4()) == {first, second}
    assert world.claim_under([], uuid4()) == frozenset()


def test_a_row_that_somebody_holds_is_passed_over_without_waiting(world: StoreWorld) -> None:
    held, free = world.pending(), world.pending()

    def work(connection: Connection) -> frozenset[UUID]:
        world_sql = "select 1 from automation_runs where id = '%s' for update"
        connection.exec_driver_sql(world_sql % held)
        return world.claim_under([held, free], uuid4())

    assert world.transact(work) == {free}


def test_case_036_of_many_claimers_one_gets_each_run(world: StoreWorld) -> None:
    automation_id = world.add_automation([NOTIFY])
    run_ids = [world.pending(automation_id=automation_id) for _ in range(20)]
    barrier = Barrier(4)

    def worker(n: int) -> frozenset[UUID]:
        ordered = run_ids if n % 2 else run_ids[::-1]
        barrier.wait(30)
        return world.claim_under(ordered, uuid4())

    with ThreadPoolExecutor(4) as pool:
        claims = list(pool.map(worker, range(4)))
    assert sorted(run_id for claim in claims for run_id in claim) == sorted(run_ids)
    counted = world.sql(
        "select count(*) as n from automation_run_steps s join automation_runs r on r.id = s.run_id"
        " where r.workspace_id = :w and s.attempts = 1",
        w=world.workspace_id,
    )
    assert counted[0]["n"] == 20


def test_started_at_is_set_once(world: StoreWorld) -> None:
    run_id = world.pending()
    is_claimed(world, run_id)
    started_at = world.row(run_id)["started_at"]
    world.change(run_id, "status = 'PENDING', started_at = started_at - interval '1 hour'")
    is_claimed(world, run_id)
    assert (started_at - world.row(run_id)["started_at"]).total_seconds() == 3600


# --------------------------------------------------------------------- the attempt it counts


def test_case_055_an_attempt_is_counted_by_the_claim_before_anything_is_tried(
    world: StoreWorld,
) -> None:
    held = world.running(2)
    (step,) = world.steps(held.run_id)
    assert {name: step[name] for name in ("action_id", "index", "type", "status", "attempts")} == {
        "action_id": held.action_ids[0],
        "index": 0,
        "type": "CREATE_NOTIFICATION",
        "status": "STARTED",
        "attempts": 1,
    }


@pytest.mark.parametrize("status", ["STARTED", "FAILED"])
def test_a_further_claim_counts_a_further_attempt_and_forgets_the_last_error(
    world: StoreWorld, status: str
) -> None:
    held = world.running()
    world.step(held.run_id, held.action_ids[0], status, attempts=2, error='{"code":"X"}')
    world.sql(
        "update automation_run_steps set finished_at = now() where run_id = :r", r=held.run_id
    )
    world.change(held.run_id, "status = 'PENDING', retry_count = 2")
    assert is_claimed(world, held.run_id)
    (step,) = world.steps(held.run_id)
    assert (step["status"], step["attempts"], step["error"], step["finished_at"]) == (
        "STARTED",
        3,
        None,
        None,
    )
    (last,) = world.sql(
        "select data from automation_logs where run_id = :r order by seq desc limit 1",
        r=held.run_id,
    )
    assert last["data"] == {"attempt": 3}


@pytest.mark.parametrize("status", ["SUCCEEDED", "WAITING"])
def test_case_035_a_step_that_is_done_or_waits_stays_as_it_is(
    world: StoreWorld, status: str
) -> None:
    held = world.running()
    world.step(held.run_id, held.action_ids[0], status, attempts=1, output='{"n":1}')
    before = world.steps(held.run_id)
    world.change(held.run_id, "status = 'PENDING'")
    assert is_claimed(world, held.run_id)
    assert world.steps(held.run_id) == before


def test_the_attempt_belongs_to_the_runs_next_action(world: StoreWorld) -> None:
    run_id = world.pending(3)
    world.change(run_id, "next_action = 2, generation = 4")
    is_claimed(world, run_id)
    (step,) = world.steps(run_id)
    assert (step["action_id"], step["index"], step["generation"]) == (
        world.action_ids(run_id)[2],
        2,
        4,
    )


@pytest.mark.parametrize("actions", [0, 1])
def test_a_run_without_a_further_action_is_claimed_without_an_attempt(
    world: StoreWorld, actions: int
) -> None:
    run_id = world.pending(actions)
    world.change(run_id, "next_action = :n", n=actions)
    assert is_claimed(world, run_id)
    assert world.steps(run_id) == []
