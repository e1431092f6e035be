"""Brings a database to the newest schema; several runners at once end well."""

import time
from importlib import resources
from typing import TYPE_CHECKING

from sqlalchemy import text
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

if TYPE_CHECKING:
    from whenthen.store.connection import Database

# Any fixed number: "whenthen" as the advisory lock's key.
_LOCK_KEY = 0x7768656E
_LOCK_POLL_S = 0.2
# While a migration waits for a table, everybody who comes after it waits behind it: it gives way.
_TABLE_WAIT_MS = 2_000
_TABLE_POLL_S = 1.0
# SQLSTATEs of a table that others hold: lock_timeout, deadlock.
_HELD_STATES = frozenset({"55P03", "40P01"})
WITHIN_S = 600.0


class MigrationLockError(RuntimeError):
    """Raised when other sessions hold the migration lock, or a table, for all of the time."""


def migrate(database: "Database", within_s: float = WITHIN_S) -> list[str]:
    """Return the names of the migrations applied now, oldest first; none when all were there.

    Each migration is one transaction of its own and is recorded in it, so a runner that is killed
    half-way leaves a whole number of them behind and the next runner goes on from there. A
    migration that finds its table held by others is tried again, and no statement may run on past
    `within_s`.

    Raises:
        MigrationLockError: another runner, or whoever holds a table, did not finish in time.

    """
    deadline_s = time.monotonic() + within_s
    return [name for name in migration_names() if _apply_when_free(database, name, deadline_s)]


def migration_names() -> list[str]:
    """Return every migration that this code knows, oldest first."""
    folder = resources.files("whenthen.store.migrations")
    return sorted(item.name for item in folder.iterdir() if item.name.endswith(".sql"))


def schema_version(connection: Connection) -> str | None:
    """Return the name of the newest applied migration; None on an empty database."""
    exists = connection.execute(text("select to_regclass('schema_migrations') is not null"))
    if not exists.scalar_one():
        return None
    newest = connection.execute(text("select max(name) from schema_migrations")).scalar()
    return str(newest) if newest is not None else None


def connection_limit(connection: Connection) -> int:
    """Return how many connections the server allows."""
    return int(connection.execute(text("select current_setting('max_connections')")).scalar_one())


def _apply_when_free(database: "Database", name: str, deadline_s: float) -> bool:
    held = "the migration lock"
    while (left_s := deadline_s - time.monotonic()) > 0:
        pause_s = _LOCK_POLL_S
        try:
            outcome = database.transact(
                lambda connection: _apply(connection, name),
                # Shorter than the statement's time, so that it is told from work that runs on.
                lock_timeout_ms=max(1, min(_TABLE_WAIT_MS, int(left_s * 500))),
                statement_timeout_ms=max(1, int(left_s * 1000)),
            )
            if outcome is not None:
                return outcome
        except DBAPIError as error:
            if _sqlstate(error) not in _HELD_STATES:
                raise
            held, pause_s = f"a table that {name} changes", _TABLE_POLL_S
        # Polling, since a session that waits inside pg_advisory_lock() holds a snapshot and so
        # deadlocks with CREATE INDEX CONCURRENTLY of the holder (measured).
        time.sleep(pause_s)
    raise MigrationLockError(f"other sessions hold {held}")


def _sqlstate(error: DBAPIError) -> str | None:
    told = error.orig.args[0] if error.orig is not None and error.orig.args else None
    return told.get("C") if isinstance(told, dict) else None


def _apply(connection: Connection, name: str) -> bool | None:
    free = connection.execute(
        text("select pg_try_advisory_xact_lock(cast(:key as bigint))"), {"key": _LOCK_KEY}
    )
    if not free.scalar_one():
        return None
    connection.execute(
        text(
            "create table if not exists schema_migrations ("
            " name text primary key, applied_at timestamptz not null default clock_timestamp())"
        )
    )
    done = connection.execute(
        text("insert into schema_migrations (name) values (:name) on conflict do nothing"),
        {"name": name},
    )
    if done.rowcount == 0:
        return False
    script = resources.files("whenthen.store.migrations").joinpath(name).read_text("utf-8")
    connection.exec_driver_sql(script)
    return True
