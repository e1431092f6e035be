"""Invokes a function at a rate, as an EventBridge rule does."""

import threading
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from devstack.function_pool import PoolClosedError
from devstack.sandbox import Invocation
from devstack.stack_deploy import RateRule
from devstack.stack_template import REGION

Invoke = Callable[[Any], Invocation]


class RateTicker:
    """One loop; a tick that fails is not tried again, and one that takes long delays the next."""

    def __init__(self, account_id: str, rule: RateRule, invoke: Invoke) -> None:
        self._account_id = account_id
        self._rule = rule
        self._invoke = invoke
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._tick, name=rule.name, daemon=True)

    def start(self) -> None:
        """Tick from now on, first after a whole interval."""
        self._thread.start()

    def stop(self) -> None:
        """Tick no more; an invocation in work goes on."""
        self._stop.set()

    def join(self, timeout_s: float) -> None:
        self._thread.join(timeout_s)

    def _tick(self) -> None:
        while not self._stop.wait(self._rule.every_s):
            event = self._rule.event
            try:
                self._invoke(
                    scheduled_event(self._account_id, self._rule) if event is None else event
                )
            except PoolClosedError:
                return


def scheduled_event(account_id: str, rule: RateRule) -> dict[str, Any]:
    """Return EventBridge's event of a rule, at this second.

    Source: AWS, EventBridge User Guide, "Creating a rule that runs on a schedule".
    """
    return {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "account": account_id,
        "time": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "region": REGION,
        "resources": [f"arn:aws:events:{REGION}:{account_id}:rule/{rule.name}"],
        "detail": {},
    }
