"""The floor in groups: ten runs to a transaction, three transactions, psycopg, one connection."""

from collections.abc import Sequence
from time import perf_counter
from uuid import UUID

import psycopg

from bench import floor_statements as statements
from bench.floor_rows import FloorRows, FloorRun, cut
from bench.triage import Triage

GROUP = 10


def runs_per_second_in_groups(triage: Triage, url: str, record_ids: Sequence[UUID]) -> float:
    """Return how many runs a second can be written at best."""
    rows = FloorRows(triage)
    runs = [FloorRun(record_id) for record_id in record_ids]
    with psycopg.connect(url, prepare_threshold=1) as connection:
        started_s = perf_counter()
        for ten in cut(runs, GROUP):
            _run(connection, (statements.INSERT, rows.insert(ten)))
            _run(connection, (statements.CLAIM, rows.claim(ten)))
            _run(
                connection,
                (statements.FIRST_STEP, rows.first_step(ten)),
                (statements.LAST_STEP, rows.last_step(ten)),
                (statements.END_EVENTS, rows.events(ten)),
            )
        return len(runs) / (perf_counter() - started_s)


def _run(connection: psycopg.Connection, *work: tuple[str, str]) -> None:
    with connection.pipeline(), connection.transaction():
        for statement, parameter in work:
            connection.execute(statement.replace("$1", "%s"), [parameter])
