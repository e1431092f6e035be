"""What a lost connection costs: a pooled one is replaced, any other loss is raised."""

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text
from sqlalchemy.engine import Connection

from tests.conftest import open_database, settings_for
from tests.integration.failing_sockets import DyingSocket, Proxy
from tests.integration.transactions import LOST, code_of, name_of, new_workspace, rename, value
from whenthen.engine.context import Context
from whenthen.store.connection import Database


@pytest.fixture
def workspace_id(pool: Database) -> UUID:
    return new_workspace(pool)


@pytest.fixture
def proxy(shared_url: str) -> Iterator[Proxy]:
    _, _, folder = shared_url.partition("?host=")
    made = Proxy(str(Path(folder) / ".s.PGSQL.5432"))
    yield made
    made.close()


@pytest.fixture
def proxied(shared_url: str, proxy: Proxy) -> Iterator[Database]:
    """A pool whose connections all go through the proxy."""
    name = shared_url.removeprefix("postgresql://postgres@/").partition("?")[0]
    opened = open_database(f"postgresql://postgres@127.0.0.1:{proxy.port}/{name}")
    yield opened
    opened.close()


class Work:
    """Renames a workspace twice and counts how often it was begun."""

    def __init__(self, workspace_id: UUID) -> None:
        self._workspace_id = workspace_id
        self.begun = 0

    def __call__(self, connection: Connection) -> None:
        self.begun += 1
        rename(connection, self._workspace_id, "first")
        rename(connection, self._workspace_id, "second")


@pytest.mark.parametrize("reset", [False, True], ids=["FIN", "RST"])
def test_case_121_a_pooled_connection_whose_peer_is_gone_is_replaced(
    proxied: Database, proxy: Proxy, workspace_id: UUID, *, reset: bool
) -> None:
    assert value(proxied, "select 1") == 1
    proxy.slam(reset=reset)
    work = Work(workspace_id)
    proxied.transact(work)
    assert (name_of(proxied, workspace_id), work.begun, proxy.accepted) == ("second", 2, 2)


def test_case_121_a_pooled_connection_that_was_terminated_is_replaced(
    pool: Database, lone: Database, workspace_id: UUID
) -> None:
    pid = value(lone, "select pg_backend_pid()")
    assert value(pool, "select pg_terminate_backend(:pid)", pid=pid)
    lone.transact(Work(workspace_id))
    assert name_of(pool, workspace_id) == "second"
    assert value(lone, "select pg_backend_pid()") != pid


def test_case_121_all_pooled_connections_of_a_lost_server_are_replaced(
    proxied: Database, proxy: Proxy
) -> None:
    def three_deep(depth: int) -> int:
        if depth == 0:
            return 0
        return proxied.transact(
            lambda c: int(c.execute(text("select 1")).scalar_one()) + three_deep(depth - 1)
        )

    assert three_deep(3) == 3
    proxy.slam()
    assert three_deep(3) == 3
    assert proxy.accepted == 6


def test_case_121_a_connection_is_replaced_once_and_no_more(
    proxied: Database, proxy: Proxy
) -> None:
    assert value(proxied, "select 1") == 1
    begun = []

    def work(connection: Connection) -> None:
        begun.append(connection)
        connection.execute(text("select 'slam'"))

    proxy.slam_before = b"'slam'"
    assert code_of(lambda: proxied.transact(work)) == LOST
    assert len(begun) == 2
    proxy.slam_before = None
    proxied.transact(work)


def test_case_121_a_connection_that_breaks_between_statements_is_raised_and_nothing_runs_twice(
    proxied: Database, proxy: Proxy, workspace_id: UUID
) -> None:
    assert value(proxied, "select 1") == 1
    begun = []

    def work(connection: Connection) -> None:
        begun.append(connection)
        rename(connection, workspace_id, "first")
        proxy.slam()
        rename(connection, workspace_id, "second")

    assert code_of(lambda: proxied.transact(work)) == LOST
    assert (len(begun), name_of(proxied, workspace_id)) == (1, "before")


@pytest.mark.parametrize(
    ("moment", "name"), [("slam_before", "before"), ("slam_after", "second")], ids=str
)
def test_case_121_a_commit_whose_answer_is_lost_is_raised_whatever_became_of_it(
    proxied: Database, proxy: Proxy, workspace_id: UUID, moment: str, name: str
) -> None:
    assert value(proxied, "select 1") == 1
    work = Work(workspace_id)
    setattr(proxy, moment, b"commit\x00")
    assert code_of(lambda: proxied.transact(work)) == LOST
    assert work.begun == 1
    setattr(proxy, moment, None)
    assert name_of(proxied, workspace_id) == name


