"""Which trigger type the run of an incoming webhook shows."""

import re
from typing import Any, Final

from whenthen.domain.kinds import MANUAL_RUN, SCHEDULE_RUN, EventType

WEBHOOK_RUN: Final = "webhook"

_TYPE: Final = re.compile(r"[A-Za-z0-9._:/-]{1,100}")
# A webhook must not pose as something that the engine itself reports.
_ENGINE_TYPES: Final = frozenset({*EventType, SCHEDULE_RUN, MANUAL_RUN})


def webhook_type(*candidates: Any) -> str:
    """Return the first of `candidates` that a webhook may call itself, else `webhook`.

    ::

        webhook_type(headers.get("webhook-event"), body.get("event"), body.get("type"))
    """
    words = (word for word in candidates if isinstance(word, str) and _TYPE.fullmatch(word))
    return next((word for word in words if word not in _ENGINE_TYPES), WEBHOOK_RUN)
