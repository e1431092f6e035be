"""What the figures were measured on: without it nobody could compare them."""

import os
import platform
from datetime import UTC, datetime
from time import perf_counter

import psycopg

from bench.durable_postgres import Postgres
from bench.figures import Figures, quantile

COMMITS = 200


def machine(postgres: Postgres) -> Figures:
    """Return processor, load, versions, the day, and what one durable commit takes."""
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
        (version,) = connection.execute("show server_version").fetchone() or ("",)
        commit_ms = _commit_ms(connection)
    return {
        "machine": {
            "cpus": os.cpu_count(),
            "load_1_min": round(os.getloadavg()[0], 1),
            "python": platform.python_version(),
            "postgres": version,
            "commit_ms": round(commit_ms, 2),
            "day": datetime.now(UTC).date().isoformat(),
        }
    }


def _commit_ms(connection: "psycopg.Connection") -> float:
    times_ms = []
    for _ in range(COMMITS):
        started_s = perf_counter()
        # The smallest transaction that has to reach the disk.
        connection.execute("select pg_logical_emit_message(true, 'bench', 'x')")
        times_ms.append((perf_counter() - started_s) * 1_000)
    return quantile(times_ms, 0.5)
