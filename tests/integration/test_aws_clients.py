"""How AWS is asked: with deadlines, and for the database's credentials."""

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, ParamValidationError
from moto import mock_aws

from tests.conftest import settings_for
from whenthen.aws.clients import action_client, kept_client, make_client
from whenthen.aws.database_secret import read_credentials
from whenthen.engine.context import Context


@pytest.mark.parametrize(("given", "attempts"), [({}, 3), ({"attempts": 1}, 1)])
def test_every_client_gives_up_in_time(given: dict[str, Any], attempts: int) -> None:
    config = make_client("sqs", **given).meta.config
    assert (config.connect_timeout, config.read_timeout) == (3, 10)
    # botocore counts the first try in its own field, and drops the word that we use for it.
    assert config.retries == {"total_max_attempts": attempts, "mode": "standard"}


def test_a_client_may_wait_longer_for_an_answer() -> None:
    assert make_client("sqs", read_timeout_s=60).meta.config.read_timeout == 60


def test_a_client_checks_its_parameters_unless_told_that_they_are_well_made() -> None:
    lacking = {"QueueUrl": "https://queue.test"}
    with mock_aws():
        with pytest.raises(ParamValidationError, match="MessageBody"):
            make_client("sqs").send_message(**lacking)
        with pytest.raises(ClientError):
            make_client("sqs", checks_parameters=False).send_message(**lacking)


@pytest.mark.parametrize(
    ("timeout_s", "connect_s", "read_s"),
    [(1.0, 0.25, 0.5), (4.0, 1.0, 2.0), (12.0, 3.0, 8.0), (30.0, 3.0, 26.0), (120.0, 3.0, 116.0)],
)
def test_an_actions_client_tries_once_and_ends_before_the_action_does(
    timeout_s: float, connect_s: float, read_s: float
) -> None:
    config = action_client("sqs", timeout_s).meta.config
    assert (config.connect_timeout, config.read_timeout) == (connect_s, read_s)
    assert config.retries == {"total_max_attempts": 1, "mode": "standard"}


@pytest.mark.parametrize(
    ("left_s", "timeout_s"),
    [(29.999_98, 30), (29.94, 30), (29.93, 29.875), (30.06, 30), (1, 1), (0.97, 1), (0.01, 0.125)],
)
def test_what_is_nearly_as_long_is_left_to_one_client(left_s: float, timeout_s: float) -> None:
    kept_client.cache_clear()
    try:
        assert action_client("sqs", left_s) is kept_client("sqs", timeout_s)
    finally:
        kept_client.cache_clear()


@pytest.fixture
def secret_arn() -> Iterator[str]:
    with mock_aws():
        secret = {"engine": "postgres", "port": 5432, "username": "postgres", "password": 'a"\\b'}
        created = boto3.client("secretsmanager").create_secret(
            Name="database", SecretString=json.dumps(secret)
        )
        yield created["ARN"]


def test_credentials_are_read_from_the_secret_that_rds_writes(secret_arn: str) -> None:
    assert read_credentials(secret_arn) == ("postgres", 'a"\\b')


def test_a_database_named_by_host_is_opened_with_the_secret(
    migrated_url: str, secret_arn: str
) -> None:
    name, _, folder = migrated_url.removeprefix("postgresql://postgres@/").partition("?host=")
    settings = settings_for(
        "",
        DATABASE_HOST=folder,
        DATABASE_NAME=name,
        DATABASE_SECRET_ARN=secret_arn,
    )
    context = Context(settings, "test")
    row = context.database.transact(
        lambda connection: connection.exec_driver_sql("select current_user, current_database()")
    )
    assert tuple(row.one()) == ("postgres", name)
    context.database.close()
