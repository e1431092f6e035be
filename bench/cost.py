"""What a million runs of the reference work cost on AWS, their database left out.

Events come one by one through the HTTP API. Requests are counted and durations measured by calling
the functions' handlers in this process; the model makes US dollars of them.
"""

import base64
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

from samtranslator.yaml_helper import yaml_parse

from bench.aws_at_once import Json
from bench.cost_measured import CountedAws, MeasuredFunction, Output
from bench.cost_model import FunctionWork, Work, billed_ms, billed_record_bytes, costs
from bench.cost_step_functions import acting_usd, express_usd, standard_usd
from bench.durable_postgres import Postgres
from bench.engine_database import engine_database
from bench.figures import Figures
from bench.lambda_batches import LambdaContext, queue_batch, stream_batch
from bench.sizes import Sizes
from bench.triage import RECORD, Triage
from bench.two_processes import MATCH_BATCH, RUN_BATCH
from whenthen.engine.composition import process_context
from whenthen.store import tenants

TEMPLATE = Path(__file__).parents[1] / "template.yaml"
# In characters: a record's key is the id of its event, which Kinesis counts too.
KEY_BYTES = 36
# Receiving a batch, and deleting it.
QUEUE_REQUESTS_PER_BATCH = 2
WARM_UP_RUNS = 10
API, MATCHER, EXECUTOR = "HttpApiFunction", "StreamMatcherFunction", "RunExecutorFunction"


@dataclass(frozen=True)
class Load:
    """How full the batches are that Lambda hands over, and how many runs start in a second."""

    events_per_batch: int
    runs_per_batch: int
    runs_per_s: float


# Full batches, as in the rest of the bench; and a million runs spread evenly over a month, of which
# no two meet.
BUSY = Load(MATCH_BATCH, RUN_BATCH, 100.0)
LONE = Load(1, 1, 1_000_000 / (730 * 3_600))


def cost(sizes: Sizes, postgres: Postgres) -> Figures:
    """Measure the reference work at both loads and return what a million runs of it cost."""
    with engine_database(postgres) as engine:
        os.environ["POWERTOOLS_LOG_LEVEL"] = "INFO"  # as deployed: lines cost money
        triage = Triage(engine.database)
        triage.set_up()
        pipeline = Pipeline(triage)
        pipeline.run(WARM_UP_RUNS, BUSY)
        busy, lone = (pipeline.run(sizes.cost_runs, load) for load in (BUSY, LONE))
        triage.require_succeeded(WARM_UP_RUNS + 2 * sizes.cost_runs)
        pipeline.close()
    return _figures(busy, lone) | {"metrics_published": len(pipeline.output.metrics)}


def _figures(busy: Work, lone: Work) -> Figures:
    executor = lone.functions[EXECUTOR]
    acting = acting_usd(executor.billed_ms, executor.memory_mb)
    return {
        "usd_per_million_runs": _total(busy),
        "usd_per_million_lone_runs": _total(lone),
        "usd_per_million_lone_runs_if_traced": _total(replace(lone, is_traced=True)),
        "usd_per_million_runs_by_component": _by_component(busy),
        "usd_per_million_lone_runs_by_component": _by_component(lone),
        "usd_per_million_on_step_functions_standard": round(standard_usd() + acting, 2),
        "usd_per_million_on_step_functions_express": round(
            express_usd(executor.billed_ms) + acting, 2
        ),
        "billed_ms": {name: one.billed_ms for name, one in busy.functions.items()},
        "billed_lone_ms": {name: one.billed_ms for name, one in lone.functions.items()},
    }


