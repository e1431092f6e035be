"""Sees to every row whose own wake-up has come (EventBridge schedule, every minute)."""

from typing import Any, Protocol

from whenthen.engine.composition import process_context
from whenthen.engine.forget import forget
from whenthen.engine.sweep import relay_outbox, sweep_runs, void_leases

# Time that the last batch and its sends may need; what is left waits for the next minute.
_RESERVE_MS = 10_000


class LambdaContext(Protocol):
    def get_remaining_time_in_millis(self) -> int: ...


def lambda_handler(event: dict[str, Any], lambda_context: LambdaContext) -> dict[str, Any]:
    """Sweep runs, relay the outbox, forget what is old; the answer counts each.

    `{"workersGone": true}` (operators, the local stack) voids all leases first: every run is sent
    anew and every event relayed.
    """
    context = process_context("run-watchdog")

    def has_time() -> bool:
        return lambda_context.get_remaining_time_in_millis() > _RESERVE_MS

    try:
        return {
            "voided": void_leases(context) if event.get("workersGone") is True else 0,
            "swept": sweep_runs(context, has_time),
            "relayed": relay_outbox(context, has_time),
            "forgotten": forget(context, has_time),
        }
    finally:
        context.metrics.flush()
