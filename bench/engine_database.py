"""A fresh database with the engine's schema, which the handlers of this process use."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

import psycopg

from bench.durable_postgres import Postgres
from bench.function_process import own_cpu_s
from whenthen.engine.composition import process_context
from whenthen.settings import load_settings
from whenthen.store.connection import Database
from whenthen.store.migrate import migrate

ENVIRONMENT = {
    "AWS_DEFAULT_REGION": "eu-west-1",
    "AWS_ACCESS_KEY_ID": "bench",
    "AWS_SECRET_ACCESS_KEY": "bench",
    "EVENT_STREAM_NAME": "events",
    "RUN_QUEUE_URL": "https://sqs.eu-west-1.amazonaws.com/000000000000/runs",
    "POWERTOOLS_LOG_LEVEL": "WARNING",
}
_numbers = count(1)


@dataclass(frozen=True)
class EngineDatabase:
    """The server, a pool on it, and the environment of functions that work with it."""

    postgres: Postgres
    database: Database
    environ: dict[str, str]

    @property
    def url(self) -> str:
        return self.environ["DATABASE_URL"]

    def cpu_s(self) -> float:
        """Return the CPU seconds of this process and of the server so far."""
        return own_cpu_s() + self.postgres.cpu_s()


@contextmanager
def engine_database(postgres: Postgres) -> Iterator[EngineDatabase]:
    """Make a database on the server; no trace of it is left there, nor in this process."""
    before = dict(os.environ)
    with _database_of(postgres) as name, _metrics_aside():
        environ = {**ENVIRONMENT, "DATABASE_URL": postgres.url(name)}
        os.environ.update(environ)
        process_context.cache_clear()
        database = Database(load_settings(environ), lambda: ("postgres", None))
        try:
            migrate(database)
            yield EngineDatabase(postgres, database, environ)
        finally:
            database.close()
            process_context.cache_clear()
            os.environ.clear()
            os.environ.update(before)


@contextmanager
def _database_of(postgres: Postgres) -> Iterator[str]:
    name = f"bench_{next(_numbers)}"
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
        connection.execute(f"create database {name}")
        try:
            yield name
        finally:
            connection.execute(f"drop database {name} with (force)")
            # What this part has written is not for the next one to write out.
            connection.execute("checkpoint")


@contextmanager
def _metrics_aside() -> Iterator[None]:
    """Keep the handlers' metric lines, which go to standard output, out of the report."""
    report, sys.stdout = sys.stdout, open(os.devnull, "w")  # noqa: PTH123, SIM115
    try:
        yield
    finally:
        sys.stdout.close()
        sys.stdout = report