class Pipeline:
    """API, matcher and executor in this process, each fed with what those before it have sent."""

    def __init__(self, triage: Triage) -> None:
        self.output = Output()
        self._triage = triage
        self._aws = CountedAws()
        self._aws.install()
        self._functions = self._load()
        self._memory_mb, self._is_traced = deployed()
        _, self._token = triage.database.transact(
            lambda c: tenants.create_token(c, triage.owner_id, "bench", None)
        )

    def _load(self) -> dict[str, MeasuredFunction]:
        from http_api import handler as api  # noqa: PLC0415  # the environment comes first
        from run_executor import handler as executor  # noqa: PLC0415
        from stream_matcher import handler as matcher  # noqa: PLC0415

        services = {
            API: ("http-api", api.lambda_handler),
            MATCHER: ("stream-matcher", matcher.lambda_handler),
            EXECUTOR: ("run-executor", executor.lambda_handler),
        }
        with self.output.kept():
            return {
                name: MeasuredFunction(
                    handler, process_context(service).database, self._aws, self.output
                )
                for name, (service, handler) in services.items()
            }

    def close(self) -> None:
        for service in ("http-api", "stream-matcher", "run-executor"):
            process_context(service).database.close()

    def run(self, runs: int, load: Load) -> Work:
        """Take that many events from the API to the end of their runs; return a run's share."""
        self._aws.calls.clear()
        for function in self._functions.values():
            function.forget()
        records = self._report(self._triage.records(runs))
        answer_bytes = self._answer_bytes
        records += self._execute_all(records, load)
        self._match(records[runs:], load)
        batches = self._functions[EXECUTOR].invocations
        sizes = [len(base64.b64decode(data)) + KEY_BYTES for data in records]
        return Work(
            functions={name: self._work(name, runs) for name in self._functions},
            runs_per_s=load.runs_per_s,
            http_requests=1.0,
            answer_bytes=answer_bytes,
            stream_in_bytes=sum(map(billed_record_bytes, sizes)) / runs,
            stream_out_bytes=sum(sizes) / runs,
            queue_requests=(
                self._aws.calls["SendMessageBatch"] + QUEUE_REQUESTS_PER_BATCH * batches
            )
            / runs,
            is_traced=self._is_traced,
        )

    def _report(self, record_ids: Sequence[UUID]) -> list[str]:
        for record_id in record_ids:
            answer = self._functions[API](self._request(record_id), LambdaContext())
            if answer["statusCode"] != 202:
                raise SystemExit(f"an event was refused: {answer}")
        self._answer_bytes = len(json.dumps(answer["headers"])) + len(answer["body"])
        return self._taken()

    def _execute_all(self, records: Sequence[str], load: Load) -> list[str]:
        """Match `records` and execute their runs; return what those put on the stream."""
        self._match(records, load)
        bodies = [message.body for message in self._aws.messages]
        self._aws.messages.clear()
        for start in range(0, len(bodies), load.runs_per_batch):
            batch = bodies[start : start + load.runs_per_batch]
            self._functions[EXECUTOR](queue_batch(batch), LambdaContext())
        return self._taken()

    def _match(self, records: Sequence[str], load: Load) -> None:
        for start in range(0, len(records), load.events_per_batch):
            batch = records[start : start + load.events_per_batch]
            self._functions[MATCHER](stream_batch(batch), LambdaContext())

    def _taken(self) -> list[str]:
        records, self._aws.records[:] = self._aws.records[:], []
        return records

    def _work(self, name: str, runs: int) -> FunctionWork:
        function, memory_mb = self._functions[name], self._memory_mb[name]
        mean = function.mean()
        return FunctionWork(
            memory_mb, function.invocations / runs, billed_ms(mean, memory_mb), mean.log_bytes
        )

    def _request(self, record_id: UUID) -> Json:
        path = f"/api/v1/workspaces/{self._triage.workspace_id}/events"
        payload = {
            "databaseId": str(self._triage.database_id),
            "recordId": str(record_id),
            "properties": RECORD,
        }
        return {
            "version": "2.0",
            "rawPath": path,
            "rawQueryString": "",
            "headers": {
                "authorization": f"Bearer {self._token}",
                "content-type": "application/json",
            },
            "requestContext": {
                "domainName": "bench.test",
                "http": {"method": "POST", "path": path, "sourceIp": "192.0.2.1"},
                "requestId": str(record_id),
                "stage": "$default",
            },
            "body": json.dumps({"type": "record.created", "payload": payload}),
            "isBase64Encoded": False,
        }


def deployed() -> tuple[dict[str, int], bool]:
    """Return each function's memory (MB), and whether requests are traced: the template's."""
    template: Any = yaml_parse(TEMPLATE.read_text("utf-8"))
    shared = template["Globals"]["Function"]
    memory_mb = {
        name: template["Resources"][name]["Properties"].get("MemorySize", shared["MemorySize"])
        for name in (API, MATCHER, EXECUTOR)
    }
    return memory_mb, template["Parameters"]["TracingMode"]["Default"] == "Active"


def _total(work: Work) -> float:
    return round(sum(costs(work).values()), 2)


def _by_component(work: Work) -> dict[str, float]:
    return {name: round(usd, 3) for name, usd in costs(work).items()}
