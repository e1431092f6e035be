"""What goes straight to the driver: its parameters, its errors, and plans that find rows by key."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, cast
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from tests.integration.store_world import LEASE_S, StoreWorld
from tests.integration.transactions import LOST, code_of
from whenthen.domain.kinds import RunStatus
from whenthen.engine.context import Context
from whenthen.store import notifications, records, run_claims, run_holds, run_settlements
from whenthen.store.connection import SOCKET_TIMEOUT_S, Database
from whenthen.store.new_id import new_id
from whenthen.store.pipelined import PLAN_AGE_S, PipelinedConnection
from whenthen.store.prepared import prepared, rows_together
from whenthen.store.records import RecordChange, RecordKey
from whenthen.store.run_inserts import NewRun, insert_runs
from whenthen.store.run_settlements import Settlement

# So few that the planner would rather read them all, so many that it would show.
OTHERS = 400
FEW = 20
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
        "select '\\:x:y', '\\:', '\\:z '",
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


@pytest.mark.parametrize(
    ("statement", "given"),
    [
        # Python refuses to read so long a number: the answer is left half read.
        ("select cast(:x as jsonb) as x", "9" * 5000),
        # No UTF-8 can be made of it: the question is left half sent, good or bad.
        ("select cast(:x as text) as x", "\ud800"),
        ("select cast(:x as text) as x from nowhere", "\ud800"),
    ],
    ids=["answer", "question", "bad-question"],
)
@pytest.mark.parametrize("first", [True, False])
def test_case_123_half_a_question_or_answer_never_meets_the_next_one(
    lone: Database, world: StoreWorld, statement: str, given: str, *, first: bool
) -> None:
    asked = prepared(statement)

    def work(connection: Connection) -> None:
        if not first:
            RENAME.run(connection, {"name": "after", "id": world.workspace_id})
        asked.run(connection, {"x": given})

    with pytest.raises(ValueError, match=r"limit|surrogates"):
        lone.transact(work)
    assert [lone.transact(partial(echoed, n)) for n in range(3)] == [0, 1, 2]
    assert name_of(world) == "World"


def test_a_connection_that_was_interrupted_is_not_used_again(lone: Database) -> None:
    def work(connection: Connection) -> None:
        raw: Any = connection.connection.dbapi_connection

        def interrupt(*_: object) -> None:
            raise KeyboardInterrupt

        raw.handle_messages = interrupt
        echoed(7, connection)

    with pytest.raises(KeyboardInterrupt):
        lone.transact(work)
    assert [lone.transact(partial(echoed, n)) for n in range(3)] == [0, 1, 2]


def echoed(n: int, connection: Connection) -> int:
    ((answer,),) = (row.values() for row in ECHO.rows(connection, {"n": n}))
    return int(answer)


def test_a_transaction_by_key_leaves_nothing_set_behind_it(
    lone: Database, world: StoreWorld
) -> None:
    def settings(connection: Connection) -> list[str]:
        return [connection.execute(text(f"show {name}")).scalar_one() for name in BY_KEY]

    def settings_by_key(connection: Connection) -> list[str]:
        echoed(1, connection)
        return settings(connection)

    def refused(connection: Connection) -> None:
        echoed(1, connection)
        connection.execute(text("select 1 / 0"))

    def given_up(connection: Connection) -> None:
        echoed(1, connection)
        raise InterruptedError

    usual = lone.transact(settings)
    assert usual == ["on", "auto", usual[2]]
    assert lone.transact(settings_by_key) == ["off", "force_generic_plan", "off"]
    assert lone.transact(settings) == usual
    for work, error in ((refused, DBAPIError), (given_up, InterruptedError)):
        with pytest.raises(error):
            lone.transact(work)
        assert lone.transact(settings) == usual
    assert world.sql("show enable_seqscan") == [{"enable_seqscan": "on"}]


def test_a_statement_by_key_is_planned_once_whatever_its_values_are(lone: Database) -> None:
    for n in range(4):
        lone.transact(partial(echoed, n))
    plans = "select generic_plans, custom_plans from pg_prepared_statements where statement = :sql"
    ((generic, custom),) = lone.transact(
        lambda connection: connection.execute(text(plans), {"sql": ECHO.sql}).all()
    )
    assert (generic, custom) == (4, 0)


@pytest.mark.parametrize(("together", "limit"), [(1, "8s"), (2, "4s"), (4, "2s")])
def test_statements_of_one_round_trip_share_the_time_that_an_answer_may_take(
    shared_context: Context, together: int, limit: str
) -> None:
    patient = Database(shared_context.settings, lambda: ("postgres", None), answer_within_s=10)
    told = patient.transact(
        lambda connection: connection.execute(text("show statement_timeout")).scalar_one(),
        together=together,
    )
    patient.close()
    assert told == limit


@pytest.mark.parametrize("answer_within_s", [1, 2, 2.001])
@pytest.mark.parametrize("together", [1, 2, 4])
def test_where_no_time_is_left_the_limit_is_the_shortest_and_not_none(
    shared_context: Context, answer_within_s: float, together: int
) -> None:
    settings = shared_context.settings
    hasty = Database(settings, lambda: ("postgres", None), answer_within_s=answer_within_s)
    # Asked of the server, the question itself could be over the limit.
    assert "statement_timeout = 1;" in hasty._begin_sql(50, 30_000, together)


def test_a_batch_is_claimed_within_the_time_that_its_answer_may_take(
    world: StoreWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits_s = []
    claim = run_claims.claim

    def noted(connection: Connection, *given: Any) -> Any:
        answers = claim(connection, *given)
        limit = connection.execute(text("select setting from pg_settings where name = :n"), LIMIT)
        limits_s.append(int(limit.scalar_one()) / 1000)
        return answers

    monkeypatch.setattr(run_claims, "claim", noted)
    world.execute([uuid4()])
    (limit_s,) = limits_s
    assert limit_s * run_claims.CLAIM_STATEMENTS < SOCKET_TIMEOUT_S


ECHO = prepared("select cast(:n as integer) as n")
LIMIT = {"n": "statement_timeout"}
BY_KEY = ("enable_seqscan", "plan_cache_mode", "jit")
RENAME = prepared("update workspaces set name = :name where id = :id returning name")
NAME = prepared("select name, 6 / cast(:by as integer) as n from workspaces where id = :id")


def test_another_session_behind_a_connection_has_none_of_its_statements(
    shared_context: Context,
) -> None:
    """As behind a pooler that shares sessions: a name there is never taken for one of ours."""
    one, other = (Database(shared_context.settings, lambda: ("postgres", None)) for _ in range(2))
    doubled = prepared("select 2 * cast(:n as integer) as n")
    assert one.transact(partial(echoed, 4)) == 4
    assert other.transact(lambda connection: doubled.rows(connection, {"n": 4})) == [{"n": 8}]
    mine, theirs = (one.transact(raw_of), other.transact(raw_of))
    mine._sock, theirs._sock = theirs._sock, mine._sock
    # Both find out at their first statement, and begin anew.
    assert one.transact(partial(echoed, 5)) == 5
    assert other.transact(lambda connection: doubled.rows(connection, {"n": 5})) == [{"n": 10}]
    one.close()
    other.close()


def raw_of(connection: Connection) -> Any:
    return connection.connection.dbapi_connection


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


KILLED = prepared("select pg_terminate_backend(pg_backend_pid())")


@pytest.mark.parametrize("used", [True, False])
def test_a_connection_that_dies_among_them_is_lost_with_all_of_them(
    database: Database, world: StoreWorld, *, used: bool
) -> None:
    if used:
        both(database, world, "before", by=1)
    values = {"name": "after", "id": world.workspace_id}

    def work(connection: Connection) -> None:
        rows_together(connection, (RENAME, values), (KILLED, {}))

    assert code_of(lambda: database.transact(work)) == LOST
    assert name_of(world) != "after"
    assert both(database, world, "at last", by=6)[1] == 2


def test_large_questions_are_asked_one_by_one(database: Database) -> None:
    echo = prepared("select cast(:text as text) as text, :name as name")
    texts = [{"text": "x" * 1_000_000, "name": name} for name in "ab"]
    answers = database.transact(lambda c: rows_together(c, *((echo, values) for values in texts)))
    assert answers == [[values] for values in texts]


def test_a_question_of_few_but_wide_characters_is_a_large_one(database: Database) -> None:
    """Both sides would write more than the socket holds, and neither would read."""
    long = prepared("select repeat('x', 1000) as text from generate_series(1, cast(:n as integer))")
    echo = prepared("select cast(:text as text) as text")
    wide = {"text": "\N{GRINNING FACE}" * 19_000}
    asked = ((long, {"n": 20_000}), (echo, wide), (long, {"n": 1}))
    rows = database.transact(lambda connection: rows_together(connection, *asked))
    assert (len(rows[0]), rows[1], len(rows[2])) == (20_000, [wide], 1)


def pending_runs(world: StoreWorld, among: int) -> list[UUID]:
    """Return a batch of PENDING runs, among as many others as that."""
    automation_id = world.add_automation([{"type": "CREATE_NOTIFICATION", "config": {}}])
    events = [world.event(record_id=str(uuid4())) for _ in range(among)]
    runs = [NewRun(new_id(), place, automation_id, 1) for place in range(among)]
    world.transact(lambda connection: insert_runs(connection, events, runs))
    return [run.id for run in runs[:BATCH]]


def kept(connection: Connection) -> list[str]:
    rows = connection.execute(text("select name from pg_prepared_statements"))
    return [row.name for row in rows]


@pytest.mark.parametrize("age_s", [PLAN_AGE_S, -1.0], ids=["young plans", "old plans"])
@pytest.mark.parametrize("failing", ["alone", "first", "last"])
def test_statements_that_fail_again_and_again_leave_no_more_names_with_the_server(
    lone: Database, world: StoreWorld, failing: str, age_s: float
) -> None:
    values = {"name": "x", "id": world.workspace_id, "by": 0}
    asked = {"alone": [NAME], "first": [NAME, RENAME], "last": [RENAME, NAME]}[failing]

    def work(connection: Connection) -> None:
        raw = cast("PipelinedConnection", connection.connection.dbapi_connection)
        raw.plan_age_s = age_s
        rows_together(connection, *((statement, values) for statement in asked))

    for _ in range(5):
        with pytest.raises(DBAPIError, match="division by zero"):
            lone.transact(work)
    lone.transact(partial(echoed, 1))
    assert len(lone.transact(kept)) == 1


@pytest.mark.parametrize("age_s", [PLAN_AGE_S, -1.0], ids=["young plans", "old plans"])
def test_a_statement_that_is_asked_twice_at_once_is_kept_once(lone: Database, age_s: float) -> None:
    def work(connection: Connection) -> list[Any]:
        raw = cast("PipelinedConnection", connection.connection.dbapi_connection)
        raw.plan_age_s = age_s
        return rows_together(connection, (ECHO, {"n": 1}), (ECHO, {"n": 2}))

    for _ in range(3):
        assert lone.transact(work) == [[{"n": 1}], [{"n": 2}]]
    lone.transact(partial(echoed, 1))
    assert len(lone.transact(kept)) <= 2


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


_FLUSH = text("select pg_stat_force_next_flush()")
_LOOKED_AT = text(
    "select relname, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as n"
    " from pg_stat_xact_user_tables"
)


def require_few(lone: Database, table: str, *works: Callable[[Connection], Any]) -> None:
    """Carry out `works`, a transaction each; none looks at more rows than it wants."""
    for work in works:
        # What the session's earlier transactions looked at is counted with this one's till it is
        # handed over, at most once a second.
        lone.transact(lambda connection: connection.execute(_FLUSH))

        def counted_work(
            connection: Connection, work: Callable[[Connection], Any] = work
        ) -> dict[str, int]:
            work(connection)
            return {row.relname: row.n for row in connection.execute(_LOOKED_AT)}

        rows = lone.transact(counted_work)
        assert 0 < rows[table] <= BATCH * LOOKS_PER_ROW, (work, rows)


def moves(world: StoreWorld, run_ids: list[UUID], lease: UUID) -> list[Callable[[Connection], Any]]:
    """Return what a worker does with a batch, a transaction each."""
    ends = [
        Settlement(run_id, world.workspace_id, lease, RunStatus.SUCCEEDED, 1) for run_id in run_ids
    ]
    return [
        lambda connection: run_claims.claim(connection, run_ids, lease, LEASE_S),
        lambda connection: run_claims.read(connection, run_ids, frozenset()),
        lambda connection: run_holds.hold(connection, run_ids, lease),
        lambda connection: run_settlements.settle(connection, ends),
    ]


def move_on_by_key(lone: Database, world: StoreWorld, run_ids: list[UUID]) -> None:
    require_few(lone, "automation_runs", *moves(world, run_ids, uuid4()))
    assert {world.row(run_id)["status"] for run_id in run_ids} == {"SUCCEEDED"}


def test_runs_are_claimed_read_held_and_settled_by_key(lone: Database, world: StoreWorld) -> None:
    move_on_by_key(lone, world, pending_runs(world, OTHERS))


def test_plans_that_were_made_while_there_were_few_runs_serve_many(acting_context: Context) -> None:
    young = StoreWorld(acting_context)
    assert young.sql("select count(*) as n from automation_runs") == [{"n": 0}]
    settings = replace(acting_context.settings, database_pool_size=1)
    lone = Database(settings, lambda: ("postgres", None))
    for work in moves(young, pending_runs(young, FEW), uuid4()):
        lone.transact(work)
    move_on_by_key(lone, young, pending_runs(young, OTHERS))
    lone.close()


def test_records_are_locked_changed_and_deleted_by_key(
    lone: Database, world: StoreWorld, record_ids: list[UUID]
) -> None:
    keys = [RecordKey(world.workspace_id, record_id) for record_id in record_ids]
    changes = [RecordChange(record_id, {"Name": "x"}) for record_id in record_ids]
    require_few(
        lone,
        "records",
        lambda connection: records.lock(connection, keys),
        lambda connection: records.update(connection, changes),
        lambda connection: records.ids_in(connection, [world.database_id], record_ids),
        lambda connection: records.delete(connection, keys),
    )


def test_members_are_found_by_key(lone: Database, world: StoreWorld) -> None:
    for _ in range(OTHERS // 8):
        StoreWorld(world.context)
    require_few(
        lone,
        "members",
        lambda connection: notifications.members(connection, [world.workspace_id]),
    )
