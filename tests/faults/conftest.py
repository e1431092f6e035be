"""The stand's fixtures: one emulated AWS and one forking process per test process."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import boto3
import pytest

from tests.faults.aws_process import emulated_aws
from tests.faults.scenarios import CHAINED_PER_DAY
from tests.faults.stand import Forks, Stand, process_environment
from whenthen.actions.registry import clear_test_executors
from whenthen.engine.context import Context
from whenthen.settings import load_settings


@pytest.fixture(scope="session")
def aws_endpoint() -> Iterator[str]:
    with emulated_aws() as aws:
        yield aws.endpoint


@pytest.fixture(scope="session")
def forks(aws_endpoint: str) -> Iterator[Forks]:
    started = Forks({"AWS_ENDPOINT_URL": aws_endpoint})
    yield started
    started.close()


@pytest.fixture
def stand(aws_endpoint: str, forks: Forks, migrated_url: str, tmp_path: Path) -> Iterator[Stand]:
    name = uuid4().hex
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", aws_endpoint)
        boto3.client("kinesis").create_stream(StreamName=name, ShardCount=1)
        queues = [
            boto3.client("sqs").create_queue(QueueName=f"{kind}-{name}")["QueueUrl"]
            for kind in ("runs", "notices")
        ]
        environment = {
            "DATABASE_URL": migrated_url,
            "EVENT_STREAM_NAME": name,
            "RUN_QUEUE_URL": queues[0],
            "NOTICE_QUEUE_URL": queues[1],
            "AUTOMATION_MAX_CHAINED_RUNS_PER_DAY": str(CHAINED_PER_DAY),
            "POWERTOOLS_LOG_LEVEL": "CRITICAL",
        }
        context = Context(load_settings(environment), "stand")
        with process_environment(environment):
            yield Stand(environment, forks, tmp_path / "hits", context)
        context.database.close()
        clear_test_executors()
