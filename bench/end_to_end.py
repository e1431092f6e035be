"""How long an event takes through the whole of `whenthen dev`, posted as a client does.

A run's time is taken by the database: from the moment at which the record was written, inside the
request that acknowledges it, to the moment at which its run SUCCEEDED.
"""

import time
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import psycopg

from bench.durable_postgres import Postgres
from bench.figures import Figures, quantile
from bench.local_stack import LocalStack, local_stack
from bench.sizes import Sizes
from bench.triage import ACTIONS, AUTOMATIONS, CONDITION, RECORD

# Requests that may be on their way at once.
CLIENTS = 8
WARM_UP_S = 2
ENDED_WITHIN_S = 120.0
_LOOK_S = 0.5


def end_to_end(sizes: Sizes, _postgres: Postgres) -> Figures:
    """Post records of Status B at an even pace and time their runs."""
    with local_stack() as stack:
        database_id = _set_up(stack)
        rate = sizes.e2e_events_per_s
        _post(stack, database_id, "Warm", rate, rate * WARM_UP_S)
        n = rate * sizes.e2e_s
        answers_ms = _post(stack, database_id, RECORD["Name"], rate, n)
        times_ms = _times(stack, database_id, n)
    return {
        "e2e_p50_ms": round(quantile(times_ms, 0.5)),
        "e2e_p99_ms": round(quantile(times_ms, 0.99)),
        "e2e_acknowledged_p50_ms": round(quantile(answers_ms, 0.5)),
        "e2e_acknowledged_p99_ms": round(quantile(answers_ms, 0.99)),
        "e2e_events": n,
        "e2e_events_per_s": rate,
    }


def _set_up(stack: LocalStack) -> str:
    """Make the automations of the reference work; return the database whose records match."""
    workspace = f"/workspaces/{stack.ready['workspaceId']}"
    tickets = stack.client.get(f"/databases/{stack.ready['databaseId']}").raise_for_status().json()
    properties = tickets["properties"]
    databases = [
        stack.post(f"{workspace}/databases", {"name": name, "properties": properties})["id"]
        for name in ("Triage", "Orders")
    ]
    for n in range(AUTOMATIONS):
        made = stack.post(
            f"{workspace}/automations",
            {
                "name": "Triage",
                "databaseId": databases[n > 0],
                "triggers": [{"type": "RECORD_CREATED", "config": {}}],
                "condition": CONDITION,
                "actions": list(ACTIONS),
            },
        )
        stack.post(f"/automations/{made['id']}/status", {"status": "ACTIVE"})
    return str(databases[0])


def _post(stack: LocalStack, database_id: str, name: str, rate: int, n: int) -> list[float]:
    """Post `n` records, `rate` a second whatever the answers take; return what these took."""
    body = {"properties": {**RECORD, "Name": name}}

    def post(_: Any) -> float:
        sent_s = time.perf_counter()
        stack.post(f"/databases/{database_id}/records", body)
        return (time.perf_counter() - sent_s) * 1_000

    with ThreadPoolExecutor(CLIENTS) as clients:
        started_s = time.perf_counter()
        futures = []
        for number in range(n):
            time.sleep(max(started_s + number / rate - time.perf_counter(), 0))
            futures.append(clients.submit(post, number))
        wait(futures)
    return [future.result() for future in futures]


def _times(stack: LocalStack, database_id: str, n: int) -> list[float]:
    """Return the milliseconds of `n` runs, once all of them have SUCCEEDED."""
    deadline = time.monotonic() + ENDED_WITHIN_S
    with psycopg.connect(stack.ready["databaseUrl"], autocommit=True) as connection:
        while time.monotonic() < deadline:
            values = {"database_id": database_id, "name": RECORD["Name"]}
            rows = connection.execute(_TIMES, values).fetchall()
            if len(rows) == n:
                return [float(row[0]) for row in rows]
            time.sleep(_LOOK_S)
    raise SystemExit(f"{len(rows)} of {n} runs SUCCEEDED within {ENDED_WITHIN_S:.0f} s")


_TIMES = """
select extract(epoch from run.finished_at - record.created_at) * 1000
from records record
join automation_runs run on run.record_id = cast(record.id as text)
where record.database_id = %(database_id)s and record.properties ->> 'Name' = %(name)s
    and run.status = 'SUCCEEDED'
"""
