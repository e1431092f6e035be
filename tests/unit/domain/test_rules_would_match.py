"""Whether an event would start an automation, and what is against it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import product
from typing import Any
from uuid import UUID

import pytest

from whenthen.domain.kinds import AutomationStatus, EventType, SkipReason, TriggerType
from whenthen.domain.rules.matching import Candidate
from whenthen.domain.rules.would_match import Obstacle, is_started_by, obstacle
from whenthen.domain.schemas.events import Event

WORKSPACE, AUTOMATION, DATABASE, TRIGGER = (UUID(int=n) for n in range(1, 5))
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def event(type_: str, payload: Mapping[str, Any] | None = None) -> Event:
    return Event("e", type_, WORKSPACE, NOW, payload or {})


def candidate(type_: TriggerType) -> Candidate:
    return Candidate(
        AUTOMATION, WORKSPACE, 1, TRIGGER, 0, type_, {}, scope_id=DATABASE, active_since=NOW
    )


HERE = {"databaseId": str(DATABASE)}


@pytest.mark.parametrize(
    ("type_", "payload", "triggers", "started"),
    [
        ("manual", {}, [], True),
        ("record.created", HERE, [TriggerType.RECORD_CREATED], True),
        ("record.created", HERE, [TriggerType.WEBHOOK, TriggerType.RECORD_CREATED], True),
        ("record.created", {}, [TriggerType.RECORD_CREATED], False),
        ("record.created", HERE, [TriggerType.RECORD_UPDATED], False),
        ("record.created", HERE, [], False),
        ("automation.executed", HERE, list(TriggerType), False),
        ("schedule", {}, [TriggerType.SCHEDULE], True),
        ("schedule", {}, [TriggerType.WEBHOOK], False),
        ("webhook", {}, [TriggerType.WEBHOOK], True),
        ("webhook.received", {}, [TriggerType.WEBHOOK], True),
        ("order.paid", {}, [TriggerType.WEBHOOK], True),
        ("order.paid", {}, [TriggerType.SCHEDULE], False),
    ],
)
def test_an_event_starts_what_one_of_its_triggers_takes(
    type_: str, payload: Mapping[str, Any], triggers: list[TriggerType], *, started: bool
) -> None:
    found = is_started_by(event(type_, payload), [candidate(one) for one in triggers])
    assert found is started


@pytest.mark.parametrize("type_", ["record.created", "manual"])
def test_the_first_obstacle_of_all_that_hold_is_given(type_: str) -> None:
    looped = [None, SkipReason.SELF_TRIGGER, SkipReason.DEPTH_LIMIT]
    for started, status, loop, holds in product(
        (True, False), AutomationStatus, looped, (True, False)
    ):
        idle = status != "ARCHIVED" if type_ == "manual" else status == "ACTIVE"
        expected = (
            Obstacle.FILTER_MISMATCH
            if not started
            else Obstacle.NOT_ACTIVE
            if not idle
            else loop
            if loop is not None
            else None
            if holds
            else Obstacle.CONDITIONS_NOT_MET
        )
        found = obstacle(
            event=event(type_), started=started, status=status, looped=loop, holds=holds
        )
        assert found == expected


def test_every_event_of_the_stream_is_judged() -> None:
    for type_ in EventType:
        assert is_started_by(event(type_), []) is False
