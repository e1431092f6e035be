"""The host's data as actions write it: records, their schemas, pages and notifications."""

from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy
from sqlalchemy.engine import Connection

from tests.integration.engine_world import TICKETS
from tests.integration.statements import counted
from tests.integration.store_world import StoreWorld
from whenthen.domain import json_text
from whenthen.domain.kinds import Role
from whenthen.domain.rules.classify import classify_error
from whenthen.engine.context import Context
from whenthen.store import notifications, pages, records
from whenthen.store.database_schemas import DatabaseKey, schemas
from whenthen.store.new_id import new_id
from whenthen.store.notifications import NewNotification
from whenthen.store.pages import NewPage, PageRow
from whenthen.store.records import NewRecord, RecordChange, RecordKey, RecordRow


@pytest.fixture
def world(shared_context: Context) -> StoreWorld:
    return StoreWorld(shared_context)


@pytest.fixture
def other(shared_context: Context) -> StoreWorld:
    """Another workspace."""
    return StoreWorld(shared_context)


# ---------------------------------------------------------------------------------- records


def key(world: StoreWorld, record_id: UUID) -> RecordKey:
    return RecordKey(world.workspace_id, record_id)


def new_record(world: StoreWorld, **properties: Any) -> NewRecord:
    return NewRecord(new_id(), world.workspace_id, world.database_id, properties)


def inserted(world: StoreWorld, *new: NewRecord) -> list[RecordRow]:
    return world.transact(lambda connection: records.insert(connection, new))


def got(world: StoreWorld, record_id: UUID) -> RecordRow | None:
    return world.transact(lambda connection: records.get(connection, record_id))


def test_records_come_back_as_stored_with_their_schema_and_in_order(world: StoreWorld) -> None:
    new = [new_record(world, Name=str(n)) for n in range(5)][::-1]
    rows = inserted(world, *new)
    assert [(row.id, row.properties) for row in rows] == [(r.id, r.properties) for r in new]
    first = rows[0]
    assert (first.workspace_id, first.database_id) == (world.workspace_id, world.database_id)
    assert (first.version, first.schema) == (1, TICKETS)
    assert [got(world, row.id) for row in rows] == rows


def test_case_075_a_records_numbers_keep_their_digits(world: StoreWorld) -> None:
    given = json_text.loads('{"Priority":1.10,"id":9007199254740993,"n":1e2}')
    (row,) = inserted(world, new_record(world, **given))
    assert {name: str(number) for name, number in row.properties.items()} == {
        "Priority": "1.10",
        "id": "9007199254740993",
        "n": "100",
    }


def test_case_113_a_record_is_locked_only_under_its_own_workspace(
    world: StoreWorld, other: StoreWorld
) -> None:
    mine, theirs = world.add_record(Name="mine"), other.add_record(Name="theirs")
    keys = [key(world, mine), key(world, theirs), key(world, uuid4())]
    found = world.transact(lambda connection: records.lock(connection, keys))
    assert found.keys() == {key(world, mine)}
    assert found[key(world, mine)] == got(world, mine)


def test_a_locked_record_waits_for_its_transaction(world: StoreWorld) -> None:
    record_id = world.add_record()

    def work(connection: Connection) -> str:
        assert records.lock(connection, [key(world, record_id)] * 2)
        with pytest.raises(sqlalchemy.exc.DBAPIError) as refused:
            world.context.database.transact(
                lambda other: records.lock(other, [key(world, record_id)]), lock_timeout_ms=30
            )
        return classify_error(refused.value).code

    assert world.transact(work) == "DB_TRANSIENT_55P03"


def test_an_update_writes_the_whole_properties_and_raises_the_version(world: StoreWorld) -> None:
    first, second = world.add_record(Name="a", Status="A"), world.add_record(Name="b")
    before = got(world, first)
    changes = [RecordChange(second, {"Name": "c"}), RecordChange(first, {"Name": "d"})]
    written = world.transact(lambda connection: records.update(connection, changes))
    assert written == {first: got(world, first), second: got(world, second)}
    after = written[first]
    assert before is not None
    assert (after.properties, after.version, after.created_at) == (
        {"Name": "d"},
        2,
        before.created_at,
    )
    assert after.updated_at > before.updated_at
    assert after.schema == TICKETS


def test_an_update_of_what_is_gone_writes_nothing(world: StoreWorld) -> None:
    change = RecordChange(uuid4(), {"Name": "x"})
    assert world.transact(lambda connection: records.update(connection, [change])) == {}


def test_case_113_only_records_of_the_named_workspace_are_deleted(
    world: StoreWorld, other: StoreWorld
) -> None:
    mine, kept, theirs = world.add_record(), world.add_record(), other.add_record()
    keys = [key(world, theirs), key(world, mine), key(world, mine), key(world, uuid4())]
    assert world.transact(lambda c: records.delete(c, keys)) == {key(world, mine)}
    assert got(world, mine) is None
    assert got(world, kept) is not None
    assert got(world, theirs) is not None
    assert world.transact(lambda c: records.delete(c, keys)) == set()


def test_a_record_is_read_whatever_its_workspace_and_says_which(
    world: StoreWorld, other: StoreWorld
) -> None:
    row = got(world, other.add_record(Name="theirs"))
    assert row is not None
    assert row.workspace_id == other.workspace_id
    assert got(world, uuid4()) is None


