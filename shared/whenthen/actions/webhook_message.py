"""What a webhook says: the exact bytes of its body, and its headers."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from whenthen.actions.as_text import as_text
from whenthen.actions.requests import StepRequest
from whenthen.domain import json_text
from whenthen.domain.errors import FatalError
from whenthen.domain.rules.outgoing_url import OutgoingUrl
from whenthen.domain.rules.webhook_signature import message_id, sign, signing_key

# Of methods that are made to carry a body, servers want to be told that there is none.
_CARRIES_BODY: Final = frozenset({"POST", "PUT", "PATCH"})
# A filled-in value may hold anything; a line break would begin a header of its own.
_HEADER_TEXT: Final = re.compile("[^\0-\x08\x0a-\x1f\x7f]*")


@dataclass(frozen=True, slots=True)
class Message:
    """One request as it goes out."""

    method: str
    headers: list[tuple[bytes, bytes]]
    content: bytes | None


def compose(request: StepRequest, url: OutgoingUrl, timestamp: int) -> Message:
    """Return the message of `request`, as sent at `timestamp` (seconds since 1970).

    A text body goes out as it is, any other value as its JSON, null not at all. The action's own
    headers take the place of ours, the reserved ones apart, which it cannot set.

    Raises:
        FatalError: ACTION_CONFIG_INVALID, a header's value has a line break or the like; or
            TEMPLATE_MISSING, the signing secret is a template without a value.

    """
    config = request.config
    method = config["method"]
    content, content_type = _content(config.get("body"))
    headers = {
        "accept": "*/*",
        # Answers are small, and what is not compressed cannot explode.
        "accept-encoding": "identity",
        "user-agent": "whenthen",
        **content_type,
        **{name.lower(): as_text(value) for name, value in config["headers"].items()},
        "host": url.authority,
        "connection": "close",
    }
    if content is not None or method in _CARRIES_BODY:
        headers["content-length"] = str(len(content or b""))
    headers.update(_identity(request, timestamp, content or b""))
    headers.update(request.own_headers)
    return Message(method, [_encoded(name, value) for name, value in headers.items()], content)


def _content(body: Any) -> tuple[bytes | None, Mapping[str, str]]:
    if body is None:
        return None, {}
    if isinstance(body, str):
        return body.encode(), {"content-type": "text/plain; charset=utf-8"}
    return json_text.dumps(body).encode(), {"content-type": "application/json"}


def _identity(request: StepRequest, timestamp: int, body: bytes) -> dict[str, str]:
    message = message_id(request.run_id, request.generation, request.action_id)
    headers = {
        "webhook-id": message,
        "webhook-timestamp": str(timestamp),
        "idempotency-key": message,
    }
    if "signingSecret" not in request.config:
        return headers
    secret = as_text(request.config["signingSecret"])
    if not secret:
        # Who asked for a signature must not send without one.
        raise FatalError("TEMPLATE_MISSING", "signingSecret has no value")
    return {**headers, "webhook-signature": sign(signing_key(secret), message, timestamp, body)}


def _encoded(name: str, value: str) -> tuple[bytes, bytes]:
    stripped = value.strip()
    if not _HEADER_TEXT.fullmatch(stripped):
        raise FatalError(
            "ACTION_CONFIG_INVALID", f"headers.{name}: has a character that no header can carry"
        )
    return name.encode(), stripped.encode()
