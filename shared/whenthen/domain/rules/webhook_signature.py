"""How a webhook proves whose it is and which one it is: Standard Webhooks, symmetric scheme.

Source: https://www.standardwebhooks.com, "Signature scheme".
"""

import base64
import hashlib
import hmac
from typing import Final
from uuid import UUID

from whenthen.domain.schemas.triggers import webhook_key

_KEY_PREFIX: Final = "whsec_"


def message_id(run_id: UUID, generation: int, action_id: UUID) -> str:
    """Return the id of what a step sends: `msg_{run}_{generation}_{action}`.

    It is the same for every attempt, also after a crash, so that a receiver can tell a repetition;
    a run that is started anew by hand has a new generation. It holds no full stop, which separates
    the parts of what is signed.
    """
    return f"msg_{run_id}_{generation}_{action_id}"


def signing_key(secret: str) -> bytes:
    """Return the key that `secret` stands for.

    `whsec_` and base64, padded or not, stand for those bytes; anything else for its UTF-8.
    """
    if not secret.startswith(_KEY_PREFIX):
        return secret.encode()
    padding = "=" * (-len(secret.removeprefix(_KEY_PREFIX)) % 4)
    # `whsec_` alone would be an empty key, with which anybody can sign.
    return webhook_key(secret + padding) or secret.encode()


def sign(key: bytes, message: str, timestamp: int, body: bytes) -> str:
    """Return the `webhook-signature` of `body` under the id `message`: `v1,` and base64.

    `timestamp`: seconds since 1970, of this attempt.
    """
    content = f"{message}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()
