"""The secret of a WEBHOOK trigger: made here, shown once, kept as a digest."""

import base64
import hashlib
import secrets
from dataclasses import dataclass, field

from whenthen.domain.schemas.triggers import webhook_key

SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class WebhookSecret:
    """The bytes of one secret; never logged, since `repr` leaves them out."""

    key: bytes = field(repr=False)

    @property
    def text(self) -> str:
        """The form that Standard Webhooks libraries take: `whsec_` and base64."""
        return "whsec_" + base64.b64encode(self.key).decode()

    @property
    def token(self) -> str:
        """The last part of the incoming URL: URL-safe base64 without padding."""
        return base64.urlsafe_b64encode(self.key).rstrip(b"=").decode()

    @property
    def digest(self) -> bytes:
        """What is stored, and what an incoming token is looked up by."""
        return hashlib.sha256(self.key).digest()


def make_secret() -> WebhookSecret:
    """Return a secret of 32 random bytes."""
    return WebhookSecret(secrets.token_bytes(SECRET_BYTES))


def given_secret(text: str) -> WebhookSecret:
    """Return the secret that a validated trigger carries."""
    return WebhookSecret(webhook_key(text) or b"")
