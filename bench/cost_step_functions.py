"""What AWS Step Functions charges for the same work: a condition, then two actions in a row."""

import math

from bench.cost_prices import MILLION, PRICES

# Entered by each execution: the choice, and a task for each of the two actions. What some count
# besides, a start and an end, is left out.
ACTIONS = 2
STATES = 1 + ACTIONS
# An execution of Express is billed in steps of 100 ms and of 64 MB (50 MB and its data).
STEP_MS = 100
MEMORY_MB = 64


def standard_usd(executions: int = MILLION) -> float:
    """Return what Standard charges for its own part: the functions that act come on top."""
    return PRICES["state_transition"].of(STATES * executions)


def express_usd(execution_ms: float, executions: int = MILLION) -> float:
    """Return what Express charges for its own part; nothing of it is kept unless it is logged."""
    billed_s = math.ceil(execution_ms / STEP_MS) * STEP_MS / 1_000
    gb_s = billed_s * MEMORY_MB / 1_024 * executions
    return PRICES["express_request"].of(executions) + PRICES["express_gb_s"].of(gb_s)


def acting_usd(acting_ms: float, memory_mb: int, executions: int = MILLION) -> float:
    """Return what the functions charge that carry out the two actions, `acting_ms` in all."""
    gb_s = acting_ms / 1_000 * memory_mb / 1_024 * executions
    requests = ACTIONS * executions
    return PRICES["function_request"].of(requests) + PRICES["function_gb_s"].of(gb_s)
