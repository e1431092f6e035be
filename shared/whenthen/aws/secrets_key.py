"""The KMS key that workspace secrets are encrypted with; this file is all the crypto there is."""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from threading import Lock
from time import monotonic
from typing import Any, Final

from whenthen.aws.clients import make_client

# AWS KMS, Encrypt: up to 4,096 bytes of plaintext with a symmetric key.
PART_MAX_BYTES: Final = 4_096
# It is called inside a transaction: two tries of two seconds are as long as that may wait.
_ATTEMPTS: Final = 2
_READ_TIMEOUT_S: Final = 2
# A key that is disabled or taken away opens nothing any more after this long; each call that is
# saved is 10 ms of a step, and of the account's quota.
_OPENED_FOR_S: Final = 300
_OPENED_MAX: Final = 256


class SecretsKey:
    """One KMS key, by its ARN.

    The encryption context goes into the ciphertext and into CloudTrail: what was encrypted for one
    workspace and name opens for no other.
    """

    def __init__(self, arn: str) -> None:
        self._arn = arn
        # Digest of a ciphertext and its context → when it was opened, and what was in it.
        self._opened: OrderedDict[bytes, tuple[float, bytes]] = OrderedDict()
        self._lock = Lock()

    @cached_property
    def _client(self) -> Any:
        return make_client("kms", attempts=_ATTEMPTS, read_timeout_s=_READ_TIMEOUT_S)

    @cached_property
    def _step_client(self) -> Any:
        # Within a step: another try is the run's own to make.
        return make_client("kms", attempts=1, read_timeout_s=_READ_TIMEOUT_S)

    def encrypt(self, value: str, context: dict[str, str]) -> list[bytes]:
        """Return the ciphertexts of `value`, one for each 4,096 bytes of its UTF-8."""
        plain = value.encode()
        parts = [plain[n : n + PART_MAX_BYTES] for n in range(0, len(plain), PART_MAX_BYTES)]
        return [self._encrypt(part, context) for part in parts]

    def decrypt(self, ciphertexts: Sequence[bytes], context: dict[str, str]) -> str:
        """Return the value whose ciphertexts these are.

        What was opened within the last minutes is known still, by its ciphertext and context: a
        secret that is set anew has another ciphertext.
        """
        return b"".join(self._decrypt(one, context) for one in ciphertexts).decode()

    def _encrypt(self, part: bytes, context: dict[str, str]) -> bytes:
        answer = self._client.encrypt(KeyId=self._arn, Plaintext=part, EncryptionContext=context)
        ciphertext: bytes = answer["CiphertextBlob"]
        return ciphertext

    def _decrypt(self, ciphertext: bytes, context: dict[str, str]) -> bytes:
        digest = hashlib.sha256(repr(sorted(context.items())).encode() + ciphertext).digest()
        with self._lock:
            since_s, plain = self._opened.get(digest, (0.0, b""))
        if plain and monotonic() - since_s < _OPENED_FOR_S:
            return plain
        answer = self._step_client.decrypt(
            KeyId=self._arn, CiphertextBlob=ciphertext, EncryptionContext=context
        )
        opened: bytes = answer["Plaintext"]
        with self._lock:
            self._opened[digest] = (monotonic(), opened)
            self._opened.move_to_end(digest)
            while len(self._opened) > _OPENED_MAX:
                self._opened.popitem(last=False)
        return opened
