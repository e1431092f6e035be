"""An event made up of a record, for want of a real one."""

from typing import Any
from uuid import UUID

import pytest

from whenthen.domain.kinds import TriggerType
from whenthen.domain.rules.sample_event import sample_event, sampled_trigger

DATABASE, RECORD = UUID(int=1), UUID(int=2)
PROPERTIES = {"Name": "Tap", "Status": "B"}
SEEN = {
    "databaseId": str(DATABASE),
    "recordId": str(RECORD),
    "recordVersion": 3,
    "properties": PROPERTIES,
}


@pytest.mark.parametrize(
    ("type_", "config", "event", "changed"),
    [
        ("RECORD_CREATED", {}, "record.created", None),
        ("FORM_SUBMITTED", {}, "form.submitted", None),
        ("RECORD_UPDATED", {}, "record.updated", ["Name", "Status"]),
        ("PROPERTY_CHANGED", {"properties": ["*"]}, "record.updated", ["Name", "Status"]),
        ("PROPERTY_CHANGED", {"properties": ["Status"]}, "record.updated", ["Status"]),
        ("PROPERTY_CHANGED", {"properties": ["Due", "*"]}, "record.updated", ["Due"]),
    ],
)
def test_a_record_is_reported_as_the_trigger_would_hear_of_it(
    type_: str, config: dict[str, Any], event: str, changed: list[str] | None
) -> None:
    trigger = {"type": type_, "config": config}
    found, payload = sample_event(trigger, DATABASE, RECORD, PROPERTIES, 3)
    assert found == event
    if changed is None:
        assert payload == SEEN
    else:
        previous = {name: PROPERTIES.get(name) for name in changed}
        assert payload == {**SEEN, "changedProperties": changed, "previous": previous}


def test_the_first_trigger_that_listens_to_records_is_taken() -> None:
    listening = {"RECORD_CREATED", "FORM_SUBMITTED", "RECORD_UPDATED", "PROPERTY_CHANGED"}
    triggers: list[dict[str, Any]] = [{"type": one.value, "config": {}} for one in TriggerType]
    for trigger in triggers:
        found = sampled_trigger([trigger])
        assert (found is trigger) is (trigger["type"] in listening)
    deaf = [one for one in triggers if one["type"] not in listening]
    hearing = [one for one in triggers if one["type"] in listening]
    assert sampled_trigger([*deaf, *reversed(hearing)]) is hearing[-1]
    assert sampled_trigger([]) is None
