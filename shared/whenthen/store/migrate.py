"""Brings a database to the newest schema; several runners at once end well."""

import time
from importlib import resources
from typing import TYPE_CHECKING

from sqlalchemy import text
from sqlalchemy.engine import Connection

if TYPE_CHECKING:
    from whenthen.store.connection import Database

# Any fixed number: "whenthen" as the advisory lock's key.
_LOCK_KEY = 0x7768656E
_LOCK_WAIT_S = 120
_LOCK_POLL_S = 0.2
_STATEMENT_TIMEOUT_MS = 600_000


class MigrationLockError(RuntimeError):
    """Raised when another runner holds the migration lock for longer than two minutes."""


def migrate(database: "Database") -> list[str]:
    """Return the names of the migrations applied now, oldest first; none when all were there.

    Each migration is one transaction of its own and is recorded in it, so a runner that is killed
    half-way leaves a whole number of them behind and the next runner goes on from there.

    Raises:
        MigrationLockError: another runner did not finish in time.

    """
    return [name for name in migration_names() if _apply_when_free(database, name)]


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


def _apply_when_free(database: "Database", name: str) -> bool:
    deadline = time.monotonic() + _LOCK_WAIT_S
    while time.monotonic() < deadline:
        outcome = database.transact(
            lambda connection: _apply(connection, name),
            statement_timeout_ms=_STATEMENT_TIMEOUT_MS,
        )
        if outcome is not None:
            return outcome
        # Polling, since a session that waits inside pg_advisory_lock() holds a snapshot and so
        # deadlocks with CREATE INDEX CONCURRENTLY of the holder (measured).
        time.sleep(_LOCK_POLL_S)
    raise MigrationLockError(f"another runner holds the migration lock for {_LOCK_WAIT_S} s")


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
