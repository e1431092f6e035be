from typing import Any

import pytest

from whenthen.domain.errors import InvalidError
from whenthen.domain.schemas import problems
from whenthen.domain.schemas.host_events import EVENTS_MAX, EventsBody

EVENT = {"type": "page.created", "payload": {}}


def paths(value: Any) -> list[str]:
    with pytest.raises(InvalidError) as caught:
        problems.read(EventsBody, value)
    details: Any = caught.value.details
    return [detail["path"] for detail in details]


def test_one_event_and_a_list_read_alike() -> None:
    one, many = problems.read(EventsBody, EVENT), problems.read(EventsBody, [EVENT])
    assert one.events == many.events
    assert (one.is_list, many.is_list) == (False, True)
    assert problems.read(EventsBody, []).events == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({}, ["type", "payload"]),
        ({**EVENT, "id": ""}, ["id"]),
        ({**EVENT, "id": "x" * 256}, ["id"]),
        ({**EVENT, "occurredAt": "x"}, ["occurredAt"]),
        ([EVENT, {**EVENT, "payload": 1}], ["[1].payload"]),
        ([None], ["[0]"]),
        (None, [""]),
        ([EVENT] * (EVENTS_MAX + 1), [""]),
    ],
)
def test_a_fault_is_told_by_its_place(value: Any, expected: list[str]) -> None:
    assert paths(value) == expected


def test_a_context_may_be_sent_whatever_it_is() -> None:
    assert problems.read(EventsBody, {**EVENT, "automationContext": [1, {}]}).events


def test_the_longest_id_and_the_longest_list_are_taken() -> None:
    longest = {**EVENT, "id": "x" * 255}
    assert len(problems.read(EventsBody, [longest] * EVENTS_MAX).events) == EVENTS_MAX
