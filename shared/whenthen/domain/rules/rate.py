"""How runs that automations start in each other are spread over time, and when that is stopped.

Only runs of depth ≥ 1 or by webhook are counted: a burst of ordinary events is never delayed, for
fairness between workspaces is the queue's.

Source: docs/architecture.md, "Rates".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Counts:
    """Counted runs of one automation so far, before those that are to be placed."""

    this_minute: int
    this_day: int


@dataclass(frozen=True, slots=True)
class Placement:
    """When a run is due, and whether it is above the day's limit and must not act at all."""

    due_in_s: int
    over_limit: bool


def is_counted(depth: int, *, by_webhook: bool) -> bool:
    """Return whether a run started so counts towards its automation's rates."""
    return depth >= 1 or by_webhook


class RatePlan:
    """Places the counted runs of one batch, automation by automation, in their order."""

    def __init__(
        self, counts: Mapping[UUID, Counts], *, runs_per_minute: int, runs_per_day: int
    ) -> None:
        self._counts = dict(counts)
        self._runs_per_minute = runs_per_minute
        self._runs_per_day = runs_per_day

    def place(self, automation_id: UUID) -> Placement:
        """Return the place of the automation's next run, and count it.

        The n-th run of a minute is due ⌊(n - 1) / limit⌋ minutes later.
        """
        before = self._counts.get(automation_id, Counts(0, 0))
        self._counts[automation_id] = Counts(before.this_minute + 1, before.this_day + 1)
        minutes = before.this_minute // self._runs_per_minute
        return Placement(minutes * 60, over_limit=before.this_day >= self._runs_per_day)
