"""Sends messages of what has committed; what cannot be sent wakes by its row, and is counted."""

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from whenthen.aws.run_queue import QueuedRun
from whenthen.domain.schemas.notices import DeathNotice

if TYPE_CHECKING:
    from whenthen.engine.context import Context

_log = logging.getLogger("whenthen.send")


def send_runs(context: "Context", runs: Sequence[QueuedRun]) -> None:
    """Tell the queue of committed runs; the row of one that fails wakes within two minutes."""
    if runs and (failed := context.run_queue.send(runs)):
        context.metrics.count("automations.enqueue_failed", len(failed))
        _log.error("runs left to the sweep", extra={"runs": len(failed)})


def send_notices(context: "Context", notices: Sequence[DeathNotice]) -> None:
    """Tell the notifier of deaths; the row of one that fails wakes within two minutes."""
    if notices and (failed := context.notice_queue.send(notices)):
        context.metrics.count("automations.notice_failed", len(failed))
        _log.error("notices left to the sweep", extra={"notices": len(failed)})
