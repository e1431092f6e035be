"""The stand on which handlers are broken: a database, an emulated AWS, and processes that may die.

The stand plays the services around the functions: it delivers what is on the stream and on the
queues to the real handlers, in this process, and turns the clock to the next wake-up.
"""

import base64
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from time import monotonic
from typing import IO, Any
from uuid import uuid4

import boto3
from sqlalchemy import text
from sqlalchemy.engine import Connection

from tests.faults.child import SERVICES, Lambda
from tests.faults.outside import Outside
from tests.faults.points import Fault
from tests.integration.engine_world import World
from whenthen.actions.registry import register_test_executor
from whenthen.domain import json_text
from whenthen.domain.kinds import ActionType
from whenthen.engine import composition
from whenthen.engine.context import Context

SWEEPS_MAX = 2
_ROUNDS_MAX = 50
PATIENCE_S = 60


@dataclass(frozen=True)
class Invocation:
    """One call of one function: `{"Records": […]}` and its time."""

    function: str
    event: Mapping[str, Any]
    offset_s: float = 0
    remaining_s: float = 180


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit code (-9: killed) and the durable effects that it reached."""

    exit: int
    points: Sequence[str]
    error: str


class Forks:
    """The process that forks one child per invocation."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )

    def start(self, plan: Mapping[str, Any]) -> int:
        self._pipe(self._process.stdin).write(json.dumps(plan) + "\n")
        self._pipe(self._process.stdin).flush()
        return int(self._answer()["pid"])

    def wait(self) -> Ended:
        return Ended(**self._answer())

    def close(self) -> None:
        self._pipe(self._process.stdin).close()
        self._process.wait(PATIENCE_S)
        self._pipe(self._process.stdout).close()

    def _answer(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self._pipe(self._process.stdout).readline())
        return answer

    @staticmethod
    def _pipe(pipe: IO[str] | None) -> IO[str]:
        assert pipe is not None
        return pipe


