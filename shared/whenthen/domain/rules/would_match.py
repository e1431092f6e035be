"""Whether an event would start an automation and its run would act, and what is against it."""

from collections.abc import Sequence
from enum import StrEnum

from whenthen.domain.kinds import (
    MANUAL_RUN,
    SCHEDULE_RUN,
    AutomationStatus,
    EventType,
    SkipReason,
    TriggerType,
)
from whenthen.domain.rules.matching import Candidate, matches
from whenthen.domain.schemas.events import Event

_MATCHED_EVENTS = frozenset(
    {
        EventType.RECORD_CREATED,
        EventType.RECORD_UPDATED,
        EventType.PAGE_CREATED,
        EventType.FORM_SUBMITTED,
    }
)


class Obstacle(StrEnum):
    """Why nothing would be done, the first that holds."""

    NO_EVENT = "no_event"
    FILTER_MISMATCH = "filter_mismatch"
    NOT_ACTIVE = "not_active"
    SELF_TRIGGER = "self_trigger"
    DEPTH_LIMIT = "depth_limit"
    CONDITIONS_NOT_MET = "conditions_not_met"


def is_started_by(event: Event, candidates: Sequence[Candidate]) -> bool:
    """Return whether one of an automation's triggers takes `event`, its status aside.

    A person's start needs no trigger. A schedule's needs a SCHEDULE. What bears a type that is
    not the engine's comes from a webhook.
    """
    if event.type == MANUAL_RUN:
        return True
    if event.type in _MATCHED_EVENTS:
        return any(matches(candidate, event) for candidate in candidates)
    if event.type == EventType.AUTOMATION_EXECUTED:
        return False
    wanted = TriggerType.SCHEDULE if event.type == SCHEDULE_RUN else TriggerType.WEBHOOK
    return any(candidate.type == wanted for candidate in candidates)


def obstacle(
    *, event: Event, started: bool, status: AutomationStatus, looped: SkipReason | None, holds: bool
) -> Obstacle | None:
    """Return the first of what is against a run that acts, None if nothing is.

    `started` is the answer of `is_started_by`, `looped` that of the loop guard, `holds` whether the
    condition does. A person may start whatever is not archived.
    """
    if not started:
        return Obstacle.FILTER_MISMATCH
    archived = status is AutomationStatus.ARCHIVED
    if archived if event.type == MANUAL_RUN else status is not AutomationStatus.ACTIVE:
        return Obstacle.NOT_ACTIVE
    if looped is not None:
        return Obstacle(looped.value)
    return None if holds else Obstacle.CONDITIONS_NOT_MET
