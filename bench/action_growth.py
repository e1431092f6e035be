"""What a run costs with one and with many actions: the executor alone, five runs to a batch."""

from time import perf_counter
from typing import Any

from sqlalchemy import text

from bench.aws_at_once import AwsAtOnce
from bench.durable_postgres import Postgres
from bench.engine_database import EngineDatabase, engine_database
from bench.figures import Figures, quantile, shape
from bench.in_process import Handlers
from bench.sizes import Sizes
from bench.triage import Triage
from bench.two_processes import MATCH_BATCH, RUN_BATCH
from whenthen.domain import json_text
from whenthen.store.new_id import new_id


def action_growth(sizes: Sizes, postgres: Postgres) -> Figures:
    """Execute runs of growing numbers of actions, each a change of the record with its event.

    Times are those of the median batch.
    """
    with engine_database(postgres) as engine:
        aws = AwsAtOnce()
        aws.install()
        handlers = Handlers(aws)
        # What is paid once (connections, lazy imports) is paid by runs that nobody times.
        _measure(engine, handlers, aws, 1, 10)
        points = [
            {"actions": n, **_measure(engine, handlers, aws, n, sizes.action_runs)}
            for n in sizes.actions
        ]
        handlers.close()
    costs = [point["cpu_ms_per_action"] for point in points]
    return {"growth_actions": {"points": points, "shape": shape(sizes.actions, costs)}}


def _measure(
    engine: EngineDatabase, handlers: Handlers, aws: AwsAtOnce, actions: int, runs: int
) -> Figures:
    triage = Triage(engine.database)
    triage.set_up()
    _give_actions(engine, triage, actions)
    events = triage.events(runs)
    for start in range(0, runs, MATCH_BATCH):
        handlers.match(events[start : start + MATCH_BATCH])
    times_s = []
    cpu_before_s = engine.cpu_s()
    while aws.messages:
        started_s = perf_counter()
        handlers.execute()
        times_s.append(perf_counter() - started_s)
    cpu_s = engine.cpu_s() - cpu_before_s
    run_ms = quantile(times_s, 0.5) / RUN_BATCH * 1_000
    triage.require_succeeded(runs)
    aws.records.clear()
    return {
        "ms_per_run": round(run_ms, 2),
        "ms_per_action": round(run_ms / actions, 3),
        "cpu_ms_per_action": round(cpu_s / runs / actions * 1_000, 3),
    }


def _give_actions(engine: EngineDatabase, triage: Triage, n: int) -> None:
    statement = text(
        "update automation_versions set actions = cast(:actions as jsonb)"
        " where automation_id = :automation_id"
    )
    values = {
        "automation_id": triage.matching_id,
        "actions": json_text.dumps([_update(number) for number in range(1, n + 1)]),
    }
    engine.database.transact(lambda connection: connection.execute(statement, values))


def _update(number: int) -> dict[str, Any]:
    # Another value each time: what changes nothing writes no event.
    config = {"recordId": "from_trigger", "propertyValues": {"Priority": number}}
    return {"id": str(new_id()), "type": "UPDATE_RECORD", "config": config}
