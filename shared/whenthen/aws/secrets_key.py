"""The KMS key that workspace secrets are encrypted with; this file is all the crypto there is."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

from whenthen.aws.clients import make_client

# AWS KMS, Encrypt: up to 4,096 bytes of plaintext with a symmetric key.
PART_MAX_BYTES: Final = 4_096
# It is called inside a transaction: two tries of two seconds are as long as that may wait.
_ATTEMPTS: Final = 2
_READ_TIMEOUT_S: Final = 2


class SecretsKey:
    """One KMS key, by its ARN.

    The encryption context goes into the ciphertext and into CloudTrail: what was encrypted for one
    workspace and name opens for no other.
    """

    def __init__(self, arn: str) -> None:
        self._arn = arn

    @cached_property
    def _client(self) -> Any:
        return make_client("kms", attempts=_ATTEMPTS, read_timeout_s=_READ_TIMEOUT_S)

    def encrypt(self, value: str, context: dict[str, str]) -> list[bytes]:
        """Return the ciphertexts of `value`, one for each 4,096 bytes of its UTF-8."""
        plain = value.encode()
        parts = [plain[n : n + PART_MAX_BYTES] for n in range(0, len(plain), PART_MAX_BYTES)]
        return [self._encrypt(part, context) for part in parts]

    def decrypt(self, ciphertexts: Sequence[bytes], context: dict[str, str]) -> str:
        """Return the value whose ciphertexts these are."""
        return b"".join(self._decrypt(one, context) for one in ciphertexts).decode()

    def _encrypt(self, part: bytes, context: dict[str, str]) -> bytes:
        answer = self._client.encrypt(KeyId=self._arn, Plaintext=part, EncryptionContext=context)
        ciphertext: bytes = answer["CiphertextBlob"]
        return ciphertext

    def _decrypt(self, ciphertext: bytes, context: dict[str, str]) -> bytes:
        answer = self._client.decrypt(
            KeyId=self._arn, CiphertextBlob=ciphertext, EncryptionContext=context
        )
        plain: bytes = answer["Plaintext"]
        return plain
