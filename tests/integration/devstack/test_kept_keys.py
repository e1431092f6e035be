"""What a KMS key of a data folder has encrypted, the next stack on that folder decrypts."""

from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from moto.moto_api._internal.models import moto_api_backend

from devstack.emulated_aws import EmulatedAws
from devstack.kept_keys import keep_keys

CONTEXT = {"workspaceId": "w"}


def start(aws: EmulatedAws, folder: Path) -> tuple[Any, str]:
    """The client and the first key's ARN of a stack that starts on `folder`."""
    moto_api_backend.reset()
    keep_keys(folder)
    kms = aws.client("kms")
    return kms, kms.create_key()["KeyMetadata"]["Arn"]


@pytest.mark.usefixtures("aws")
def test_a_key_outlives_its_stack_and_opens_nothing_of_another_folders(
    aws: EmulatedAws, tmp_path: Path
) -> None:
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()
    kms, first = start(aws, here)
    assert kms.create_key()["KeyMetadata"]["Arn"] != first
    sealed = kms.encrypt(KeyId=first, Plaintext=b"x", EncryptionContext=CONTEXT)["CiphertextBlob"]
    kms, again = start(aws, here)
    opened = kms.decrypt(KeyId=again, CiphertextBlob=sealed, EncryptionContext=CONTEXT)
    assert (again, opened["Plaintext"]) == (first, b"x")
    kms, other = start(aws, elsewhere)
    assert other != first
    with pytest.raises(ClientError):
        kms.decrypt(KeyId=other, CiphertextBlob=sealed, EncryptionContext=CONTEXT)


def test_the_seed_is_its_owners_alone(tmp_path: Path) -> None:
    keep_keys(tmp_path)
    assert (tmp_path / "keys.seed").stat().st_mode & 0o777 == 0o600
