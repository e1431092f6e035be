"""Bringing a database to the newest schema: once, whoever else tries, and again after a crash."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Barrier
from time import monotonic
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy
from sqlalchemy import text
from sqlalchemy.engine import Connection

from tests.conftest import open_database
from whenthen.store import migrate as migrate_module
from whenthen.store.connection import Database
from whenthen.store.migrate import MigrationLockError, migrate, migration_names, schema_version

TABLES = "select table_name from information_schema.tables where table_schema = 'public'"
LOCK = f"select pg_advisory_xact_lock({migrate_module._LOCK_KEY})"


@pytest.fixture
def empty(empty_database_url: str) -> Iterator[Database]:
    opened = open_database(empty_database_url)
    yield opened
    opened.close()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands in for the project's own migrations: three of them, and a note."""
    for name in "abc":
        (tmp_path / f"000{'abc'.index(name) + 1}_{name}.sql").write_text(
            f"create table {name} (x integer); insert into {name} values (1);"
        )
    (tmp_path / "__init__.py").touch()
    monkeypatch.setattr(migrate_module, "resources", SimpleNamespace(files=lambda _: tmp_path))
    return tmp_path


ALL = ["0001_a.sql", "0002_b.sql", "0003_c.sql"]


def tables(database: Database) -> set[str]:
    rows = database.transact(lambda connection: connection.execute(text(TABLES)).scalars().all())
    return set(rows) - {"schema_migrations"}


def applied(database: Database) -> list[str]:
    statement = text("select name from schema_migrations order by applied_at")
    return list(database.transact(lambda connection: connection.execute(statement)).scalars())


def version(database: Database) -> str | None:
    return database.transact(schema_version)


def concurrently(url: str, count: int) -> list[list[str]]:
    """Return what each of `count` runners applied, all begun at the same moment."""
    barrier = Barrier(count)

    def run(_: int) -> list[str]:
        database = open_database(url)
        barrier.wait(30)
        try:
            return migrate(database)
        finally:
            database.close()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def test_an_empty_database_gets_every_migration_and_a_second_run_applies_nothing(
    empty: Database,
) -> None:
    assert version(empty) is None
    assert migrate(empty) == migration_names()
    assert version(empty) == migration_names()[-1]
    assert {"automations", "automation_runs", "outbox"} <= tables(empty)
    assert migrate(empty) == []
    assert applied(empty) == migration_names()


def test_the_names_of_migrations_are_numbered_without_a_gap() -> None:
    assert [name[:5] for name in migration_names()] == [
        f"{n:04}_" for n in range(1, len(migration_names()) + 1)
    ]


def test_case_116_of_five_runners_one_applies_each_migration_and_all_end_well(
    empty_database_url: str, empty: Database
) -> None:
    outcomes = concurrently(empty_database_url, 5)
    assert sorted(name for names in outcomes for name in names) == migration_names()
    assert version(empty) == migration_names()[-1]


@pytest.mark.usefixtures("folder")
def test_case_116_runners_apply_migrations_in_order_however_they_take_turns(
    empty_database_url: str, empty: Database
) -> None:
    outcomes = concurrently(empty_database_url, 5)
    assert sorted(name for names in outcomes for name in names) == ALL
    assert applied(empty) == ALL
    assert empty.transact(lambda c: c.execute(text("select count(*) from b"))).scalar_one() == 1


def test_case_116_a_failing_migration_leaves_a_whole_number_of_them(
    folder: Path, empty: Database
) -> None:
    whole = (folder / "0002_b.sql").read_text()
    (folder / "0002_b.sql").write_text(f"{whole} insert into b values (1 / 0);")
    with pytest.raises(sqlalchemy.exc.DBAPIError):
        migrate(empty)
    assert (tables(empty), applied(empty), version(empty)) == ({"a"}, ALL[:1], ALL[0])
    (folder / "0002_b.sql").write_text(whole)
    assert migrate(empty) == ALL[1:]
    assert tables(empty) == {"a", "b", "c"}


def test_case_116_a_runner_killed_half_way_leaves_a_whole_number_of_them(
    folder: Path, empty_database_url: str, empty: Database
) -> None:
    whole = (folder / "0002_b.sql").read_text()
    (folder / "0002_b.sql").write_text(f"{whole} select pg_sleep(60);")
    with ThreadPoolExecutor(1) as pool:
        killed = pool.submit(concurrently, empty_database_url, 1)
        deadline_s = monotonic() + 60
        while not kill_sleeper(empty):
            assert monotonic() < deadline_s
        with pytest.raises(sqlalchemy.exc.DBAPIError):
            killed.result(30)
    assert (tables(empty), version(empty)) == ({"a"}, ALL[0])
    (folder / "0002_b.sql").write_text(whole)
    assert migrate(empty) == ALL[1:]


def is_sleeping(database: Database) -> bool:
    statement = text(
        "select pid from pg_stat_activity"
        " where datname = current_database() and wait_event = 'PgSleep'"
    )
    return bool(database.transact(lambda connection: connection.execute(statement).all()))


def kill_sleeper(database: Database) -> bool:
    statement = text(
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where datname = current_database() and wait_event = 'PgSleep'"
    )
    return bool(database.transact(lambda connection: connection.execute(statement).all()))


def test_a_new_migration_is_applied_beside_the_old_ones(folder: Path, empty: Database) -> None:
    migrate(empty)
    (folder / "0004_d.sql").write_text("create table d (x integer)")
    assert migrate(empty) == ["0004_d.sql"]
    assert version(empty) == "0004_d.sql"


