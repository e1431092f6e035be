"""Which automations an event starts.

Two steps, so that matching costs one index lookup: `candidate_scopes` says what the store has to
look up for an event, `match_event` decides over what came back. The decision repeats every
check, so a lookup that returns too much starts nothing by mistake.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final, NamedTuple
from uuid import UUID

from whenthen.domain.ids import parse_id
from whenthen.domain.kinds import EventType, TriggerType
from whenthen.domain.limits import ACTIVATION_TOLERANCE_S
from whenthen.domain.rules.property_name import share_a_name
from whenthen.domain.schemas.events import Event

ANY_PROPERTY: Final = "*"

_TOLERANCE: Final = timedelta(seconds=ACTIVATION_TOLERANCE_S)

# `automation.executed` is for other subsystems: no trigger type listens to it.
_TYPES_BY_EVENT: Final[Mapping[str, tuple[TriggerType, ...]]] = {
    EventType.RECORD_CREATED: (TriggerType.RECORD_CREATED,),
    EventType.RECORD_UPDATED: (TriggerType.RECORD_UPDATED, TriggerType.PROPERTY_CHANGED),
    EventType.FORM_SUBMITTED: (TriggerType.FORM_SUBMITTED,),
    EventType.PAGE_CREATED: (TriggerType.PAGE_CREATED,),
    EventType.WEBHOOK_RECEIVED: (TriggerType.WEBHOOK,),
}


class Scope(NamedTuple):
    """What a trigger and an event of one workspace must share to meet."""

    type: TriggerType
    scope_id: UUID


@dataclass(frozen=True, slots=True)
class Candidate:
    """One trigger as the store keeps it for matching, of an automation that was ACTIVE once."""

    automation_id: UUID
    workspace_id: UUID
    version: int
    trigger_id: UUID
    position: int
    type: TriggerType
    config: Mapping[str, Any]
    # As `trigger_scope` says; None matches nothing.
    scope_id: UUID | None
    active_since: datetime
    is_active: bool = True


@dataclass(frozen=True, slots=True)
class MatchResult:
    """What an event starts: one trigger per automation, by automation id, and who was refused.

    `mismatched` counts the automations whose scope the event met but whose filter, or age, did
    not let it through.
    """

    matched: list[Candidate]
    mismatched: int


def trigger_scope(
    type_: TriggerType,
    config: Mapping[str, Any],
    *,
    automation_id: UUID,
    workspace_id: UUID,
    database_id: UUID | None,
) -> UUID | None:
    """Return what an event must name to meet this trigger; None: nothing can.

    Record and form triggers: the automation's own database, else the one in the config.
    PAGE_CREATED: the workspace. WEBHOOK and SCHEDULE: the automation.
    """
    match type_:
        case TriggerType.PAGE_CREATED:
            return workspace_id
        case TriggerType.WEBHOOK | TriggerType.SCHEDULE:
            return automation_id
        case _:
            return database_id or _id_in(config, "databaseId")


def candidate_scopes(event: Event) -> list[Scope]:
    """Return the scopes to look up, in the event's workspace; none if no trigger can match."""
    scope_id = _scope_id(event)
    if scope_id is None:
        return []
    return [Scope(type_, scope_id) for type_ in _TYPES_BY_EVENT.get(event.type, ())]


def match_event(event: Event, candidates: Sequence[Candidate]) -> MatchResult:
    """Return what `event` starts among `candidates`, of which those out of its scope are ignored.

    Triggers are OR: an automation of which several match is started once, by the first of them.

    Source: docs/architecture.md, "Matching".
    """
    if not candidates:
        return MatchResult([], 0)
    scopes = candidate_scopes(event)
    in_scope = [candidate for candidate in candidates if _in_scope(candidate, event, scopes)]
    in_scope.sort(key=lambda candidate: (candidate.automation_id, candidate.position))
    matched: list[Candidate] = []
    mismatched = 0
    for _, triggers in groupby(in_scope, key=lambda candidate: candidate.automation_id):
        first = next((trigger for trigger in triggers if _accepts(trigger, event)), None)
        if first is None:
            mismatched += 1
        else:
            matched.append(first)
    return MatchResult(matched, mismatched)


def matches(candidate: Candidate, event: Event) -> bool:
    """Return whether `event` starts this trigger's automation.

    A payload whose fields are of a wrong kind matches nothing and is no error.
    """
    return _in_scope(candidate, event, candidate_scopes(event)) and _accepts(candidate, event)


def _scope_id(event: Event) -> UUID | None:
    match event.type:
        case EventType.PAGE_CREATED:
            return event.workspace_id
        case EventType.WEBHOOK_RECEIVED:
            return _id_in(event.payload, "automationId")
        case _:
            return _id_in(event.payload, "databaseId")


def _in_scope(candidate: Candidate, event: Event, scopes: list[Scope]) -> bool:
    return (
        candidate.workspace_id == event.workspace_id
        and (candidate.type, candidate.scope_id) in scopes
    )


def _accepts(candidate: Candidate, event: Event) -> bool:
    return _is_open(candidate, event) and _passes_filter(candidate, event.payload)


def _is_open(candidate: Candidate, event: Event) -> bool:
    """Return whether the automation took events when this one happened, replays aside."""
    if event.type == EventType.WEBHOOK_RECEIVED and event.outbox_id is not None:
        # It was answered with 202 because the automation was ACTIVE, and a 202 is kept: a run of
        # one that was paused or archived meanwhile says so.
        return True
    is_too_old = event.occurred_at < candidate.active_since - _TOLERANCE
    # Whoever puts a webhook's event on the stream by themselves was promised nothing.
    return candidate.is_active and (not is_too_old or event.type == EventType.WEBHOOK_RECEIVED)


def _passes_filter(candidate: Candidate, payload: Mapping[str, Any]) -> bool:
    match candidate.type:
        case TriggerType.PROPERTY_CHANGED:
            return _property_changed(candidate.config["properties"], payload)
        case TriggerType.PAGE_CREATED:
            return _page_named(_id_in(candidate.config, "pageId"), payload)
        case _:
            return True


def _property_changed(wanted: list[str], payload: Mapping[str, Any]) -> bool:
    changed = payload.get("changedProperties")
    if not isinstance(changed, list) or not all(isinstance(name, str) for name in changed):
        return False
    return bool(changed) and (ANY_PROPERTY in wanted or share_a_name(wanted, changed))


def _page_named(wanted: UUID | None, payload: Mapping[str, Any]) -> bool:
    return wanted is None or wanted in (_id_in(payload, "parentId"), _id_in(payload, "pageId"))


def _id_in(values: Mapping[str, Any], key: str) -> UUID | None:
    text = values.get(key)
    return parse_id(text) if isinstance(text, str) else None
