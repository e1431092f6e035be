"""The hot path: statements and commits of the reference work, and its time beside its floors."""

from bench.aws_at_once import AwsAtOnce
from bench.durable_postgres import Postgres
from bench.engine_database import EngineDatabase, engine_database
from bench.figures import Figures
from bench.floor import seconds_by_hand
from bench.grouped_floor import runs_per_second_in_groups
from bench.in_process import Handlers, commits
from bench.sizes import Sizes
from bench.triage import Triage
from bench.two_processes import run_in_two_processes
from whenthen.store.connection import Database


def hot_path(sizes: Sizes, postgres: Postgres) -> Figures:
    """Run the reference work one by one in this process, then at full speed in two."""
    with engine_database(postgres) as engine:
        return _one_by_one(engine.database, sizes.runs) | _at_full_speed(engine, sizes.events)


def _one_by_one(database: Database, runs: int) -> Figures:
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
    handlers.close()
    return {
        "matcher_statements_per_batch": counts.matcher_statements,
        "executor_claims_per_batch": counts.executor_claims,
        "commits_per_run": round(committed / runs, 2),
        "floor_ratio": round(handlers_s / floor_s, 2),
    }


def _at_full_speed(engine: EngineDatabase, n: int) -> Figures:
    """Publish `n` events to two processes, and compare with the floor in groups."""
    triage = Triage(engine.database)
    triage.set_up()
    events = triage.events(n)
    cpu_before_s = engine.postgres.cpu_s()
    reached = run_in_two_processes(engine.environ, events)
    cpu_s = reached.cpu_s + engine.postgres.cpu_s() - cpu_before_s
    triage.require_succeeded(n)
    floor = runs_per_second_in_groups(triage, engine.url, triage.records(n))
    rate = n / reached.wall_s
    return {
        "cpu_s_per_1000_runs": round(cpu_s / n * 1_000, 2),
        "runs_per_second": round(rate),
        "runs_per_second_ratio": round(rate / floor, 3),
        "grouped_floor_runs_per_second": round(floor),
    }