def test_a_statement_whose_server_ends_it_is_lost_and_the_next_one_finds_a_new_connection(
    pool: Database, lone: Database
) -> None:
    def work(connection: Connection) -> None:
        pid = connection.execute(text("select pg_backend_pid()")).scalar_one()
        value(pool, "select pg_terminate_backend(:pid)", pid=pid)
        connection.execute(text("select 1"))

    assert code_of(lambda: lone.transact(work)) == LOST
    assert value(lone, "select 1") == 1


DYING = {
    "end": b"",
    "reset": ConnectionResetError(104, "reset"),
    "timeout": TimeoutError("timed out"),
    "half a message": b"T\x00\x00\x00\x07\x00\x01x",
    "half a head": b"Z\x00",
    "no socket": AttributeError("'NoneType' object has no attribute 'read'"),
}


@pytest.mark.parametrize("statement", ["select 1", "select cast(:x as integer)"])
@pytest.mark.parametrize("answer", DYING.values(), ids=DYING)
def test_case_121_whatever_the_driver_makes_of_a_dying_socket_is_a_lost_connection(
    lone: Database, statement: str, answer: bytes | Exception
) -> None:
    def work(connection: Connection) -> None:
        connection.execute(text("select 1"))
        raw: Any = connection.connection.dbapi_connection
        raw._sock = DyingSocket(answer)
        connection.execute(text(statement), {"x": 1} if ":x" in statement else {})

    assert code_of(lambda: lone.transact(work)) == LOST
    assert value(lone, "select 1") == 1


def test_a_database_out_of_reach_is_raised_as_lost(shared_url: str, tmp_path: Path) -> None:
    nowhere = open_database(f"{shared_url.partition('?')[0]}?host={tmp_path}")
    assert code_of(lambda: nowhere.transact(lambda _: None)) == LOST


def test_a_port_where_nobody_listens_is_raised_as_lost() -> None:
    nowhere = open_database("postgresql://postgres@127.0.0.1:1/postgres")
    assert code_of(lambda: nowhere.transact(lambda _: None)) == LOST


def test_a_session_that_may_only_read_is_dropped_and_the_failure_may_be_tried_again(
    pool: Database, lone: Database, workspace_id: UUID
) -> None:
    """As after a fail-over: the old primary still answers."""

    def work(connection: Connection) -> None:
        connection.execute(text("set transaction read only"))
        rename(connection, workspace_id, "after")

    pid = value(lone, "select pg_backend_pid()")
    assert code_of(lambda: lone.transact(work)) == LOST
    assert value(lone, "select pg_backend_pid()") != pid
    assert name_of(pool, workspace_id) == "before"


# -------------------------------------------------------------------------------- silent servers


def test_the_server_gives_up_before_its_answer_is_given_up(shared_url: str) -> None:
    for seconds, shown in (("10", "8s"), ("40", "30s")):
        settings = settings_for(shared_url, DATABASE_ANSWER_S=seconds)
        context = Context(settings, "test")
        assert value(context.database, "show statement_timeout") == shown
        context.database.close()


@pytest.mark.parametrize("answer_s", [3.0, 90.0])
def test_an_answer_is_waited_for_as_long_as_asked_however_long_connecting_may_take(
    shared_url: str, answer_s: float
) -> None:
    database = Database(
        settings_for(shared_url), lambda: ("postgres", None), answer_within_s=answer_s
    )
    with database.engine.connect() as connection:
        raw: Any = connection.connection.dbapi_connection
        assert raw._usock.gettimeout() == answer_s
    database.close()


def test_a_server_that_takes_connections_and_says_nothing_is_a_lost_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        settings = settings_for(f"postgresql://postgres@127.0.0.1:{port}/none")
        database = Database(settings, lambda: ("postgres", None), answer_within_s=0.2)
        assert code_of(lambda: value(database, "select 1")) in {LOST, "NET_ETIMEDOUT"}
        database.close()


def test_a_server_that_falls_silent_is_given_up_and_replaced_once(shared_url: str) -> None:
    database = Database(
        settings_for(shared_url, DATABASE_POOL_SIZE="1"),
        lambda: ("postgres", None),
        answer_within_s=1.0,
    )
    assert value(database, "select 1") == 1

    def sleep(connection: Connection) -> None:
        # The server's own patience would end this one first.
        connection.execute(text("set local statement_timeout = 0"))
        connection.execute(text("select pg_sleep(:s)"), {"s": 30})

    assert code_of(lambda: database.transact(sleep)) == LOST
    assert value(database, "select 1") == 1
    database.close()
