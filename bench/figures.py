"""What parts of the bench return, and what becomes of many times and of a curve."""

import math
from collections.abc import Sequence
from typing import Any

Figures = dict[str, Any]
# A cost that grows by no more than this over the whole range is called flat.
FLAT_MAX_RATIO = 1.5
# Growth with n to a power of at least this is called linear.
LINEAR_MIN_POWER = 0.8


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest of `values` that at least `share` (0..1) of them do not exceed."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)]


def shape(sizes: Sequence[float], costs: Sequence[float]) -> str:
    """Return how `costs` follow `sizes`: "flat", "linear", "falls", or the power such as "n^0.42".

    The first and the last point decide.
    """
    ratio = costs[-1] / costs[0]
    if ratio < 1 / FLAT_MAX_RATIO:
        return "falls"
    if ratio <= FLAT_MAX_RATIO:
        return "flat"
    power = math.log(ratio) / math.log(sizes[-1] / sizes[0])
    return "linear" if power >= LINEAR_MIN_POWER else f"n^{power:.2f}"
