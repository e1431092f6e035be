"""What goes straight to the driver: its parameters, its errors, and plans that find rows by key."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, cast
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from tests.integration.store_world import LEASE_S, StoreWorld
from whenthen.domain.kinds import RunStatus
from whenthen.engine.context import Context
from whenthen.store import notifications, records, run_claims, run_holds, run_settlements
from whenthen.store.connection import Database
from whenthen.store.new_id import new_id
from whenthen.store.pipelined import PipelinedConnection
from whenthen.store.prepared import prepared, rows_together
from whenthen.store.records import RecordChange, RecordKey
from whenthen.store.run_inserts import NewRun, insert_runs
from whenthen.store.run_settlements import Settlement

# So few that the planner would rather read them all, so many that it would show.
OTHERS = 400
BATCH = 5
# Rows that may be looked at for one row that is wanted: a lock, its update and both their checks.
LOOKS_PER_ROW = 10


@pytest.fixture
def world(shared_context: Context) -> StoreWorld:
    return StoreWorld(shared_context)


@pytest.mark.parametrize(
    "sql",
    [
        "select :a, :b, :a",
        "select cast(:ids as uuid[]), '12:30', :n",
        "select x::text, :y, to_char(now(), 'HH24\\:MI\\:SS')",
        "select :a_1:b, :c",
        "select 'no parameter'",
        "select :a -- :b",
    ],
)
def test_names_become_numbers_as_sqlalchemy_reads_them(sql: str) -> None:
    dialect = postgresql.dialect(paramstyle="numeric_dollar")  # type: ignore[no-untyped-call]
    compiled = text(sql).compile(dialect=dialect)
    statement = prepared(sql)
    assert statement.sql == str(compiled)
    assert list(statement._names) == list(dict.fromkeys(compiled.positiontup or []))


def test_rows_come_by_the_names_of_their_columns(world: StoreWorld) -> None:
    twice = prepared("select n, n * :by as product from generate_series(1, 2) n order by n")
    assert world.transact(lambda connection: twice.rows(connection, {"by": 3})) == [
        {"n": 1, "product": 3},
        {"n": 2, "product": 6},
    ]


def test_a_missing_value_is_an_error_of_the_caller(world: StoreWorld) -> None:
    with pytest.raises(KeyError, match="by"):
        world.transact(lambda connection: prepared("select :by").rows(connection, {}))


def test_an_error_names_the_statement_and_none_of_its_values(world: StoreWorld) -> None:
    secret = f"canary-{uuid4()}"
    refused = prepared("select cast(cast(:value as text) as integer)")
    with pytest.raises(DBAPIError) as caught:
        world.transact(lambda connection: refused.run(connection, {"value": secret}))
    assert "as integer" in str(caught.value.statement)
    assert caught.value.params is None
    assert not caught.value.connection_invalidated


def test_outside_of_a_transaction_a_statement_opens_one(world: StoreWorld) -> None:
    name = f"kept-{uuid4()}"
    change = prepared("update workspaces set name = :name where id = :id")
    with world.context.database.engine.connect() as connection:
        change.run(connection, {"name": name, "id": world.workspace_id})
        assert connection.in_transaction()
        connection.commit()
    (row,) = world.sql("select name from workspaces where id = :w", w=world.workspace_id)
    assert row["name"] == name


RENAME = prepared("update workspaces set name = :name where id = :id returning name")
NAME = prepared("select name, 6 / cast(:by as integer) as n from workspaces where id = :id")


@pytest.fixture(params=["kept", "not kept"])
def database(shared_context: Context, request: pytest.FixtureRequest) -> Iterator[Database]:
    """The database with and without statements that the server keeps."""
    settings = replace(shared_context.settings, database_prepare=request.param == "kept")
    opened = Database(settings, lambda: ("postgres", None))
    yield opened
    opened.close()


def both(
    database: Database, world: StoreWorld, name: str, by: int
) -> tuple[list[list[dict[str, Any]]], int]:
    """Rename the workspace and read it again; return the rows and how many statements that is."""

    def work(connection: Connection) -> tuple[list[list[dict[str, Any]]], int]:
        raw = cast("PipelinedConnection", connection.connection.dbapi_connection)
        before = raw.statements
        values = {"name": name, "id": world.workspace_id, "by": by}
        rows = rows_together(connection, (RENAME, values), (NAME, values))
        return rows, raw.statements - before

    return database.transact(work)


def name_of(world: StoreWorld) -> str:
    (row,) = world.sql("select name from workspaces where id = :w", w=world.workspace_id)
    return str(row["name"])


def test_of_statements_together_each_sees_what_those_before_it_did(
    database: Database, world: StoreWorld
) -> None:
    for n in range(3):
        rows, count = both(database, world, f"name {n}", by=3)
        assert rows == [[{"name": f"name {n}"}], [{"name": f"name {n}", "n": 2}]]
        assert count == 2
    assert name_of(world) == "name 2"


@pytest.mark.parametrize("first_time", [True, False])
def test_where_the_last_of_them_fails_nothing_has_happened(
    database: Database, world: StoreWorld, *, first_time: bool
) -> None:
    if not first_time:
        both(database, world, "before", by=1)
    name = name_of(world)
    with pytest.raises(DBAPIError, match="division by zero"):
        both(database, world, "after", by=0)
    assert name_of(world) == name
    assert both(database, world, "at last", by=6)[0][1] == [{"name": "at last", "n": 1}]


def test_behind_one_that_fails_none_is_carried_out(database: Database, world: StoreWorld) -> None:
    values = {"name": "after", "id": world.workspace_id, "by": 0}
    with pytest.raises(DBAPIError, match="division by zero"):
        database.transact(lambda c: rows_together(c, (NAME, values), (RENAME, values)))
    assert name_of(world) == "World"
    assert both(database, world, "at last", by=6)[1] == 2


@pytest.fixture
def run_ids(world: StoreWorld) -> list[UUID]:
    """A batch of PENDING runs, among as many others as there are."""
    automation_id = world.add_automation([{"type": "CREATE_NOTIFICATION", "config": {}}])
    events = [world.event(record_id=str(uuid4())) for _ in range(OTHERS)]
    runs = [NewRun(new_id(), place, automation_id, 1) for place in range(OTHERS)]
    world.transact(lambda connection: insert_runs(connection, events, runs))
    return [run.id for run in runs[:BATCH]]


@pytest.fixture
def record_ids(world: StoreWorld) -> list[UUID]:
    rows = world.sql(
        "insert into records (id, workspace_id, database_id, properties)"
        " select gen_random_uuid(), :w, :d, '{}' from generate_series(1, :n) returning id",
        w=world.workspace_id,
        d=world.database_id,
        n=OTHERS,
    )
    return [row["id"] for row in rows[:BATCH]]


_LOOKED_AT = text(
    "select relname, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as n"
    " from pg_stat_xact_user_tables"
)


def looked_at(connection: Connection) -> Mapping[str, int]:
    """Return how many rows of each table the transaction has looked at so far."""
    return {row.relname: row.n for row in connection.execute(_LOOKED_AT)}


def require_few(world: StoreWorld, table: str, *works: Callable[[Connection], Any]) -> None:
    """Carry out `works`, a transaction each; none looks at more rows than it wants."""
    for work in works:

        def counted_work(
            connection: Connection, work: Callable[[Connection], Any] = work
        ) -> Mapping[str, int]:
            work(connection)
            return looked_at(connection)

        rows = world.transact(counted_work)
        assert 0 < rows[table] <= BATCH * LOOKS_PER_ROW, (work, rows)


def test_runs_are_claimed_read_held_and_settled_by_key(
    world: StoreWorld, run_ids: list[UUID]
) -> None:
    lease = uuid4()
    ends = [
        Settlement(run_id, world.workspace_id, lease, RunStatus.SUCCEEDED, 1) for run_id in run_ids
    ]
    require_few(
        world,
        "automation_runs",
        lambda connection: run_claims.claim(connection, run_ids, lease, LEASE_S),
        lambda connection: run_claims.read(connection, run_ids, frozenset()),
        lambda connection: run_holds.hold(connection, run_ids, lease),
        lambda connection: run_settlements.settle(connection, ends),
    )
    assert {world.row(run_id)["status"] for run_id in run_ids} == {"SUCCEEDED"}


def test_records_are_locked_changed_and_deleted_by_key(
    world: StoreWorld, record_ids: list[UUID]
) -> None:
    keys = [RecordKey(world.workspace_id, record_id) for record_id in record_ids]
    changes = [RecordChange(record_id, {"Name": "x"}) for record_id in record_ids]
    require_few(
        world,
        "records",
        lambda connection: records.lock(connection, keys),
        lambda connection: records.update(connection, changes),
        lambda connection: records.ids_in(connection, [world.database_id], record_ids),
        lambda connection: records.delete(connection, keys),
    )


def test_members_are_found_by_key(world: StoreWorld) -> None:
    for _ in range(OTHERS // 8):
        StoreWorld(world.context)
    require_few(
        world,
        "members",
        lambda connection: notifications.members(connection, [world.workspace_id]),
    )
