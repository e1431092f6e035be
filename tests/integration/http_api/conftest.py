"""The API's own process context, built from an environment that points at the test's doors."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import boto3
import pytest
from moto import mock_aws

from http_api.resolver import SERVICE
from tests.conftest import Server
from tests.integration.conftest import Aws
from tests.integration.http_api.client import Api, make_tenant
from whenthen.engine.composition import process_context


@contextmanager
def serving(database_url: str, stream: str, queue_url: str, **settings: str) -> Iterator[Api]:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("DATABASE_URL", database_url)
        environment.setenv("EVENT_STREAM_NAME", stream)
        environment.setenv("RUN_QUEUE_URL", queue_url)
        key = boto3.client("kms").create_key()["KeyMetadata"]
        environment.setenv("SECRETS_KEY_ARN", key["Arn"])
        environment.delenv("PUBLIC_URL", raising=False)
        for name, value in settings.items():
            environment.setenv(name, value)
        process_context.cache_clear()
        context = process_context(SERVICE)
        mine = context.database.transact(make_tenant)
        yield Api(context, mine, context.database.transact(make_tenant))
        context.database.close()
        process_context.cache_clear()


@pytest.fixture
def api(migrated_url: str, aws: Aws) -> Iterator[Api]:
    with serving(migrated_url, aws.stream, aws.queue_url) as served:
        yield served


@pytest.fixture(scope="module")
def module_api(postgres: Server, template_database: str) -> Iterator[Api]:
    """One API for all tests of a module, for those that look at nothing but their own answers."""
    name = f"m{uuid4().hex}"
    with mock_aws():
        boto3.client("kinesis").create_stream(StreamName="events", ShardCount=1)
        queue_url = boto3.client("sqs").create_queue(QueueName="runs")["QueueUrl"]
        with serving(postgres.create(name, template_database), "events", queue_url) as served:
            yield served
    postgres.drop(name)
