"""Brings the database to this release: the connection budget first, then the schema."""

from dataclasses import dataclass

from whenthen.domain.rules.connection_budget import is_within_budget, needed_connections
from whenthen.engine.context import Context
from whenthen.settings import SettingsError
from whenthen.store.connection import Database
from whenthen.store.migrate import connection_limit, migrate, schema_version


@dataclass(frozen=True, slots=True)
class Migrated:
    """`applied`: names of the migrations applied now; `version`: the newest one there is."""

    applied: list[str]
    version: str | None


def migrate_schema(context: Context, within_s: float) -> Migrated:
    """Return what was applied; a second call applies nothing, and two at once share the work.

    Raises:
        SettingsError: the workers may open more connections than the server can bear.
        MigrationLockError: other sessions were in the way until `within_s` had passed.

    """
    # A statement that rewrites a table may take as long as there is.
    database = context.open_database(answer_within_s=within_s)
    try:
        _check_budget(context, database)
        applied = migrate(database, within_s)
        return Migrated(applied, database.transact(schema_version))
    finally:
        database.close()


def _check_budget(context: Context, database: Database) -> None:
    settings = context.settings
    needed = needed_connections(settings.worker_concurrency, settings.executor_maximum_concurrency)
    limit = database.transact(connection_limit)
    if not is_within_budget(needed, limit):
        raise SettingsError(
            f"the workers may need {needed} connections, more than 0.8 of the server's {limit}:"
            " lower ExecutorMaximumConcurrency or AutomationsWorkerConcurrency,"
            " or raise max_connections"
        )
