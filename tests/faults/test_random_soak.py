"""The soak: thousands of mixed runs while processes die and stop at random, the database goes
away twice, and messages come late and twice.

`WHENTHEN_SOAK_MINUTES` says how long things go wrong, at 500 runs a minute or more; without it
less than a minute, with as many runs as fit. `WHENTHEN_FAULT_SEED` repeats the draws, though not
the moments at which processes meet them.
"""

import json
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import boto3
import pytest

from tests.faults.aws_process import emulated_aws
from tests.faults.matrix_report import SEED, SOAK_PROPERTY
from tests.faults.own_postgres import own_postgres
from tests.faults.promises import Facts
from tests.faults.soak_director import Director
from tests.faults.soak_people import People
from tests.faults.soak_promises import check, recoveries, repeats
from tests.faults.soak_services import Services
from tests.faults.soak_target import Moods
from tests.faults.soak_world import SoakWorld
from tests.faults.workers import Workers, Zygote
from tests.integration.engine_world import World
from whenthen.engine.context import Context
from whenthen.settings import load_settings

MINUTES = float(os.environ.get("WHENTHEN_SOAK_MINUTES", "0.5"))
RUNS_A_MINUTE = 500 if "WHENTHEN_SOAK_MINUTES" in os.environ else 0
AT_ONCE = 4
VISIBILITY_S = 1_080


@pytest.fixture
def director() -> Iterator[Director]:
    with (
        pytest.MonkeyPatch.context() as patch,
        emulated_aws() as aws,
        own_postgres() as postgres,
    ):
        patch.setenv("AWS_ENDPOINT_URL", aws.endpoint)
        name = uuid4().hex
        boto3.client("kinesis").create_stream(StreamName=name, ShardCount=1)
        queues = [
            boto3.client("sqs").create_queue(
                QueueName=f"{kind}-{name}", Attributes={"VisibilityTimeout": str(VISIBILITY_S)}
            )["QueueUrl"]
            for kind in ("runs", "notices")
        ]
        environment = {
            "AWS_ENDPOINT_URL": aws.endpoint,
            "DATABASE_URL": postgres.url,
            "EVENT_STREAM_NAME": name,
            "RUN_QUEUE_URL": queues[0],
            "NOTICE_QUEUE_URL": queues[1],
            "WEBHOOK_ALLOW_HOSTS": "127.0.0.1",
            "POWERTOOLS_LOG_LEVEL": "CRITICAL",
        }
        context = Context(load_settings(environment), "soak")
        draw = random.Random(SEED)
        moods = Moods(random.Random(draw.random()))
        zygote = Zygote(environment)
        workers = Workers(zygote, AT_ONCE, lambda: time.time() + workers.offset_s)
        services = Services(workers, environment, draw, lambda: time.time() + workers.offset_s)
        soak = SoakWorld(World(context), moods)
        people = People(soak, services, draw)
        try:
            yield Director(context, postgres, aws, workers, people, draw)
        finally:
            workers.close()
            zygote.close()
            moods.target.close()
            context.database.close()


@pytest.mark.timeout(max(600, MINUTES * 60 * 4))
def test_thousands_of_runs_survive_whatever_breaks_and_whenever(
    director: Director, record_property: Callable[[str, object], None]
) -> None:
    started_s = time.monotonic()
    director.break_things(MINUTES * 60, round(MINUTES * RUNS_A_MINUTE))
    busy_s = time.monotonic() - started_s
    director.come_to_rest()
    toll = director.workers.toll
    try:
        found = check(director.people, toll.strikes)
    except AssertionError as error:
        error.add_note(f"seed {SEED}; {[text.splitlines()[-1] for text in toll.errors[:9]]}")
        raise
    figures = _figures(director, found, busy_s, time.monotonic() - started_s)
    record_property(SOAK_PROPERTY, json.dumps(figures))
    assert toll.kills, "nothing was killed"
    assert director.postgres.restarts == 2
    assert figures["recoveries"], "nothing had to recover"


def _figures(director: Director, found: Facts, busy_s: float, whole_s: float) -> dict[str, Any]:
    toll, people = director.workers.toll, director.people
    waits = recoveries(found, toll.strikes)
    in_time = [wait_s for at, wait_s in waits if at < director.peace_at]
    statuses = Counter(run["status"] for run in found.runs)
    return {
        "seed": SEED,
        "runs": len(found.runs),
        **{str(status): n for status, n in sorted(statuses.items())},
        "steps": len(found.steps),
        "webhooks": people.soak.moods.hits.total(),
        "webhooks repeated": repeats(people.soak.moods),
        "invocations": toll.invocations,
        "of them failed": len(toll.errors),
        "kills": toll.kills,
        "stops": toll.stops,
        "processes lost": toll.deaths,
        "database restarts": director.postgres.restarts,
        "delivered twice": people.services.twice,
        "delivered late": people.services.late,
        "retried by hand": people.retried,
        "cancelled": people.cancelled,
        "deaths": sum(run["deaths"] for run in found.runs),
        "recoveries": len(waits),
        # While the watchdog came once a minute; afterwards the clock leaps.
        "of them by the minute": len(in_time),
        "slowest of those, s": round(max(in_time, default=0)),
        "rounds to rest": director.rounds,
        "runs/s": round(len(found.runs) / busy_s, 1),
        "took, s": round(whole_s, 1),
    }
