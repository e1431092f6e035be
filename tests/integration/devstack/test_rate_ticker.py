"""A rate invokes its function again and again, whatever becomes of an invocation."""

import queue
from typing import Any

from devstack.function_pool import PoolClosedError
from devstack.rate_ticker import RateTicker
from devstack.sandbox import Invocation
from devstack.stack_deploy import RateRule

SOON_S = 60


def ticker(every_s: float, event: Any, invoke: Any) -> RateTicker:
    # Rates are whole minutes; the loop itself does not mind.
    return RateTicker("123456789012", RateRule("Tick", "F", every_s, event), invoke)  # type: ignore[arg-type]


def test_a_function_is_invoked_at_the_rate_and_a_failure_is_not_tried_again() -> None:
    events: queue.Queue[Any] = queue.Queue()

    def invoke(event: Any) -> Invocation:
        events.put(event)
        return Invocation(error={"errorType": "Broken"})

    ticking = ticker(0.01, None, invoke)
    ticking.start()
    first, second = events.get(timeout=SOON_S), events.get(timeout=SOON_S)
    ticking.stop()
    ticking.join(SOON_S)
    assert first["detail-type"] == "Scheduled Event"
    assert first["resources"] == ["arn:aws:events:eu-west-1:123456789012:rule/Tick"]
    assert first["id"] != second["id"]


def test_a_rules_own_input_is_the_event() -> None:
    events: queue.Queue[Any] = queue.Queue()

    def invoke(event: Any) -> Invocation:
        events.put(event)
        raise PoolClosedError("F")

    ticking = ticker(0.01, {"a": 1}, invoke)
    ticking.start()
    assert events.get(timeout=SOON_S) == {"a": 1}
    # The stack is going down, so the loop has ended by itself.
    ticking.join(SOON_S)
    assert events.empty()


def test_nothing_is_invoked_before_a_whole_interval_has_passed() -> None:
    events: list[Any] = []
    ticking = ticker(3_600, None, events.append)
    ticking.start()
    ticking.stop()
    ticking.join(SOON_S)
    assert events == []