@pytest.mark.parametrize("work", [records.lock, records.update, records.delete])
def test_no_records_are_no_statement(world: StoreWorld, work: Any) -> None:
    with counted(world.context.database) as cost:
        assert len(world.transact(lambda connection: work(connection, []))) == 0
    assert cost.statements == []


# ---------------------------------------------------------------------------------- schemas


def test_case_113_the_schemas_of_foreign_archived_and_unknown_databases_are_not_told(
    world: StoreWorld, other: StoreWorld
) -> None:
    archived = world.add_database()
    world.sql("update databases set archived_at = now() where id = :d", d=archived)
    mine = DatabaseKey(world.workspace_id, world.database_id)
    keys = [
        mine,
        mine,
        DatabaseKey(world.workspace_id, other.database_id),
        DatabaseKey(world.workspace_id, archived),
        DatabaseKey(world.workspace_id, uuid4()),
    ]
    assert world.transact(lambda connection: schemas(connection, keys)) == {mine: TICKETS}


def test_no_databases_are_no_statement(world: StoreWorld) -> None:
    with counted(world.context.database) as cost:
        assert world.transact(lambda connection: schemas(connection, [])) == {}
    assert cost.statements == []


# ------------------------------------------------------------------------------------ pages


def new_page(world: StoreWorld, parent_id: UUID | None = None, **changes: Any) -> NewPage:
    facts = {"title": "Page", "content": None}
    return NewPage(new_id(), world.workspace_id, parent_id=parent_id, **{**facts, **changes})


def added(world: StoreWorld, *new: NewPage) -> dict[UUID, PageRow]:
    return world.transact(lambda connection: pages.insert(connection, new))


def test_a_page_is_stored_as_it_is(world: StoreWorld) -> None:
    parent = new_page(world)
    added(world, parent)
    child = new_page(world, parent.id, title="Größe", content="null")
    found = added(world, child)
    row = world.transact(lambda connection: pages.get(connection, child.id))
    assert found == {child.id: row}
    assert row is not None
    assert (row.workspace_id, row.title, row.parent_id, row.content) == (
        world.workspace_id,
        "Größe",
        parent.id,
        "null",
    )
    assert world.transact(lambda connection: pages.get(connection, uuid4())) is None


def test_a_page_without_parent_and_content_has_neither(world: StoreWorld) -> None:
    page = new_page(world)
    row = added(world, page)[page.id]
    assert (row.parent_id, row.content) == (None, None)


def test_case_113_a_page_under_a_parent_that_is_not_here_is_left_out_and_the_others_are_not(
    world: StoreWorld, other: StoreWorld
) -> None:
    theirs = new_page(other)
    added(other, theirs)
    good, foreign, unknown = new_page(world), new_page(world, theirs.id), new_page(world, uuid4())
    assert added(world, foreign, good, unknown).keys() == {good.id}
    rows = world.sql("select id from pages where workspace_id = :w", w=world.workspace_id)
    assert [row["id"] for row in rows] == [good.id]


def test_no_pages_are_no_statement(world: StoreWorld) -> None:
    with counted(world.context.database) as cost:
        assert added(world) == {}
    assert cost.statements == []


# ---------------------------------------------------------------------------- notifications


def test_notifications_are_stored_unread_with_or_without_body_and_run(world: StoreWorld) -> None:
    run_id = uuid4()
    new = [
        NewNotification(new_id(), world.workspace_id, world.owner_id, "Title", "Body", run_id),
        NewNotification(new_id(), world.workspace_id, world.owner_id, "Größe", None, None),
    ]
    world.transact(lambda connection: notifications.insert(connection, new))
    rows = world.sql(
        "select id, user_id, title, body, run_id, read_at from notifications"
        " where workspace_id = :w order by id",
        w=world.workspace_id,
    )
    assert [tuple(row.values()) for row in rows] == [
        (n.id, world.owner_id, n.title, n.body, n.run_id, None)
        for n in sorted(new, key=lambda n: n.id)
    ]


def test_no_notifications_are_no_statement(world: StoreWorld) -> None:
    with counted(world.context.database) as cost:
        world.transact(lambda connection: notifications.insert(connection, []))
    assert cost.statements == []


def test_the_members_of_each_workspace_come_with_their_roles_the_oldest_first(
    world: StoreWorld, other: StoreWorld
) -> None:
    roles = {role: world.add_member(new_id(), role) for role in ("ADMIN", "EDITOR", "VIEWER")}
    world.sql(
        "update members set created_at = created_at - interval '1 day' where user_id = :u",
        u=roles["VIEWER"],
    )
    nowhere = uuid4()
    asked = [world.workspace_id, other.workspace_id, nowhere, world.workspace_id]
    found = world.transact(lambda connection: notifications.members(connection, asked))
    assert list(found[world.workspace_id].items()) == [
        (roles["VIEWER"], Role.VIEWER),
        (world.owner_id, Role.OWNER),
        (roles["ADMIN"], Role.ADMIN),
        (roles["EDITOR"], Role.EDITOR),
    ]
    assert found[other.workspace_id] == {other.owner_id: Role.OWNER}
    assert found[nowhere] == {}
