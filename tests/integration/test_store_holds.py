"""The first statement of a step transaction: whose run it is, and for how long."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy

from tests.integration.settlements import done, move
from tests.integration.store_world import LEASE_S, StoreWorld
from whenthen.domain.kinds import AutomationStatus, RunStatus
from whenthen.domain.rules.classify import classify_error
from whenthen.engine.context import Context
from whenthen.store.run_holds import Holding, hold
from whenthen.store.run_settlements import settle


@pytest.fixture
def world(shared_context: Context) -> StoreWorld:
    return StoreWorld(shared_context)


def held_by(world: StoreWorld, lease: UUID, *run_ids: UUID) -> dict[UUID, Holding]:
    return world.transact(lambda connection: hold(connection, run_ids, lease))


def test_a_run_that_is_ours_is_told_with_what_may_stop_it(world: StoreWorld) -> None:
    held = world.running()
    assert held_by(world, held.lease, held.run_id) == {
        held.run_id: Holding(None, AutomationStatus.ACTIVE, 0)
    }
    world.change(held.run_id, "cancelled_by = :u", u=world.owner_id)
    world.sql(
        "update automations set status = 'ARCHIVED' where workspace_id = :w", w=world.workspace_id
    )
    assert held_by(world, held.lease, held.run_id) == {
        held.run_id: Holding(world.owner_id, AutomationStatus.ARCHIVED, 0)
    }


def test_case_037_a_run_that_is_somebody_elses_or_ended_is_not_held(world: StoreWorld) -> None:
    mine, theirs, ended = world.running(), world.running(), world.running()
    for other in (theirs, ended):
        world.change(other.run_id, "lease_token = :l", l=mine.lease)
    world.change(theirs.run_id, "lease_token = :l", l=uuid4())
    world.change(ended.run_id, "status = 'SUCCEEDED'")
    found = held_by(world, mine.lease, theirs.run_id, mine.run_id, ended.run_id, uuid4())
    assert found.keys() == {mine.run_id}


@pytest.mark.parametrize(("left_s", "then_s"), [(-5, 30), (20, 30), (60, 60), (LEASE_S, LEASE_S)])
def test_a_hold_pushes_the_lease_to_30_seconds_from_now_and_never_shortens_it(
    world: StoreWorld, left_s: float, then_s: float
) -> None:
    held = world.running()
    world.change(
        held.run_id,
        "lease_expires_at = whenthen_now() + interval '1 second' * cast(:s as float8)",
        s=left_s,
    )
    before = world.row(held.run_id)["lease_expires_at"]
    held_by(world, held.lease, held.run_id)
    row = world.row(held.run_id)
    assert row["lease_in_s"] == pytest.approx(then_s, abs=5)
    assert (row["lease_expires_at"] == before) == (left_s > 30)


def test_a_held_run_is_locked_until_its_transaction_ends(world: StoreWorld) -> None:
    held = world.running()

    def work(connection: Any) -> str:
        hold(connection, [held.run_id], held.lease)
        with pytest.raises(sqlalchemy.exc.DBAPIError) as refused:
            world.context.database.transact(
                lambda other: hold(other, [held.run_id], held.lease), lock_timeout_ms=30
            )
        return classify_error(refused.value).code

    assert world.transact(work) == "DB_TRANSIENT_55P03"


def test_case_037_of_two_workers_that_think_the_run_is_theirs_one_writes(
    world: StoreWorld,
) -> None:
    """The second one waits for the first one's lock, and then finds that it has come too late."""
    held = world.running()

    def worker(n: int) -> bool:
        def work(connection: Any) -> bool:
            if not hold(connection, [held.run_id], held.lease):
                return False
            end = move(world, held, RunStatus.SUCCEEDED, steps=[done(held, output={"n": n})])
            moved, _ = settle(connection, [end])
            return bool(moved)

        return world.transact(work)

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(worker, range(2)))
    assert sorted(outcomes) == [False, True]
    assert world.steps(held.run_id)[0]["output"] == {"n": outcomes.index(True)}
