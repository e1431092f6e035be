"""Which triggers an event may match, found by index however many others there are."""

from typing import Any, cast
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.engine import Connection

from tests.integration.statements import counted
from tests.integration.store_world import StoreWorld
from whenthen.domain import json_text
from whenthen.domain.kinds import AutomationStatus, TriggerType
from whenthen.domain.rules.matching import Candidate, Scope
from whenthen.engine.context import Context
from whenthen.store import candidates
from whenthen.store.candidates import load_candidates
from whenthen.store.pipelined import PipelinedConnection

CREATED, UPDATED = TriggerType.RECORD_CREATED, TriggerType.RECORD_UPDATED


@pytest.fixture
def world(shared_context: Context) -> StoreWorld:
    return StoreWorld(shared_context)


def load(world: StoreWorld, *scopes: tuple[UUID, Scope]) -> dict[tuple[UUID, Scope], Any]:
    return world.transact(lambda connection: load_candidates(connection, scopes))


def here(world: StoreWorld, type_: TriggerType = CREATED) -> tuple[UUID, Scope]:
    return world.workspace_id, Scope(type_, world.database_id)


def ids_found(world: StoreWorld, *scopes: tuple[UUID, Scope]) -> list[UUID]:
    found = load(world, *(scopes or [here(world)]))
    return [candidate.automation_id for found_here in found.values() for candidate in found_here]


def trigger(type_: TriggerType = CREATED, **config: Any) -> dict[str, Any]:
    return {"type": type_.value, "config": config}


def test_a_candidate_is_read_whole(world: StoreWorld) -> None:
    automation_id = world.add_automation([], triggers=[trigger(databaseId=str(world.database_id))])
    (row,) = world.sql(
        "select a.active_since, t.id from automations a join automation_triggers t"
        " on t.automation_id = a.id where a.id = :a",
        a=automation_id,
    )
    world.sql("update automations set version = 3 where id = :a", a=automation_id)
    assert load(world, here(world)) == {
        here(world): [
            Candidate(
                automation_id=automation_id,
                workspace_id=world.workspace_id,
                version=3,
                trigger_id=row["id"],
                position=0,
                type=CREATED,
                config={"databaseId": str(world.database_id)},
                scope_id=world.database_id,
                active_since=row["active_since"],
                is_active=True,
            )
        ]
    }


@pytest.mark.parametrize("status", AutomationStatus)
def test_case_020_only_active_automations_are_candidates(
    world: StoreWorld, status: AutomationStatus
) -> None:
    automation_id = world.add_automation([], status=status.value)
    expected = [automation_id] if status == AutomationStatus.ACTIVE else []
    assert ids_found(world) == expected


@pytest.mark.parametrize("status", AutomationStatus)
def test_a_webhook_is_a_candidate_whatever_became_of_its_automation_since(
    world: StoreWorld, status: AutomationStatus
) -> None:
    """It was answered while the automation was ACTIVE, and that answer is kept."""
    automation_id = world.add_automation(
        [], triggers=[trigger(TriggerType.WEBHOOK)], status=status.value
    )
    scope = (world.workspace_id, Scope(TriggerType.WEBHOOK, automation_id))
    (candidate,) = load(world, scope)[scope]
    assert candidate.automation_id == automation_id
    assert candidate.is_active is (status == AutomationStatus.ACTIVE)


def test_an_automation_that_was_never_activated_is_no_candidate(world: StoreWorld) -> None:
    automation_id = world.add_automation([])
    world.sql("update automations set active_since = null where id = :a", a=automation_id)
    assert ids_found(world) == []


def test_case_113_the_triggers_of_another_workspace_are_no_candidates(world: StoreWorld) -> None:
    other = StoreWorld(world.context)
    other.add_automation([], database_id=other.database_id)
    # Even if an event names the other one's database.
    assert ids_found(world, (world.workspace_id, Scope(CREATED, other.database_id))) == []


def test_another_type_and_another_scope_are_no_candidates(world: StoreWorld) -> None:
    world.add_automation([], triggers=[trigger(UPDATED)])
    world.add_automation([], database_id=world.add_database())
    assert ids_found(world) == []


def test_a_trigger_without_a_scope_matches_nothing(world: StoreWorld) -> None:
    automation_id = world.add_automation([])
    world.sql(
        "update automation_triggers set scope_id = null where automation_id = :a", a=automation_id
    )
    assert ids_found(world) == []


def test_candidates_come_by_automation_and_position(world: StoreWorld) -> None:
    automations = [world.add_automation([], triggers=[trigger()] * 3) for _ in range(3)]
    found = load(world, here(world))[here(world)]
    assert [(c.automation_id, c.position) for c in found] == [
        (automation_id, position) for automation_id in sorted(automations) for position in range(3)
    ]


def test_every_scope_that_was_asked_for_is_answered(world: StoreWorld) -> None:
    other = StoreWorld(world.context)
    created = world.add_automation([])
    updated = world.add_automation([], triggers=[trigger(UPDATED), trigger()])
    theirs = other.add_automation([])
    nowhere = (world.workspace_id, Scope(CREATED, uuid4()))
    found = load(world, here(world), here(world, UPDATED), here(other), nowhere, here(world))
    assert {
        scope: [c.automation_id for c in found_there] for scope, found_there in found.items()
    } == {
        here(world): sorted([created, updated]),
        here(world, UPDATED): [updated],
        here(other): [theirs],
        nowhere: [],
    }


def test_no_scopes_are_no_statement(world: StoreWorld) -> None:
    with counted(world.context.database) as cost:
        assert load(world) == {}
    assert cost.statements == []


OTHERS = 10_000


class RollBackError(Exception):
    """Takes the ten thousand away again."""


def add_others(connection: Connection, world: StoreWorld) -> None:
    """Add ACTIVE automations of the same workspace and type, each on a database of its own."""
    connection.execute(
        text(
            "insert into automations (id, workspace_id, name, status, active_since)"
            " select gen_random_uuid(), :w, 'Other', 'ACTIVE', whenthen_now()"
            " from generate_series(1, cast(:n as integer))"
        ),
        {"w": world.workspace_id, "n": OTHERS},
    )
    connection.execute(
        text(
            "insert into automation_triggers (id, automation_id, position, type, workspace_id,"
            " scope_id, config) select gen_random_uuid(), a.id, 0, 'RECORD_CREATED', :w,"
            " gen_random_uuid(), '{}' from automations a where a.workspace_id = :w"
        ),
        {"w": world.workspace_id},
    )
    connection.execute(text("analyze automations, automation_triggers"))


def test_among_10_000_other_automations_the_look_up_goes_by_the_index(world: StoreWorld) -> None:
    wanted = world.add_automation([])
    scope = {
        "workspace_id": str(world.workspace_id),
        "type": "RECORD_CREATED",
        "scope_id": str(world.database_id),
    }

    def work(connection: Connection) -> None:
        add_others(connection, world)
        raw = cast("PipelinedConnection", connection.connection.dbapi_connection)
        explained = raw.execute_unnamed(
            f"explain (analyze, costs off) {candidates._LOAD.sql}", [json_text.dumps([scope] * 10)]
        )
        plan = "\n".join(line for (line,) in explained.rows)
        assert "automation_triggers_match" in plan, plan
        assert "Seq Scan" not in plan, plan
        found = load_candidates(connection, [here(world)])
        assert [candidate.automation_id for candidate in found[here(world)]] == [wanted]
        raise RollBackError

    with pytest.raises(RollBackError):
        world.transact(work)
