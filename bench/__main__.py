"""`python -m bench`: prints what it does, and last one line of JSON with what it measured."""

import argparse
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bench.aws_at_once import AwsAtOnce
from bench.durable_postgres import Postgres, durable_postgres
from bench.floor import seconds_by_hand
from bench.grouped_floor import runs_per_second_in_groups
from bench.in_process import Handlers, commits
from bench.triage import Triage
from bench.two_processes import run_in_two_processes
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
Figures = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000, help="runs one after another")
    parser.add_argument("--events", type=int, default=5_000, help="events of the throughput part")
    asked = parser.parse_args()
    with durable_postgres() as postgres:
        os.environ.update(ENVIRONMENT, DATABASE_URL=postgres.url("postgres"))
        database = Database(load_settings(os.environ), lambda: ("postgres", None))
        migrate(database)
        with metrics_aside():
            figures = one_by_one(database, asked.runs)
            figures |= at_full_speed(postgres, database, asked.events)
        database.close()
    print(json.dumps(figures))


def one_by_one(database: Database, runs: int) -> Figures:
    """Count statements and commits, and compare a run's time with that of its bare rows."""
    aws = AwsAtOnce()
    aws.install()
    handlers = Handlers(aws)
    triage = Triage(database)
    triage.set_up()
    counts = handlers.count(triage.events(100))
    events = triage.events(runs)
    before = commits(database)
    handlers_s = handlers.run_all(events)
    for used in (handlers.matcher_database, handlers.executor_database):
        commits(used)
    committed = commits(database) - before
    seconds_by_hand(triage, triage.records(100))
    floor_s = seconds_by_hand(triage, triage.records(runs))
    handlers.matcher_database.close()
    handlers.executor_database.close()
    return {
        "matcher_statements_per_batch": counts.matcher_statements,
        "executor_claims_per_batch": counts.executor_claims,
        "commits_per_run": round(committed / runs, 2),
        "floor_ratio": round(handlers_s / floor_s, 2),
    }


def at_full_speed(postgres: Postgres, database: Database, n: int) -> Figures:
    """Publish `n` events to two processes, and compare with the floor in groups."""
    triage = Triage(database)
    triage.set_up()
    events = triage.events(n)
    cpu_before_s = postgres.cpu_s()
    reached = run_in_two_processes(
        {**ENVIRONMENT, "DATABASE_URL": os.environ["DATABASE_URL"]}, events
    )
    cpu_s = reached.cpu_s + postgres.cpu_s() - cpu_before_s
    if triage.outcome() != {"SUCCEEDED": n}:
        raise SystemExit(f"not every run succeeded: {triage.outcome()}")
    floor = runs_per_second_in_groups(triage, os.environ["DATABASE_URL"], triage.records(n))
    rate = n / reached.wall_s
    return {
        "cpu_s_per_1000_runs": round(cpu_s / n * 1_000, 2),
        "runs_per_second": round(rate),
        "runs_per_second_ratio": round(rate / floor, 3),
        "grouped_floor_runs_per_second": round(floor),
    }


@contextmanager
def metrics_aside() -> Iterator[None]:
    """Keep the handlers' metric lines, which go to standard output, out of the report."""
    report, sys.stdout = sys.stdout, open(os.devnull, "w")  # noqa: PTH123, SIM115
    try:
        yield
    finally:
        sys.stdout.close()
        sys.stdout = report


if __name__ == "__main__":
    main()
