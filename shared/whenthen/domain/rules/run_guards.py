"""Whether a claimed run may act: asked before its first step, and in part before each further one.

The order decides which reason is given when several hold.

Source: docs/architecture.md, "Guards".
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from whenthen.domain.errors import WhenthenError
from whenthen.domain.kinds import AutomationStatus, SkipReason
from whenthen.domain.limits import ACTIONS_MAX
from whenthen.domain.rules.condition import Evaluation
from whenthen.domain.rules.loop_guard import loop_guard
from whenthen.domain.schemas.events import AutomationContext


@dataclass(frozen=True, slots=True)
class Go:
    """The run may act."""


@dataclass(frozen=True, slots=True)
class Skip:
    """The run ends SUCCEEDED without acting; `explain` is the condition's tree, if it decided."""

    reason: SkipReason
    explain: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """The run ends FAILED, outside any action."""

    code: str
    message: str


Verdict = Go | Skip | Stop


@dataclass(frozen=True, slots=True)
class Standing:
    """How a run and its automation stand now."""

    cancelled: bool
    automation_status: AutomationStatus
    # A manual run, or one retried by hand: it ignores that its automation is paused.
    forced: bool
    has_finished_step: bool


@dataclass(frozen=True, slots=True)
class Start:
    """What is asked once, while no step of the run's generation has been tried."""

    context: AutomationContext | None
    automation_id: UUID
    max_depth: int
    action_count: int
    # Whether another run is at work of a schedule whose runs may not overlap; else this one is now.
    overlaps: Callable[[], bool]
    # Looks at the condition; raises CONDITION_INVALID when the stored tree no longer validates.
    evaluate: Callable[[], Evaluation]


def before_claimed_run(standing: Standing, start: Start | None) -> Verdict:
    """Return what a claimed run may do; `start` is None once a step of it has been tried."""
    verdict = before_further_step(standing)
    if not isinstance(verdict, Go):
        return verdict
    paused = standing.automation_status == AutomationStatus.PAUSED and not standing.forced
    if paused and not standing.has_finished_step:
        return Skip(SkipReason.AUTOMATION_PAUSED)
    return verdict if start is None else _before_first_step(start)


def before_further_step(standing: Standing) -> Verdict:
    """Return whether a run that is under way may take its next step.

    A run without a finished step has done nothing yet, so an archived automation skips it; one
    with a finished step is half done, and that must show as a failure.
    """
    if standing.cancelled:
        return Stop("CANCELLED", "the run was cancelled")
    if standing.automation_status == AutomationStatus.ARCHIVED:
        if standing.has_finished_step:
            return Stop("AUTOMATION_ARCHIVED", "the automation was archived while the run was on")
        return Skip(SkipReason.AUTOMATION_ARCHIVED)
    return Go()


def _before_first_step(start: Start) -> Verdict:
    looped = loop_guard(start.context, start.automation_id, start.max_depth)
    if looped is not None:
        return Skip(looped)
    if start.action_count > ACTIONS_MAX:
        return Stop("ACTION_COUNT", f"{start.action_count} actions, at most {ACTIONS_MAX} can run")
    if start.overlaps():
        return Skip(SkipReason.OVERLAP)
    try:
        evaluation = start.evaluate()
    except WhenthenError as error:
        return Stop(error.code, error.message)
    if evaluation.result:
        return Go()
    return Skip(SkipReason.CONDITIONS_NOT_MET, evaluation.explain)
