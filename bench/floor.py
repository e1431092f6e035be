"""The floor through the engine's driver: claims set-based, each step in its own transaction."""

from collections.abc import Sequence
from time import perf_counter
from typing import cast
from uuid import UUID

from bench import floor_statements as statements
from bench.floor_rows import FloorRows, FloorRun, cut
from bench.triage import Triage
from whenthen.store.pipelined import PipelinedConnection


def seconds_by_hand(triage: Triage, record_ids: Sequence[UUID]) -> float:
    """Return the seconds that writing one run per record takes, on one connection.

    Batches as the handlers get them: 100 events are matched, 5 runs are claimed together.
    """
    rows = FloorRows(triage)
    runs = [FloorRun(record_id) for record_id in record_ids]
    with triage.database.engine.connect() as connection:
        raw = cast("PipelinedConnection", connection.connection.dbapi_connection)
        started_s = perf_counter()
        for batch in cut(runs, 100):
            _commit(raw, statements.INSERT, rows.insert(batch))
            for five in cut(batch, 5):
                _commit(raw, statements.CLAIM, rows.claim(five))
                for run in five:
                    _commit(raw, statements.FIRST_STEP, rows.first_step([run]))
                    _commit(raw, statements.LAST_STEP, rows.last_step([run]))
            _commit(raw, statements.END_EVENTS, rows.events(batch))
        return perf_counter() - started_s


def _commit(connection: PipelinedConnection, statement: str, parameter: str) -> None:
    connection.run_together([(statement, [parameter])])
    connection.commit()
