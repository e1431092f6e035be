"""A quiet workspace beside one that floods the stream: how long the quiet one's runs take.

All events of the flood are on the stream at once. The quiet workspace sends one event a second
from then on, until the flood's last run has ended, so some of its events wait in the stream behind
the flood; there a workspace has no place of its own. In the queue it has.
"""

import time
from dataclasses import dataclass, field
from typing import Any

import psycopg

from bench.durable_postgres import Postgres
from bench.engine_database import EngineDatabase, engine_database
from bench.figures import Figures, quantile
from bench.pumped_functions import Pumped
from bench.sizes import Sizes
from bench.triage import Triage

# Of its own events before the flood, so that every process is warm.
WARM_UP_EVENTS = 20
# The flood has ended after this many seconds and what so slow a machine needs.
ENDED_WITHIN_S = 120.0
RUNS_PER_S_MIN = 10


def noisy_neighbour(sizes: Sizes, postgres: Postgres) -> Figures:
    """Measure with the queue's fairness, as emulated, and without."""
    return {
        "noisy_neighbour": {
            "flood": sizes.flood,
            "executors": sizes.executors,
            "fair": _measure(sizes, postgres, fair=True),
            "oldest_first": _measure(sizes, postgres, fair=False),
        }
    }


@dataclass
class _Seen:
    """When each quiet event was sent, and the memory of all functions, once a second."""

    sent_at_s: list[float] = field(default_factory=list)
    memory_mb: list[float] = field(default_factory=list)


def _measure(sizes: Sizes, postgres: Postgres, *, fair: bool) -> Figures:
    with engine_database(postgres) as engine:
        noisy, quiet = Triage(engine.database), Triage(engine.database)
        noisy.set_up()
        quiet.set_up()
        functions = Pumped(engine.environ, sizes.executors, fair=fair)
        try:
            functions.start()
            _warm_up(functions, quiet)
            started_s = time.time()
            seen = _flood(functions, noisy, quiet, sizes.flood)
        finally:
            functions.close()
        return _figures(engine, (noisy, quiet), seen, started_s) | {
            "events_sent": sizes.flood + WARM_UP_EVENTS + len(seen.sent_at_s),
            "runs_succeeded": sum(one.outcome()["SUCCEEDED"] for one in (noisy, quiet)),
        }


def _warm_up(functions: Pumped, quiet: Triage) -> None:
    functions.stream.put(quiet.events(WARM_UP_EVENTS))
    _wait_until(quiet, WARM_UP_EVENTS, time.monotonic() + ENDED_WITHIN_S)


def _flood(functions: Pumped, noisy: Triage, quiet: Triage, n: int) -> _Seen:
    """Return what was seen until every run has ended."""
    seen = _Seen()
    flood = noisy.events(n)
    deadline = time.monotonic() + ENDED_WITHIN_S + n / RUNS_PER_S_MIN
    functions.stream.put(flood)
    while not (has_ended := noisy.outcome().get("SUCCEEDED") == n) or not seen.sent_at_s:
        if time.monotonic() > deadline:
            raise SystemExit(f"the flood has not ended: {noisy.outcome()}")
        event = quiet.events(1)
        seen.sent_at_s.append(time.time())
        functions.stream.put(event)
        seen.memory_mb.append(functions.memory_mb())
        time.sleep(0 if has_ended else 1)
    _wait_until(quiet, WARM_UP_EVENTS + len(seen.sent_at_s), deadline)
    return seen


def _wait_until(triage: Triage, n: int, deadline: float) -> None:
    while triage.outcome().get("SUCCEEDED") != n:
        if time.monotonic() > deadline:
            raise SystemExit(f"the quiet workspace's runs have not ended: {triage.outcome()}")
        time.sleep(0.1)


def _figures(
    engine: EngineDatabase, both: tuple[Triage, Triage], seen: _Seen, started_s: float
) -> Figures:
    noisy, quiet = (_runs(engine, triage) for triage in both)
    runs = quiet[WARM_UP_EVENTS:]
    # Both in the order of the events; the server's clock and ours are one machine's.
    whole_ms = [
        (finished_s - sent_s) * 1_000
        for sent_s, (_, finished_s) in zip(seen.sent_at_s, runs, strict=True)
    ]
    queued_ms = [(finished_s - created_s) * 1_000 for created_s, finished_s in runs]
    flood_s = max(finished_s for _, finished_s in noisy) - started_s
    quarter = max(len(seen.memory_mb) // 4, 1)
    return {
        "quiet_p50_ms": round(quantile(whole_ms, 0.5)),
        "quiet_p99_ms": round(quantile(whole_ms, 0.99)),
        "quiet_matched_to_succeeded_p50_ms": round(quantile(queued_ms, 0.5)),
        "quiet_matched_to_succeeded_p99_ms": round(quantile(queued_ms, 0.99)),
        "flood_runs_per_s": round(len(noisy) / flood_s),
        "memory_mb_first_quarter": round(max(seen.memory_mb[:quarter])),
        "memory_mb_last_quarter": round(max(seen.memory_mb[-quarter:])),
    }


def _runs(engine: EngineDatabase, triage: Triage) -> list[tuple[Any, Any]]:
    """Return when each run was created and finished, seconds since 1970, by their records' age."""
    with psycopg.connect(engine.url) as connection:
        return connection.execute(
            "select extract(epoch from run.created_at)::float8,"
            " extract(epoch from run.finished_at)::float8"
            " from automation_runs run join records record"
            " on cast(record.id as text) = run.record_id"
            " where run.workspace_id = %s order by record.created_at, record.id",
            (triage.workspace_id,),
        ).fetchall()
