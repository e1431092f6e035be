"""The key of secrets: what it is asked, and what is known without asking."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber
from moto import mock_aws

from whenthen.aws import secrets_key
from whenthen.aws.secrets_key import SecretsKey

CONTEXT = {"workspaceId": "w", "name": "A"}


@pytest.fixture
def key() -> Iterator[SecretsKey]:
    with mock_aws():
        yield SecretsKey(boto3.client("kms").create_key()["KeyMetadata"]["Arn"])


@pytest.fixture
def asked(key: SecretsKey) -> list[Any]:
    """The parameters of each Decrypt."""
    calls: list[Any] = []
    events = key._step_client.meta.events
    events.register("before-parameter-build.kms.Decrypt", lambda params, **_: calls.append(params))
    return calls


def test_a_ciphertext_is_opened_once_in_a_while(key: SecretsKey, asked: list[Any]) -> None:
    ciphertexts = key.encrypt("é" * 4096, CONTEXT)
    assert len(ciphertexts) == 2
    for _ in range(3):
        assert key.decrypt(ciphertexts, CONTEXT) == "é" * 4096
    assert len(asked) == 2
    for digest, (since_s, plain) in key._opened.items():
        key._opened[digest] = (since_s - secrets_key._OPENED_FOR_S, plain)
    assert key.decrypt(ciphertexts, CONTEXT) == "é" * 4096
    assert len(asked) == 4


def test_a_value_set_anew_is_asked_for(key: SecretsKey, asked: list[Any]) -> None:
    for value in ("first value", "second value"):
        assert key.decrypt(key.encrypt(value, CONTEXT), CONTEXT) == value
    assert len(asked) == 2


@pytest.mark.parametrize("other", [{}, {"workspaceId": "v", "name": "A"}, {"workspaceId": "w"}])
def test_what_is_known_for_one_workspace_and_name_is_unknown_for_another(
    key: SecretsKey, other: dict[str, str]
) -> None:
    ciphertexts = key.encrypt("some value", CONTEXT)
    assert key.decrypt(ciphertexts, CONTEXT) == "some value"
    with pytest.raises(Exception, match="InvalidCiphertext"):
        key.decrypt(ciphertexts, other)


def test_a_failure_is_not_remembered(key: SecretsKey) -> None:
    ciphertexts = key.encrypt("some value", CONTEXT)
    client = boto3.client("kms")
    with Stubber(client) as stubber:
        stubber.add_client_error("decrypt", "DisabledException")
        key.__dict__["_step_client"] = client
        with pytest.raises(Exception, match="Disabled"):
            key.decrypt(ciphertexts, CONTEXT)
    assert key.decrypt(ciphertexts, CONTEXT) == "some value"


def test_no_more_is_known_than_a_worker_needs(key: SecretsKey, asked: list[Any]) -> None:
    first = key.encrypt("value of the first", CONTEXT)
    key.decrypt(first, CONTEXT)
    for n in range(secrets_key._OPENED_MAX):
        key._opened[str(n).encode()] = next(iter(key._opened.values()))
    key.decrypt(key.encrypt("another one", CONTEXT), CONTEXT)
    assert len(key._opened) == secrets_key._OPENED_MAX
    key.decrypt(first, CONTEXT)
    assert len(asked) == 3
