"""What lies between the functions: the queues and the stream, which deliver late and twice."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import boto3

from tests.faults.stand import kinesis_record
from tests.faults.workers import Job, Workers
from whenthen.domain import json_text
from whenthen.domain.schemas import messages

BATCH = 5
STREAM_BATCH = 100
# Of all deliveries, this share comes once more, and this share comes late.
SHARE_TWICE = 0.08
SHARE_LATE = 0.08
LATE_MAX_S = 400


@dataclass
class Services:
    """Delivers to the functions what they send each other, each batch as an invocation.

    Messages of failed invocations come again when their visibility timeout is over; the records
    of a failed batch at once.
    """

    workers: Workers
    environment: Mapping[str, str]
    draw: random.Random
    clock: Callable[[], float]
    twice: int = 0
    late: int = 0
    is_calm: bool = False
    events: list[dict[str, Any]] = field(default_factory=list)
    # Records whose batch failed, from the threads of the workers.
    failed: list[list[dict[str, Any]]] = field(default_factory=list)
    held: list[tuple[float, Job]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._sqs: Any = boto3.client("sqs")
        self._kinesis: Any = boto3.client("kinesis")
        self._shard = self._kinesis.get_shard_iterator(
            StreamName=self.environment["EVENT_STREAM_NAME"],
            ShardId="shardId-000000000000",
            ShardIteratorType="TRIM_HORIZON",
        )["ShardIterator"]

    def put(self, event: Mapping[str, Any]) -> None:
        """Put an event on the stream as a host does."""
        self._kinesis.put_record(
            StreamName=self.environment["EVENT_STREAM_NAME"],
            PartitionKey=str(event["id"]),
            Data=json_text.dumps(event).encode(),
        )

    def deliver(self) -> int:
        """Deliver what is there now; return how many invocations that takes."""
        late = self._due()
        for job in late:
            # What was late once is not late again.
            self.workers.submit(job)
        jobs = [*self._stream(), *self._runs(), *self._notices()]
        for job in jobs:
            self._deliver(job)
        return len(late) + len(jobs)

    def tick(self) -> None:
        """Invoke the watchdog, as its schedule does."""
        self.workers.submit(Job("run-watchdog", {}))

    def calm_down(self) -> None:
        """Deliver everything once and at once from here on, also what was to come late."""
        self.is_calm = True
        self.held = [(0, job) for _, job in self.held]

    def _deliver(self, job: Job) -> None:
        chance = 0.5 if self.is_calm else self.draw.random()
        if chance < SHARE_LATE:
            self.late += 1
            self._hold(job)
            return
        if chance > 1 - SHARE_TWICE:
            self.twice += 1
            self._hold(Job(job.function, job.event, run_ids=job.run_ids))
        self.workers.submit(job)

    def _hold(self, job: Job) -> None:
        self.held.append((self.clock() + self.draw.uniform(0, LATE_MAX_S), job))

    def _due(self) -> list[Job]:
        now = self.clock()
        due = [job for at, job in self.held if at <= now]
        self.held = [(at, job) for at, job in self.held if at > now]
        return due

    def _stream(self) -> list[Job]:
        answer = self._kinesis.get_records(ShardIterator=self._shard, Limit=1_000)
        self._shard = answer["NextShardIterator"]
        self.events += [json_text.loads(record["Data"]) for record in answer["Records"]]
        records = [kinesis_record(record["Data"]) for record in answer["Records"]]
        batches = [
            records[start : start + STREAM_BATCH] for start in range(0, len(records), STREAM_BATCH)
        ]
        while self.failed:
            batches.append(self.failed.pop())
        return [self._match(batch) for batch in batches]

    def _match(self, records: list[dict[str, Any]]) -> Job:
        def done(answer: Any) -> None:
            if answer is None:
                self.failed.append(records)

        return Job("stream-matcher", {"Records": records}, done)

    def _runs(self) -> list[Job]:
        return self._queue("RUN_QUEUE_URL", "run-executor", BATCH)

    def _notices(self) -> list[Job]:
        return self._queue("NOTICE_QUEUE_URL", "dlq-notifier", 10)

    def _queue(self, queue: str, function: str, size: int) -> list[Job]:
        url, jobs = self.environment[queue], []
        while found := self._sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=size).get(
            "Messages"
        ):
            jobs.append(self._messages(url, function, found))
        return jobs

    def _messages(self, url: str, function: str, found: Sequence[Mapping[str, Any]]) -> Job:
        receipts = [
            {"Id": str(n), "ReceiptHandle": message["ReceiptHandle"]}
            for n, message in enumerate(found)
        ]

        def done(answer: Any) -> None:
            if answer is not None:
                self._sqs.delete_message_batch(QueueUrl=url, Entries=receipts)

        records = [{"messageId": m["MessageId"], "body": m["Body"]} for m in found]
        run_ids = _run_ids(found) if function == "run-executor" else ()
        return Job(function, {"Records": records}, done, run_ids)


def _run_ids(found: Sequence[Mapping[str, Any]]) -> list[UUID]:
    read = [messages.decode(message["Body"]) for message in found]
    return [what.run_id for what in read if isinstance(what, messages.RunMessage)]