def test_a_migration_may_hold_any_text(folder: Path, empty: Database) -> None:
    (folder / "0001_a.sql").write_text(
        'create table a (x text);\n-- 100 % of :names, it\'s "all" ö\n'
        "do $$ begin insert into a values ('50 % :x \\'||'ß'); end $$;"
    )
    migrate(empty)
    found = empty.transact(lambda c: c.execute(text("select x from a"))).scalar_one()
    assert found == "50 % :x \\ß"


@pytest.mark.usefixtures("folder")
def test_a_runner_waits_for_the_one_that_holds_the_lock_without_a_transaction_open(
    empty_database_url: str, empty: Database
) -> None:
    with ThreadPoolExecutor(1) as pool, ExitStack() as held:
        connection = held.enter_context(empty.engine.begin())
        connection.execute(text(LOCK))
        waiting = pool.submit(concurrently, empty_database_url, 1)
        deadline_s = monotonic() + 60
        while "idle" not in others(connection):
            assert monotonic() < deadline_s
        assert not waiting.done()
        held.close()
        assert waiting.result(30) == [ALL]


def others(connection: Connection) -> list[Any]:
    """Return what the other sessions of the database do; a fresh look at each call."""
    connection.execute(text("select pg_stat_clear_snapshot()"))
    statement = text(
        "select state from pg_stat_activity"
        " where datname = current_database() and pid <> pg_backend_pid()"
    )
    return list(connection.execute(statement).scalars())


def test_a_lock_that_is_never_free_is_given_up(empty: Database, empty_database_url: str) -> None:
    other = open_database(empty_database_url)
    with empty.engine.begin() as connection:
        connection.execute(text(LOCK))
        with pytest.raises(MigrationLockError, match="hold the migration lock"):
            migrate(other, within_s=0.3)
    assert migrate(other) == migration_names()
    other.close()


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrate_module, "_TABLE_WAIT_MS", 50)
    monkeypatch.setattr(migrate_module, "_TABLE_POLL_S", 0.05)


@pytest.mark.usefixtures("hasty")
def test_a_migration_gives_way_to_those_who_hold_its_table_and_comes_again(
    folder: Path, empty: Database, empty_database_url: str
) -> None:
    migrate(empty)
    (folder / "0004_d.sql").write_text("alter table a add column y integer")
    with ThreadPoolExecutor(1) as pool, ExitStack() as held:
        connection = held.enter_context(empty.engine.begin())
        connection.execute(text("lock table a in access share mode"))
        waiting = pool.submit(concurrently, empty_database_url, 1)
        deadline_s = monotonic() + 60
        while not lock_timeouts(connection):
            assert monotonic() < deadline_s
        assert not waiting.done()
        held.close()
        assert waiting.result(30) == [["0004_d.sql"]]


def lock_timeouts(connection: Connection) -> int:
    """Return how many transactions of this database were given up."""
    connection.execute(text("select pg_stat_clear_snapshot()"))
    statement = text(
        "select xact_rollback from pg_stat_database where datname = current_database()"
    )
    return int(connection.execute(statement).scalar_one())


@pytest.mark.usefixtures("hasty")
def test_a_table_that_is_never_free_is_given_up(
    folder: Path, empty: Database, empty_database_url: str
) -> None:
    migrate(empty)
    (folder / "0004_d.sql").write_text("alter table a add column y integer")
    other = open_database(empty_database_url)
    with empty.engine.begin() as connection:
        connection.execute(text("lock table a in access share mode"))
        with pytest.raises(MigrationLockError, match=r"hold a table that 0004_d\.sql changes"):
            migrate(other, within_s=0.5)
    other.close()


def test_no_statement_runs_on_past_the_time_that_there_is(folder: Path, empty: Database) -> None:
    (folder / "0002_b.sql").write_text("select pg_sleep(60)")
    with pytest.raises(sqlalchemy.exc.DBAPIError, match="statement timeout"):
        migrate(empty, within_s=0.5)
    assert applied(empty) == ALL[:1]


def test_case_116_of_five_runners_one_is_killed_half_way_and_the_others_end_well(
    folder: Path, empty_database_url: str, empty: Database
) -> None:
    whole = (folder / "0002_b.sql").read_text()
    (folder / "0002_b.sql").write_text(f"{whole} select pg_sleep(60);")
    outcomes: list[Any] = []
    with ThreadPoolExecutor(5) as pool:
        runners = [pool.submit(concurrently, empty_database_url, 1) for _ in range(5)]
        deadline_s = monotonic() + 60
        while not is_sleeping(empty):
            assert monotonic() < deadline_s
        # Who comes after the one that is killed does not sleep.
        (folder / "0002_b.sql").write_text(whole)
        assert kill_sleeper(empty)
        for runner in runners:
            failure = runner.exception(60)
            outcomes.append(failure or runner.result()[0])
    killed = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    ended = [outcome for outcome in outcomes if isinstance(outcome, list)]
    assert (len(killed), len(ended)) == (1, 4)
    assert applied(empty) == ALL
    assert empty.transact(lambda c: c.execute(text("select count(*) from b"))).scalar_one() == 1


def test_the_schema_of_an_emptied_list_is_none(empty: Database) -> None:
    migrate(empty)
    empty.transact(lambda connection: connection.execute(text("delete from schema_migrations")))
    assert version(empty) is None
