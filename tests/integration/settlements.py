"""Moves of runs, as the engine would settle them."""

from typing import Any
from uuid import UUID

from tests.integration.store_world import Held, StoreWorld
from whenthen.domain.kinds import RunStatus, StepStatus
from whenthen.domain.rules.log_lines import LogLine
from whenthen.store.outbox import OutboxEvent, new_event
from whenthen.store.run_settlements import NextStep, Settlement, StepResult, settle

TYPE = "CREATE_NOTIFICATION"


def done(held: Held, place: int = 0, **changes: Any) -> StepResult:
    facts = {
        "action_id": held.action_ids[place],
        "index": place,
        "type": TYPE,
        "status": StepStatus.SUCCEEDED,
        "attempts": 1,
        "output": {"n": place},
        "ms": 7,
    }
    return StepResult(**{**facts, **changes})


def failed(held: Held, place: int = 0, **changes: Any) -> StepResult:
    error = {"code": "X", "message": "failed"}
    facts = {"status": StepStatus.FAILED, "output": None, "error": error, "ms": None}
    return done(held, place, **{**facts, **changes})


def move(world: StoreWorld, held: Held, status: RunStatus, **changes: Any) -> Settlement:
    facts = {
        "run_id": held.run_id,
        "workspace_id": world.workspace_id,
        "lease": held.lease,
        "status": status,
        "next_action": 0,
    }
    return Settlement(**{**facts, **changes})


def goes_on(world: StoreWorld, held: Held) -> Settlement:
    """A move that touches everything: row, finished step, next step, log and outbox."""
    return move(
        world,
        held,
        RunStatus.RUNNING,
        next_action=1,
        steps=[done(held)],
        next_step=NextStep(held.action_ids[1], 1, TYPE),
        lines=[LogLine("info", "one"), LogLine("warn", "two", {"n": 1})],
        events=[event_of(world)],
    )


def event_of(world: StoreWorld) -> OutboxEvent:
    return new_event(workspace_id=world.workspace_id, type="record.created", payload={"n": 1})


def settled(world: StoreWorld, *moves: Settlement) -> frozenset[UUID]:
    moved, _ = world.transact(lambda connection: settle(connection, moves))
    return moved
