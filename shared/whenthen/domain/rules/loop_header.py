"""The signed header by which a chain of runs stays known when it goes out over HTTP and back in.

::

    whenthen-context: v1.1796045352.eyJhdXRvbWF0aW9uSWQi….kJ0p…

Version, the second since 1970 at which it ends, the context with its workspace as base64 of JSON,
and the signature of all that. Who holds no key can neither make nor change one; who leaves it out
begins a new chain, as any stranger does.

Source: docs/decisions/0016-loop-header.md.
"""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from whenthen.domain import json_text
from whenthen.domain.limits import LOOP_HEADER_LIVES_S
from whenthen.domain.rules.outgoing_url import OutgoingUrl, read_outgoing_url
from whenthen.domain.schemas.events import (
    AutomationContext,
    EventUnreadableError,
    read_context,
)

# Below `whenthen-`, where no automation may set a header of its own.
NAME: Final = "whenthen-context"
# A chain of a hundred automations, the most that a depth limit allows, takes 5,500.
MAX_CHARS: Final = 8_192

_VERSION: Final = "v1"
_FORM: Final = re.compile(r"v1\.([1-9][0-9]{0,14})\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{43})")


def leads_home(url: OutgoingUrl, public_url: str | None) -> bool:
    """Return whether `url` is of this deployment itself: scheme, host and port of `public_url`.

    Only there may the header go: elsewhere it would tell of runs, and over plain HTTP everybody
    on the way.
    """
    # Its own address may be a private one; what is asked here is only how it is written.
    home = read_outgoing_url(public_url, _Anything()) if public_url else None
    if home is None:
        return False
    return (url.scheme, url.host, url.port) == (home.scheme, home.host, home.port)


def sign_context(key: bytes, workspace_id: UUID, context: AutomationContext, now_s: int) -> str:
    """Return the header's value for a request of `workspace_id` that is made at `now_s`."""
    content = json_text.dumps({"workspaceId": str(workspace_id), **context.to_json()})
    signed = f"{_VERSION}.{now_s + LOOP_HEADER_LIVES_S}.{_encoded(content.encode())}"
    return f"{signed}.{_signature(key, signed)}"


def read_signed_context(
    keys: Iterable[bytes], value: str, workspace_id: UUID | None, now_s: float
) -> AutomationContext | None:
    """Return the context that `value` carries into `workspace_id`; None if it is not ours.

    Forged, altered, over, or made to last longer than an hour: all the same as no header. From
    another workspace only the depth counts, so that no tenant learns of another's runs or stops
    another's automations by name.
    """
    parts = _FORM.fullmatch(value) if len(value) <= MAX_CHARS else None
    if parts is None or not now_s < int(parts[1]) <= now_s + LOOP_HEADER_LIVES_S:
        return None
    signed, _, signature = value.rpartition(".")
    if not any(hmac.compare_digest(_signature(key, signed), signature) for key in keys):
        return None
    return _context(parts[2], workspace_id)


def _context(content: str, workspace_id: UUID | None) -> AutomationContext | None:
    try:
        stated: Any = json_text.loads(base64.urlsafe_b64decode(content + "=" * (-len(content) % 4)))
        context = read_context(stated)
    except (binascii.Error, json_text.JsonError, EventUnreadableError):
        # Signed by newer code, in a form of its own.
        return None
    if context is None or stated.get("workspaceId") == str(workspace_id):
        return context
    return replace(context, automation_id=None, run_id=None, root_run_id=None, chain=())


def _signature(key: bytes, signed: str) -> str:
    # The name goes in first, so that no signature of another kind by this key passes for one.
    return _encoded(hmac.digest(key, f"{NAME}:{signed}".encode(), hashlib.sha256))


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class _Anything:
    def __contains__(self, _host: object) -> bool:
        return True
