"""What matching costs with few and with many automations in the database, one of them matching."""

from time import perf_counter

from bench.aws_at_once import AwsAtOnce
from bench.durable_postgres import Postgres
from bench.engine_database import EngineDatabase, engine_database
from bench.figures import Figures, quantile, shape
from bench.in_process import Handlers
from bench.many_automations import add_elsewhere, add_here
from bench.sizes import Sizes
from bench.triage import AUTOMATIONS, Triage
from bench.two_processes import MATCH_BATCH

# Who else is in the database: ten automations in each of many workspaces, or all in this one.
PLACES = {"many_workspaces": add_elsewhere, "one_workspace": add_here}


def matching_growth(sizes: Sizes, postgres: Postgres) -> Figures:
    """Match events beside growing numbers of automations, for each place where these may be."""
    return {
        "growth_matching": {place: _curve(place, sizes, postgres) for place in PLACES},
    }


def _curve(place: str, sizes: Sizes, postgres: Postgres) -> Figures:
    points = []
    with engine_database(postgres) as engine:
        triage = Triage(engine.database)
        triage.set_up()
        have = AUTOMATIONS
        aws = AwsAtOnce()
        aws.install()
        handlers = Handlers(aws)
        for n in sizes.automations:
            PLACES[place](engine.url, triage, n - have)
            have = n
            points.append({"automations": n, **_measure(engine, triage, handlers, aws, sizes)})
        handlers.close()
    # Not the time, which whatever else runs would bend.
    costs = [point["cpu_s_per_1000_events"] for point in points]
    return {"points": points, "shape": shape([p["automations"] for p in points], costs)}


def _measure(
    engine: EngineDatabase, triage: Triage, handlers: Handlers, aws: AwsAtOnce, sizes: Sizes
) -> Figures:
    handlers.match(triage.events(MATCH_BATCH))
    events = triage.events(sizes.matched_events)
    times_s = []
    cpu_before_s = engine.cpu_s()
    for start in range(0, len(events), MATCH_BATCH):
        started_s = perf_counter()
        handlers.match(events[start : start + MATCH_BATCH])
        times_s.append(perf_counter() - started_s)
    cpu_s = engine.cpu_s() - cpu_before_s
    if len(aws.messages) != MATCH_BATCH + len(events):
        raise SystemExit(f"{len(aws.messages)} runs started by {MATCH_BATCH + len(events)} events")
    aws.messages.clear()
    return {
        "events_per_s": round(MATCH_BATCH / quantile(times_s, 0.5)),
        "cpu_s_per_1000_events": round(cpu_s / len(events) * 1_000, 3),
    }
