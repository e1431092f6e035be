"""Prepared statements: parsed once, planned anew in time, and never a reason for a wrong answer."""

from collections.abc import Mapping
from functools import partial
from typing import Any, cast
from uuid import UUID, uuid4

import pg8000.dbapi
import pytest
from sqlalchemy import TextClause, text
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from tests.conftest import settings_for
from tests.integration.transactions import (
    LOST,
    code_of,
    name_of,
    new_workspace,
    rename,
    value,
)
from whenthen.store.connection import Database
from whenthen.store.pipelined import PipelinedConnection
from whenthen.store.pipelined_cursor import numbered
from whenthen.store.prepared import Prepared, prepared

NAME = prepared("select name from workspaces where id = :id")


@pytest.fixture
def workspace_id(lone: Database) -> UUID:
    return new_workspace(lone)


def raw(connection: Connection) -> PipelinedConnection:
    return cast("PipelinedConnection", connection.connection.dbapi_connection)


def answer_to(statement: Prepared, values: Mapping[str, Any], connection: Connection) -> Any:
    ((answer,),) = (row.values() for row in statement.rows(connection, values))
    return answer


def plain_answer_to(
    statement: TextClause, values: Mapping[str, Any], connection: Connection
) -> Any:
    return connection.execute(statement, values).scalar_one()


def kept(connection: Connection, part: str = "from workspaces where id") -> list[Any]:
    """Names of the statements that the server keeps parsed on this connection."""
    rows = connection.execute(
        text("select name from pg_prepared_statements where statement like '%' || :part || '%'"),
        {"part": part},
    )
    return [row.name for row in rows]


def test_a_prepared_statement_is_parsed_once_per_connection(
    lone: Database, workspace_id: UUID
) -> None:
    names = []
    for _ in range(7):
        answer = lone.transact(partial(answer_to, NAME, {"id": workspace_id}))
        assert answer == "before"
        names += lone.transact(kept)
    assert len(names) == 7
    assert len(set(names)) == 1


def test_an_unmarked_statement_is_not_kept(lone: Database, workspace_id: UUID) -> None:
    plain = text("select name from workspaces where id = :id")
    lone.transact(lambda c: c.execute(plain, {"id": workspace_id}))
    assert lone.transact(kept) == []


def test_nothing_is_kept_where_sessions_are_shared(shared_url: str, workspace_id: UUID) -> None:
    database = Database(
        settings_for(shared_url, DATABASE_PREPARE="false", DATABASE_POOL_SIZE="1"),
        lambda: ("postgres", None),
    )
    assert database.transact(partial(answer_to, NAME, {"id": workspace_id})) == "before"
    assert database.transact(kept) == []
    database.close()


def test_an_old_plan_is_made_anew_and_the_old_one_given_up(
    lone: Database, workspace_id: UUID
) -> None:
    def work(connection: Connection) -> list[Any]:
        NAME.run(connection, {"id": workspace_id})
        names = kept(connection)
        raw(connection).plan_age_s = -1.0
        NAME.run(connection, {"id": workspace_id})
        return names + kept(connection)

    before, after = lone.transact(work)
    assert before != after


def test_values_of_different_types_are_answered_as_without_preparation(lone: Database) -> None:
    given = (1, "1", None, True, 2, "2", 1.5)
    kept, plain = prepared("select :value as value"), text("select :value as value")
    for value_ in given:
        values = {"value": value_}
        answer = lone.transact(partial(answer_to, kept, values))
        assert answer == lone.transact(partial(plain_answer_to, plain, values))


def test_a_first_execution_that_fails_leaves_the_statement_usable(lone: Database) -> None:
    divide = prepared("select 6 / cast(:by as integer)")
    with pytest.raises(DBAPIError):
        lone.transact(partial(answer_to, divide, {"by": 0}))
    assert lone.transact(partial(answer_to, divide, {"by": 3})) == 2


@pytest.fixture
def shifted(lone: Database) -> Prepared:
    """A statement that the connection has prepared, and whose column has another type since."""
    table = f"shifting_{uuid4().hex}"
    read = prepared(f"select x from {table} where x is not null or :never")
    lone.transact(lambda c: c.exec_driver_sql(f"create table {table} (x integer)"))
    lone.transact(lambda c: c.exec_driver_sql(f"insert into {table} values (1)"))
    assert lone.transact(partial(answer_to, read, {"never": False})) == 1
    lone.transact(lambda c: c.exec_driver_sql(f"alter table {table} alter x type text"))
    return read


def test_a_column_that_changed_its_type_is_read_anew(lone: Database, shifted: Prepared) -> None:
    assert lone.transact(partial(answer_to, shifted, {"never": False})) == "1"


def test_in_the_middle_of_a_transaction_it_is_a_lost_connection(
    lone: Database, workspace_id: UUID, shifted: Prepared
) -> None:
    def work(connection: Connection) -> None:
        rename(connection, workspace_id, "after")
        shifted.run(connection, {"never": False})

    assert code_of(lambda: lone.transact(work)) == LOST
    assert name_of(lone, workspace_id) == "before"


def test_a_statement_that_the_server_forgot_is_prepared_again(
    lone: Database, workspace_id: UUID
) -> None:
    lone.transact(partial(answer_to, NAME, {"id": workspace_id}))
    lone.transact(lambda c: c.exec_driver_sql("deallocate all"))
    assert lone.transact(partial(answer_to, NAME, {"id": workspace_id})) == "before"


@pytest.mark.parametrize(
    "statement",
    [
        "select %s, %s",
        "select '%s', %s",
        "select %s -- not %s\n, %s",
        'select "a%s", %s',
        "select $$%s$$, %s",
        "select e'\\'%s', %s",
        "select %s::text",
        "select 5 %% %s",
        "",
    ],
)
def test_parameters_are_numbered_as_the_driver_numbers_them(statement: str) -> None:
    driver, _ = pg8000.dbapi.convert_paramstyle("format", statement, ("a", "b", "c"))
    assert numbered(statement) == driver


def test_a_statement_counts_once_whichever_way_it_runs(lone: Database, workspace_id: UUID) -> None:
    def work(connection: Connection) -> int:
        before = raw(connection).statements
        for _ in range(3):
            NAME.run(connection, {"id": workspace_id})
        return raw(connection).statements - before

    assert lone.transact(work) == 3
    assert value(lone, "select 1") == 1
