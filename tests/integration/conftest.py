"""Contexts over a real database and an emulated AWS of the test's own."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import boto3
import pytest
from moto import mock_aws

from tests.conftest import Server, open_database, settings_for
from whenthen.domain import json_text
from whenthen.engine.context import Context
from whenthen.store.connection import Database


@dataclass(frozen=True)
class Aws:
    """The emulated account's stream and queues, as a test looks at them."""

    stream: str
    queue_url: str
    notice_url: str
    kinesis: Any
    sqs: Any

    def stream_records(self) -> list[dict[str, Any]]:
        """Every event on the stream, decoded."""
        found = []
        shards = self.kinesis.list_shards(StreamName=self.stream)["Shards"]
        for shard in shards:
            iterator = self.kinesis.get_shard_iterator(
                StreamName=self.stream, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
            )["ShardIterator"]
            found += self.kinesis.get_records(ShardIterator=iterator)["Records"]
        return [json_text.loads(record["Data"]) for record in found]

    def queued(self) -> list[dict[str, Any]]:
        """Every visible run message's body, taken off the queue."""
        return self._taken(self.queue_url)

    def noticed(self) -> list[dict[str, Any]]:
        """Every notice, taken off its queue."""
        return self._taken(self.notice_url)

    def delayed(self) -> int:
        """How many run messages are still held back by their delay."""
        attribute = "ApproximateNumberOfMessagesDelayed"
        found = self.sqs.get_queue_attributes(QueueUrl=self.queue_url, AttributeNames=[attribute])
        return int(found["Attributes"][attribute])

    def _taken(self, queue_url: str) -> list[dict[str, Any]]:
        bodies = []
        while messages := self.sqs.receive_message(QueueUrl=queue_url, MaxNumberOfMessages=10).get(
            "Messages"
        ):
            for message in messages:
                bodies.append(json_text.loads(message["Body"]))
                self.sqs.delete_message(QueueUrl=queue_url, ReceiptHandle=message["ReceiptHandle"])
        return bodies


@pytest.fixture
def aws() -> Iterator[Aws]:
    with mock_aws():
        kinesis, sqs = boto3.client("kinesis"), boto3.client("sqs")
        kinesis.create_stream(StreamName="events", ShardCount=1)
        queue_url = sqs.create_queue(QueueName="runs")["QueueUrl"]
        notice_url = sqs.create_queue(QueueName="notices")["QueueUrl"]
        yield Aws("events", queue_url, notice_url, kinesis, sqs)


@pytest.fixture
def context(migrated_url: str, aws: Aws) -> Iterator[Context]:
    made = Context(
        settings_for(
            migrated_url,
            EVENT_STREAM_NAME=aws.stream,
            RUN_QUEUE_URL=aws.queue_url,
            NOTICE_QUEUE_URL=aws.notice_url,
        ),
        "test",
    )
    yield made
    made.database.close()


@pytest.fixture(scope="session")
def shared_context(postgres: Server, template_database: str) -> Iterator[Context]:
    """A context without AWS, for tests that look only at rows of a workspace of their own."""
    made = Context(settings_for(postgres.create("shared", template_database)), "test")
    yield made
    made.database.close()


@pytest.fixture
def shared_url(shared_context: Context) -> str:
    return str(shared_context.settings.database_url)


@pytest.fixture
def pool(shared_url: str) -> Iterator[Database]:
    """A pool of the test's own over the shared database."""
    opened = open_database(shared_url)
    yield opened
    opened.close()


@pytest.fixture
def lone(shared_url: str) -> Iterator[Database]:
    """A pool of one connection: whatever is left on it meets the next transaction."""
    opened = Database(settings_for(shared_url, DATABASE_POOL_SIZE="1"), lambda: ("postgres", None))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def acting_context(postgres: Server, template_database: str) -> Iterator[Context]:
    """A database, a stream and queues for all tests of a module, one after another."""
    with mock_aws():
        boto3.client("kinesis").create_stream(StreamName="events", ShardCount=1)
        queue_url = boto3.client("sqs").create_queue(QueueName="runs")["QueueUrl"]
        notice_url = boto3.client("sqs").create_queue(QueueName="notices")["QueueUrl"]
        name = f"a{uuid4().hex}"
        url = postgres.create(name, template_database)
        made = Context(
            settings_for(
                url,
                EVENT_STREAM_NAME="events",
                RUN_QUEUE_URL=queue_url,
                NOTICE_QUEUE_URL=notice_url,
            ),
            "test",
        )
        yield made
        made.database.close()
        postgres.drop(name)
