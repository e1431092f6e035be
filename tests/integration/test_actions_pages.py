"""CREATE_PAGE and CREATE_NOTIFICATION, and what holds for every data action."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.integration.acting import Acted, act, act_together, context_of, empty
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


# ------------------------------------------------------------------------------ CREATE_PAGE


def page(world: World, **config: Any) -> Acted:
    return act(world, "CREATE_PAGE", {"title": "Page", **config})


def stored_page(world: World, acted: Acted) -> tuple[Any, ...]:
    (row,) = world.sql(
        "select workspace_id, title, parent_id, content from pages where id = :p",
        p=UUID(acted.output["pageId"]),
    )
    return tuple(row.values())


def test_create_page_stores_it_tells_its_id_and_emits_that_it_was_created(world: World) -> None:
    acted = page(world, content="# Größe")
    assert acted.output.keys() == {"pageId"}
    assert stored_page(world, acted) == (world.workspace_id, "Page", None, "# Größe")
    (event,) = acted.events
    assert event["type"] == "page.created"
    assert event["payload"] == {
        "pageId": acted.output["pageId"],
        "parentId": None,
        "title": "Page",
    }
    assert event["automationContext"] == context_of(acted.run)


def test_create_page_under_a_parent(world: World) -> None:
    parent_id = page(world).output["pageId"]
    acted = page(world, parentId=parent_id)
    assert stored_page(world, acted) == (world.workspace_id, "Page", UUID(parent_id), None)
    assert acted.events[0]["payload"]["parentId"] == parent_id


def test_case_114_create_page_finds_no_foreign_or_unknown_parent(
    world: World, other: World
) -> None:
    foreign = page(other).output["pageId"]
    for parent_id in (foreign, str(uuid4()), "{{trigger.type}}"):
        acted = page(world, parentId=parent_id)
        assert (acted.code, acted.message) == (
            "NOT_FOUND",
            "parent page not found in this workspace",
        )
    assert world.sql("select 1 from pages where workspace_id = :w", w=world.workspace_id) == []


def test_case_078_a_title_that_a_template_gives_is_text_whatever_its_type(world: World) -> None:
    record_id = world.add_record()
    for given, title in [(7, "7"), ("text", "text"), (["a", 1], '["a",1]'), (None, "")]:
        event = world.created_event(record_id, Value=given)
        config = {"title": "{{record.Value}}", "content": "{{record.Value}}"}
        acted = act(world, "CREATE_PAGE", config, event)
        content = None if given is None else title
        assert stored_page(world, acted) == (world.workspace_id, title, None, content)


# ---------------------------------------------------------------------- CREATE_NOTIFICATION


def notify(world: World, actor_id: Any = None, **config: Any) -> Acted:
    event = world.created_event(world.add_record())
    if actor_id is not None:
        event["payload"]["actorId"] = str(actor_id)
    return act(world, "CREATE_NOTIFICATION", {"title": "Hello", **config}, event)


def told(world: World) -> set[UUID]:
    rows = world.sql(
        "select user_id from notifications where workspace_id = :w", w=world.workspace_id
    )
    users = [row["user_id"] for row in rows]
    assert len(set(users)) == len(users)
    return set(users)


@pytest.fixture
def people(world: World) -> dict[str, UUID]:
    roles = ("ADMIN", "EDITOR", "VIEWER")
    return {"OWNER": world.owner_id} | {r: world.add_member(new_id(), r) for r in roles}


@pytest.mark.parametrize(
    ("config", "roles"),
    [
        ({}, ["OWNER", "ADMIN"]),
        ({"audience": "admins"}, ["OWNER", "ADMIN"]),
        ({"audience": "members"}, ["OWNER", "ADMIN", "EDITOR", "VIEWER"]),
        ({"audience": "actor"}, ["EDITOR"]),
    ],
    ids=["default", "admins", "members", "actor"],
)
def test_a_notification_goes_to_its_audience(
    world: World, other: World, people: dict[str, UUID], config: dict[str, Any], roles: list[str]
) -> None:
    acted = notify(world, people["EDITOR"], **config)
    assert told(world) == {people[role] for role in roles}
    assert told(other) == set()
    rows = world.sql("select id from notifications")
    assert acted.output.keys() == {"notificationIds"}
    assert sorted(acted.output["notificationIds"]) == sorted(str(row["id"]) for row in rows)
    assert acted.events == []


def test_a_notification_goes_to_the_named_users_each_of_them_once(
    world: World, people: dict[str, UUID]
) -> None:
    viewer, editor = people["VIEWER"], people["EDITOR"]
    named = [str(viewer), str(editor), str(viewer), str(viewer).upper()]
    acted = notify(world, userIds=named)
    assert told(world) == {viewer, editor}
    ids = [UUID(notification_id) for notification_id in acted.output["notificationIds"]]
    rows = {row["id"]: row["user_id"] for row in world.sql("select id, user_id from notifications")}
    assert [rows[notification_id] for notification_id in ids] == [viewer, editor]


def test_a_notification_holds_title_body_and_run_and_is_unread(world: World) -> None:
    acted = notify(world, body="Größe: {{trigger.type}}")
    (row,) = world.sql("select title, body, run_id, read_at from notifications")
    assert tuple(row.values()) == ("Hello", "Größe: record.created", acted.run["id"], None)
    world.sql("delete from notifications")
    notify(world)
    assert world.sql("select body from notifications")[0]["body"] is None


@pytest.mark.parametrize("stranger", ["foreign", "unknown", "text", "list"])
def test_case_114_a_user_who_is_no_member_is_not_found_and_then_nobody_is_told(
    world: World, other: World, stranger: str
) -> None:
    named = {
        "foreign": str(other.owner_id),
        "unknown": str(uuid4()),
        "text": "{{trigger.type}}",
        "list": "{{trigger.payload}}",
    }[stranger]
    acted = notify(world, userIds=[str(world.owner_id), named])
    assert (acted.code, acted.message) == ("NOT_FOUND", "user not found in this workspace")
    assert told(world) | told(other) == set()


def test_without_an_actor_or_with_one_from_elsewhere_there_is_nobody_to_tell(
    world: World, other: World
) -> None:
    for actor_id in (None, other.owner_id, "no id"):
        assert notify(world, actor_id, audience="actor").code == "NOT_FOUND"
    assert told(world) == set()


# ----------------------------------------------------------------------------- all of them


@pytest.mark.parametrize(
    ("type_", "config"),
    [
        ("CREATE_RECORD", {"databaseId": "no id", "propertyValues": {}}),
        ("UPDATE_RECORD", {"recordId": "from_trigger"}),
        ("DELETE_RECORD", {"recordId": "from_trigger", "force": True}),
        ("CREATE_PAGE", {"title": ""}),
        ("CREATE_NOTIFICATION", {"title": "x", "audience": "everybody"}),
    ],
)
def test_a_stored_config_that_is_not_valid_fails_the_run_before_anything_is_done(
    world: World, type_: str, config: dict[str, Any]
) -> None:
    record_id = world.add_record(Name="before")
    acted = act(world, type_, config, world.created_event(record_id))
    assert acted.code == "ACTION_CONFIG_INVALID"
    assert dict(world.record(record_id)) == {"properties": {"Name": "before"}, "version": 1}


def test_the_steps_of_a_group_are_answered_each_for_itself(world: World) -> None:
    created = [
        {"databaseId": str(world.database_id), "propertyValues": {"Name": "a"}},
        {"databaseId": str(uuid4()), "propertyValues": {}},
        {"databaseId": str(world.database_id), "propertyValues": {"Assignee": str(uuid4())}},
        {
            "databaseId": str(world.database_id),
            "propertyValues": {"Assignee": str(world.owner_id)},
        },
    ]
    first, second, third, fourth = act_together(world, "CREATE_RECORD", created)
    assert (second, third) == ("NOT_FOUND", "PROPERTY_INVALID")
    assert world.record(UUID(first["recordId"]))["properties"] == {"Name": "a"}
    assert world.record(UUID(fourth["recordId"]))["properties"] == {"Assignee": str(world.owner_id)}


def test_of_two_steps_that_delete_one_record_one_finds_it(world: World) -> None:
    record_id = world.add_record()
    answers = act_together(world, "DELETE_RECORD", [{"recordId": str(record_id)}] * 2)
    assert sorted(answers, key=str) == ["NOT_FOUND", {"recordId": str(record_id)}]


def test_case_035_a_failed_action_of_a_run_keeps_what_the_ones_before_it_did(
    world: World,
) -> None:
    record_id = world.add_record(Name="Tap")
    world.add_automation(
        [
            {
                "type": "UPDATE_RECORD",
                "config": {"recordId": "from_trigger", "propertyValues": {"Name": "kept"}},
            },
            {
                "type": "UPDATE_RECORD",
                "config": {"recordId": "from_trigger", "propertyValues": {"Nope": 1}},
            },
        ]
    )
    world.match(world.created_event(record_id))
    world.execute()
    run = world.the_run()
    assert (run["status"], run["error"]["code"], run["error"]["actionIndex"]) == (
        "FAILED",
        "PROPERTY_INVALID",
        1,
    )
    assert world.record(record_id)["properties"] == {"Name": "kept"}
    assert [step["status"] for step in world.steps(run["id"])] == ["SUCCEEDED", "FAILED"]


def test_later_actions_read_the_outputs_of_earlier_ones(world: World) -> None:
    first, second = str(new_id()), str(new_id())
    world.add_automation(
        [
            {
                "id": first,
                "type": "CREATE_RECORD",
                "config": {"databaseId": str(world.database_id), "propertyValues": {"Name": "a"}},
            },
            {
                "id": second,
                "type": "UPDATE_RECORD",
                "config": {
                    "recordId": "{{actions[0].output.recordId}}",
                    "propertyValues": {"Priority": 5},
                },
            },
            {
                "type": "CREATE_PAGE",
                "config": {
                    "title": f'{{{{actions["{second}"].output.changedProperties}}}} changed'
                },
            },
        ]
    )
    world.match(world.created_event(world.add_record()))
    world.execute()
    run = world.the_run()
    created = run["output"]["actions"][0]["output"]["recordId"]
    assert world.record(UUID(created))["properties"] == {"Name": "a", "Priority": 5}
    assert world.sql("select title from pages")[0]["title"] == '["Priority"] changed'
