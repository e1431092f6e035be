"""The three actions on records: what each writes, answers, emits and refuses."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.integration.acting import Acted, act, context_of, empty
from tests.integration.engine_world import World
from whenthen.engine.context import Context
from whenthen.store.new_id import new_id


@pytest.fixture
def world(acting_context: Context) -> World:
    return empty(World(acting_context))


@pytest.fixture
def other(acting_context: Context) -> World:
    """Another workspace."""
    return World(acting_context)


# ---------------------------------------------------------------------------- CREATE_RECORD


def create(world: World, database_id: Any = None, **values: Any) -> Acted:
    config = {"databaseId": str(database_id or world.database_id), "propertyValues": values}
    return act(world, "CREATE_RECORD", config)


def test_create_record_stores_it_and_tells_its_id(world: World) -> None:
    acted = create(world, Name="Tap", Status="opt-b", Priority="12.50", Assignee=None)
    record_id = UUID(acted.output["recordId"])
    assert acted.output == {"recordId": str(record_id)}
    # The option's id became its name, the text a number, and null leaves no trace.
    record = world.record(record_id)
    assert record["version"] == 1
    assert str(record["properties"].pop("Priority")) == "12.50"
    assert record["properties"] == {"Name": "Tap", "Status": "B"}


def test_create_record_emits_that_it_was_created_one_level_deeper(world: World) -> None:
    acted = create(world, Name="Tap", Priority=1)
    (event,) = acted.events
    assert event["type"] == "record.created"
    assert event["payload"] == {
        "databaseId": str(world.database_id),
        "recordId": acted.output["recordId"],
        "recordVersion": 1,
        "properties": {"Name": "Tap", "Priority": 1},
    }
    assert event["automationContext"] == context_of(acted.run)
    assert event["id"] == f"rec:{world.workspace_id}:{event['outboxId']}"


def test_case_043_an_event_of_a_chain_keeps_its_root_and_its_way(world: World) -> None:
    root, parent, passed = (str(new_id()) for _ in range(3))
    way = [str(UUID(int=1)), str(UUID(int=2)), passed]
    cause = {
        "automationId": passed,
        "runId": parent,
        "rootRunId": root,
        "depth": 3,
        "chain": way,
    }
    event = {**world.created_event(world.add_record()), "automationContext": cause}
    config = {"databaseId": str(world.database_id), "propertyValues": {}}
    acted = act(world, "CREATE_RECORD", config, event)
    assert acted.events[0]["automationContext"] == {
        "automationId": str(acted.run["automation_id"]),
        "runId": str(acted.run["id"]),
        "rootRunId": root,
        "depth": 4,
        "chain": [*way, str(acted.run["automation_id"])],
    }


def test_create_record_takes_another_database_of_its_workspace(world: World) -> None:
    elsewhere = world.add_database()
    acted = create(world, elsewhere, Name="Tap")
    (row,) = world.sql("select * from records where id = :r", r=acted.output["recordId"])
    assert (row["database_id"], row["workspace_id"]) == (elsewhere, world.workspace_id)


def test_case_114_create_record_finds_no_foreign_archived_or_unknown_database(
    world: World, other: World
) -> None:
    archived = world.add_database()
    world.sql("update databases set archived_at = now() where id = :d", d=archived)
    for database_id in (other.database_id, archived, uuid4(), "{{trigger.type}}"):
        acted = create(world, database_id)
        assert (acted.code, acted.message) == (
            "NOT_FOUND",
            "database not found in this workspace",
        )
    assert other.sql("select 1 from records where workspace_id = :w", w=other.workspace_id) == []


# ------------------------------------------------------------------------ values of properties


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"Nope": 1}, "properties.Nope: is not a property of this database"),
        ({"name": "x"}, "properties.name: is not a property of this database"),
        ({"Name": 1}, "properties.Name: must be a text"),
        ({"Status": "D"}, "properties.Status: must be the name of one of its options"),
        ({"Status": "b"}, "properties.Status: must be the name of one of its options"),
        ({"Priority": "high"}, "properties.Priority: must be a number, or a plain decimal string"),
        ({"Priority": True}, "properties.Priority: must be a number, or a plain decimal string"),
        (
            {"Assignee": "01970000-0000-7000-8000-00000000000a"},
            "properties.Assignee: must be the id of a member of the workspace",
        ),
        ({"Name": "fine", "Status": "s3cret"}, "properties.Status: must be the name of one of"),
    ],
)
def test_a_value_that_does_not_fit_its_property_is_refused_by_name_and_nothing_is_written(
    world: World, values: dict[str, Any], message: str
) -> None:
    record_id = world.add_record(Name="before")
    created = create(world, **values)
    updated = update(world, record_id, **values)
    for acted in (created, updated):
        assert acted.code == "PROPERTY_INVALID"
        assert acted.message.startswith(message)
        assert "s3cret" not in acted.message
    assert dict(world.record(record_id)) == {"properties": {"Name": "before"}, "version": 1}
    count = "select count(*) as n from records where workspace_id = :w"
    # The one above, and the record of each of the two events.
    assert world.sql(count, w=world.workspace_id)[0]["n"] == 3


def test_case_114_a_person_is_a_member_of_the_runs_own_workspace(
    world: World, other: World
) -> None:
    member = world.add_member(new_id(), "VIEWER")
    acted = create(world, Assignee=str(member))
    assert world.record(UUID(acted.output["recordId"]))["properties"] == {"Assignee": str(member)}
    assert create(world, Assignee=str(other.owner_id)).code == "PROPERTY_INVALID"


def test_case_078_a_lone_template_keeps_its_type_and_must_fit_as_such(world: World) -> None:
    record_id = world.add_record()
    event = world.created_event(record_id, Priority=7, Name="7")
    config = {"databaseId": str(world.database_id)}
    fits = {"Priority": "{{record.Priority}}", "Name": "n: {{record.Priority}}"}
    acted = act(world, "CREATE_RECORD", {**config, "propertyValues": fits}, event)
    assert world.record(UUID(acted.output["recordId"]))["properties"] == {
        "Priority": 7,
        "Name": "n: 7",
    }
    unfit = {"Name": "{{record.Priority}}"}
    event = world.created_event(record_id, Priority=7)
    acted = act(world, "CREATE_RECORD", {**config, "propertyValues": unfit}, event)
    assert acted.code == "PROPERTY_INVALID"


# ---------------------------------------------------------------------------- UPDATE_RECORD


def update(world: World, record_id: Any, **values: Any) -> Acted:
    return act(world, "UPDATE_RECORD", {"recordId": str(record_id), "propertyValues": values})


def test_update_record_merges_values_and_tells_what_changed(world: World) -> None:
    record_id = world.add_record(Name="Tap", Status="A", Priority=1)
    acted = update(world, record_id, Status="opt-c", Priority=2, Name="Tap")
    assert acted.output == {
        "recordId": str(record_id),
        "changedProperties": ["Priority", "Status"],
    }
    assert dict(world.record(record_id)) == {
        "properties": {"Name": "Tap", "Status": "C", "Priority": 2},
        "version": 2,
    }


def test_update_record_emits_the_new_values_and_what_the_changed_ones_were(world: World) -> None:
    record_id = world.add_record(Name="Tap", Status="A")
    acted = update(world, record_id, Status="B", Priority=1)
    (event,) = acted.events
    assert event["type"] == "record.updated"
    assert event["payload"] == {
        "databaseId": str(world.database_id),
        "recordId": str(record_id),
        "recordVersion": 2,
        "properties": {"Name": "Tap", "Status": "B", "Priority": 1},
        "changedProperties": ["Priority", "Status"],
        "previous": {"Priority": None, "Status": "A"},
    }
    assert event["automationContext"] == context_of(acted.run)


def test_update_record_of_the_events_own_record(world: World) -> None:
    record_id = world.add_record(Name="Tap")
    config = {"recordId": "from_trigger", "propertyValues": {"Name": "{{record.Name}}!"}}
    event = world.created_event(record_id, Name="Tap")
    acted = act(world, "UPDATE_RECORD", config, event)
    assert acted.output["recordId"] == str(record_id)
    assert world.record(record_id)["properties"] == {"Name": "Tap!"}


def test_null_clears_a_property(world: World) -> None:
    record_id = world.add_record(Name="Tap", Status="A", Assignee=str(world.owner_id))
    acted = update(world, record_id, Status=None, Assignee=None, Priority=None)
    assert acted.output["changedProperties"] == ["Assignee", "Status"]
    assert world.record(record_id)["properties"] == {"Name": "Tap"}
    assert acted.events[0]["payload"]["previous"] == {
        "Assignee": str(world.owner_id),
        "Status": "A",
    }


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"Name": "Tap"},
        {"Status": "opt-a"},
        {"Priority": 1.0},
        {"Priority": "1.00"},
        {"Assignee": None},
        {"Name": "Tap", "Status": "A", "Priority": 1},
    ],
    ids=str,
)
def test_case_072_an_update_that_changes_nothing_writes_and_emits_nothing(
    world: World, values: dict[str, Any]
) -> None:
    record_id = world.add_record(Name="Tap", Status="A", Priority=1)
    before = world.sql("select * from records where id = :r", r=record_id)
    acted = update(world, record_id, **values)
    assert acted.output == {"recordId": str(record_id), "changedProperties": []}
    assert acted.events == []
    assert world.sql("select * from records where id = :r", r=record_id) == before


# ---------------------------------------------------------------------------- DELETE_RECORD


def delete(world: World, record_id: Any) -> Acted:
    return act(world, "DELETE_RECORD", {"recordId": str(record_id)})


def test_delete_record_takes_it_away_tells_its_id_and_emits_nothing(world: World) -> None:
    record_id, kept = world.add_record(), world.add_record()
    acted = delete(world, record_id)
    assert acted.output == {"recordId": str(record_id)}
    assert acted.events == []
    assert world.record(record_id) is None
    assert world.record(kept) is not None
    assert delete(world, record_id).code == "NOT_FOUND"


def test_delete_record_of_the_events_own_record(world: World) -> None:
    record_id = world.add_record()
    event = world.created_event(record_id)
    acted = act(world, "DELETE_RECORD", {"recordId": "from_trigger"}, event)
    assert acted.output == {"recordId": str(record_id)}
    assert world.record(record_id) is None


@pytest.mark.parametrize("action", [update, delete], ids=["UPDATE_RECORD", "DELETE_RECORD"])
def test_case_114_a_foreign_deleted_or_unknown_record_is_not_found(
    world: World, other: World, action: Any
) -> None:
    foreign, deleted = other.add_record(Name="theirs"), world.add_record()
    world.sql("delete from records where id = :r", r=deleted)
    for record_id in (foreign, deleted, uuid4(), "{{trigger.type}}"):
        acted = action(world, record_id)
        assert (acted.code, acted.message) == ("NOT_FOUND", "record not found in this workspace")
    assert dict(other.record(foreign)) == {"properties": {"Name": "theirs"}, "version": 1}


@pytest.mark.parametrize("type_", ["UPDATE_RECORD", "DELETE_RECORD"])
def test_a_record_of_an_archived_database_is_not_found(world: World, type_: str) -> None:
    record_id = world.add_record(Name="Tap")
    world.sql("update databases set archived_at = now() where id = :d", d=world.database_id)
    values = {"propertyValues": {"Name": "Pipe"}} if type_ == "UPDATE_RECORD" else {}
    acted = act(world, type_, {"recordId": str(record_id), **values})
    world.sql("update databases set archived_at = null where id = :d", d=world.database_id)
    assert acted.code == "NOT_FOUND"
    assert world.record(record_id)["properties"] == {"Name": "Tap"}


@pytest.mark.parametrize(
    ("type_", "config"),
    [
        ("UPDATE_RECORD", {"recordId": "from_trigger", "propertyValues": {}}),
        ("DELETE_RECORD", {"recordId": "from_trigger"}),
    ],
)
@pytest.mark.parametrize("record_id", [None, 7, "no id"])
def test_an_event_without_a_record_has_none_to_act_on(
    world: World, type_: str, config: dict[str, Any], record_id: Any
) -> None:
    event = world.created_event(new_id())
    event["payload"]["recordId"] = record_id
    assert act(world, type_, config, event).code == "NOT_FOUND"