@dataclass
class Stand:
    """Where the functions of one test run; `offset_s` is how far its clock is turned."""

    environment: Mapping[str, str]
    forks: Forks
    hits_path: Path
    context: Context
    outside: Outside = field(init=False)
    events: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._sqs: Any = boto3.client("sqs")
        self._kinesis: Any = boto3.client("kinesis")
        self._shard = self._kinesis.get_shard_iterator(
            StreamName=self.environment["EVENT_STREAM_NAME"],
            ShardId="shardId-000000000000",
            ShardIteratorType="TRIM_HORIZON",
        )["ShardIterator"]
        self.outside = Outside(self.hits_path, lambda hit: hit())
        register_test_executor(ActionType.SEND_WEBHOOK, self.outside)

    # ------------------------------------------------------------------------- the clock

    @property
    def offset_s(self) -> float:
        return self.context.database.clock_offset_s

    def set_clock(self, offset_s: float) -> None:
        self.context.database.clock_offset_s = offset_s
        for service in SERVICES:
            composition.process_context(service).database.clock_offset_s = offset_s

    def new_world(self) -> World:
        """A workspace of its own, at the present time, whatever the last one left on the queues."""
        self.set_clock(0)
        self.take_messages("RUN_QUEUE_URL")
        self.take_messages("NOTICE_QUEUE_URL")
        self._records()
        self.events = []
        return World(self.context)

    # ------------------------------------------------------------------------ invocations

    def start(self, invocation: Invocation, fault: Fault | None) -> int:
        """Start a process for `invocation`; return its id."""
        return self.forks.start(
            {
                "function": invocation.function,
                "event": invocation.event,
                "offset_s": invocation.offset_s,
                "remaining_s": invocation.remaining_s,
                "environment": self.environment,
                "hits": str(self.hits_path),
                "fault": vars(fault) if fault else None,
            }
        )

    def wait(self) -> Ended:
        """Wait for the process, and until the server has let go of what it held.

        Until then its row locks stand, and what skips locked rows leaves these to a next time that
        comes within a minute in the world, and never on the stand.
        """
        ended, deadline, pause = self.forks.wait(), monotonic() + PATIENCE_S, Event()
        while self.others_at_work():
            assert monotonic() < deadline, "a transaction of an ended process stays open"
            pause.wait(0.005)
        return ended

    def others_at_work(self) -> bool:
        """Whether anybody else has a transaction open on the database."""
        return self.context.database.transact(_others_at_work)

    def invoke_here(self, function: str, event: Mapping[str, Any]) -> Any:
        handler = importlib.import_module(f"{function.replace('-', '_')}.handler")
        return handler.lambda_handler(event, Lambda(180))

    def drain(self) -> None:
        """Deliver what lies on the stream and the queues until nothing does."""
        for _ in range(_ROUNDS_MAX):
            records = self._records()
            if records:
                self.invoke_here("stream-matcher", {"Records": records})
            messages = self.take_messages("RUN_QUEUE_URL")
            for start in range(0, len(messages), 5):
                self.invoke_here("run-executor", sqs_event(messages[start : start + 5]))
            notices = self.take_messages("NOTICE_QUEUE_URL")
            if notices:
                self.invoke_here("dlq-notifier", sqs_event(notices))
            if not (records or messages or notices):
                return
        raise AssertionError("the queues do not run dry")

    def take_messages(self, queue: str) -> list[str]:
        """Take every visible message of a queue; return the bodies."""
        url, bodies = self.environment[queue], []
        while found := self._sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get(
            "Messages"
        ):
            bodies += [message["Body"] for message in found]
            self._sqs.delete_message_batch(
                QueueUrl=url,
                Entries=[
                    {"Id": str(n), "ReceiptHandle": message["ReceiptHandle"]}
                    for n, message in enumerate(found)
                ],
            )
        return bodies

    def _records(self) -> list[dict[str, Any]]:
        answer = self._kinesis.get_records(ShardIterator=self._shard)
        self._shard = answer["NextShardIterator"]
        self.events += [json_text.loads(record["Data"]) for record in answer["Records"]]
        return [kinesis_record(record["Data"]) for record in answer["Records"]]

    # --------------------------------------------------------------------------- recovery

    def recover(self, world: World, delivered: Invocation) -> int:
        """Let time pass until everything is at rest; return how many sweeps that took.

        `delivered` comes again: at once if it came from the stream or was a tick, after the first
        sweep if it came from a queue.
        """
        if delivered.function in {"stream-matcher", "schedule-reconciler"}:
            self.invoke_here(delivered.function, delivered.event)
        self.drain()
        sweeps = 0
        while (wake_s := self.next_wake_s(world)) is not None:
            assert sweeps < SWEEPS_MAX, unfinished(world)
            sweeps += 1
            self.set_clock(max(self.offset_s, delivered.offset_s) + max(wake_s, 0) + 1)
            self.invoke_here("run-watchdog", {})
            if sweeps == 1:
                self.invoke_here(delivered.function, delivered.event)
            self.drain()
        return sweeps

    def next_wake_s(self, world: World) -> float | None:
        """Seconds until the last wake-up of all rows; None when all have come to rest."""
        (row,) = world.sql(
            "select cast(extract(epoch from max(at) - whenthen_now()) as float8) as s from ("
            " select enqueue_after as at from automation_runs where workspace_id = :w"
            " union all select relay_at from outbox where workspace_id = :w) wakes",
            w=world.workspace_id,
        )
        left_s: float | None = row["s"]
        return left_s


def _others_at_work(connection: Connection) -> bool:
    return bool(
        connection.execute(
            text(
                "select 1 from pg_stat_activity where datname = current_database()"
                " and backend_type = 'client backend' and xact_start is not null"
                " and pid <> pg_backend_pid()"
            )
        ).first()
    )


def unfinished(world: World) -> str:
    runs = world.sql(
        "select id, status, due_at, enqueue_after, crash_count from automation_runs"
        " where workspace_id = :w and enqueue_after is not null",
        w=world.workspace_id,
    )
    return f"not at rest after {SWEEPS_MAX} sweeps: {[dict(run) for run in runs]}"


def sqs_event(bodies: Sequence[str]) -> dict[str, Any]:
    return {"Records": [{"messageId": f"m{n}", "body": body} for n, body in enumerate(bodies)]}


def kinesis_record(data: bytes) -> dict[str, Any]:
    """A record as the event source mapping delivers it, at a place of its own."""
    sequence = str(uuid4().int)
    return {
        "kinesis": {
            "data": base64.b64encode(data).decode(),
            "sequenceNumber": sequence,
            "approximateArrivalTimestamp": datetime.now(UTC).timestamp(),
        },
        "eventID": f"shardId-000000000000:{sequence}",
    }


@contextmanager
def process_environment(environment: Mapping[str, str]) -> Iterator[None]:
    """Let this process's own handlers find `environment`, and forget their contexts after it."""
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    composition.process_context.cache_clear()
    try:
        yield
    finally:
        for service in SERVICES:
            composition.process_context(service).database.close()
        composition.process_context.cache_clear()
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
