"""Sends entries in batches, and again those that failed inside a 200."""

import logging
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from whenthen.aws.clients import aws_errors

Entry = TypeVar("Entry")

TRIES = 3
# Waits between the tries: 50 and 100 ms. More would only delay the sweep, which sends what is left.
_PAUSE_S = 0.05

_log = logging.getLogger("whenthen.aws")


def send_all(
    entries: Sequence[Entry], send: Callable[[Sequence[Entry]], list[Entry]], what: str
) -> list[Entry]:
    """Return those of `entries` that could not be sent, after three tries each.

    `send` makes one call for one batch and returns the entries that the answer names as failed;
    an AWS error counts as a failure of the whole batch. `what` names the target in the log.
    """
    left = list(entries)
    for attempt in range(TRIES):
        if attempt:
            time.sleep(_PAUSE_S * 2 ** (attempt - 1))
        try:
            left = send(left)
        except aws_errors() as error:
            _log.warning(
                "send failed", extra={"target": what, "entries": len(left), "error": str(error)}
            )
        if not left:
            return []
    _log.error("entries not sent", extra={"target": what, "entries": len(left)})
    return left
