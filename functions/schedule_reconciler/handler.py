"""Brings schedules in line with their triggers, fires what is due (EventBridge, every minute)."""

from dataclasses import asdict
from typing import Any, Protocol

from whenthen.engine.composition import process_context
from whenthen.engine.tick_schedules import asked_for, tick

# For the batch that has begun and its messages; what is left over is the next tick's.
_RESERVE_MS = 20_000


class LambdaContext(Protocol):
    def get_remaining_time_in_millis(self) -> int: ...


def lambda_handler(event: dict[str, Any], lambda_context: LambdaContext) -> dict[str, Any]:
    """Tick once; the answer counts schedules brought in line, and what became of instants.

    `{"now": "2026-03-08T07:00:00Z"}` ticks as if it were then, where ACCEPT_TICK_NOW allows it.
    """
    context = process_context("schedule-reconciler")

    def has_time() -> bool:
        return lambda_context.get_remaining_time_in_millis() > _RESERVE_MS

    try:
        ticked = tick(context, has_time, asked_for(event, context.settings))
        return {"aligned": ticked.aligned, **asdict(ticked.fired)}
    finally:
        context.metrics.flush()
