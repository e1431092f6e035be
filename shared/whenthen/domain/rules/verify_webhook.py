"""Whether an incoming webhook was signed with its secret: Standard Webhooks, symmetric scheme."""

import hmac
import re
from collections.abc import Mapping
from typing import Final

from whenthen.domain.errors import WebhookSignatureError
from whenthen.domain.limits import WEBHOOK_TIMESTAMP_TOLERANCE_S
from whenthen.domain.rules.webhook_signature import sign

# A key being changed makes for two signatures, of 47 characters each.
SIGNATURES_MAX_CHARS: Final = 4_096

_ID: Final = re.compile(r"[!-~]+")
# ASCII digits only, which `\d` is not. No zeros before them, since the text is what was signed.
_TIMESTAMP: Final = re.compile(r"[1-9][0-9]{0,14}")


def verify_webhook(
    key: bytes, headers: Mapping[str, str], body: bytes, *, now_s: float, required: bool
) -> None:
    """Return when the headers carry a signature of the exact `body` by `key`, or need none.

    `headers` have lower-case names; `now_s`: seconds since 1970. Without `webhook-signature` the
    request is unsigned, which only `required` forbids.

    Raises:
        WebhookSignatureError: missing although required, wrong, unreadable, or more than 300 s
            old or ahead.

    Source: https://www.standardwebhooks.com, "Verifying webhook authenticity".
    """
    given = headers.get("webhook-signature")
    if given is None:
        if required:
            raise WebhookSignatureError("this webhook must be signed")
        return
    message, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not _ID.fullmatch(message) or not _TIMESTAMP.fullmatch(timestamp):
        raise WebhookSignatureError("webhook-id or webhook-timestamp is missing or unreadable")
    if abs(now_s - int(timestamp)) > WEBHOOK_TIMESTAMP_TOLERANCE_S:
        raise WebhookSignatureError("webhook-timestamp is too far from now")
    if len(given) > SIGNATURES_MAX_CHARS or not _is_among(
        sign(key, message, int(timestamp), body), given
    ):
        raise WebhookSignatureError("no signature fits the body")


def _is_among(signature: str, given: str) -> bool:
    """Compare with each signature of the list, as bytes: texts beyond ASCII raise a TypeError."""
    wanted = signature.encode()
    candidates = given.encode("utf-8", "surrogatepass").split(b" ")
    return any(hmac.compare_digest(wanted, candidate) for candidate in candidates)
