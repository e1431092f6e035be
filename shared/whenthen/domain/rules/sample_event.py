"""An event for want of a real one: what would be reported of a record that is there."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from whenthen.domain.kinds import EventType, TriggerType
from whenthen.domain.rules import data_events
from whenthen.domain.rules.matching import ANY_PROPERTY

# In the order in which a trigger is chosen; each listens to what happens to a record.
_RECORD_TRIGGERS = (
    TriggerType.RECORD_CREATED,
    TriggerType.FORM_SUBMITTED,
    TriggerType.RECORD_UPDATED,
    TriggerType.PROPERTY_CHANGED,
)


def sampled_trigger(triggers: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the first of `triggers` (`{"type", "config"}`) that listens to records, or None."""
    return next((one for one in triggers if one["type"] in _RECORD_TRIGGERS), None)


def sample_event(
    trigger: Mapping[str, Any],
    database_id: UUID,
    record_id: UUID,
    properties: Mapping[str, Any],
    version: int,
) -> tuple[EventType, dict[str, Any]]:
    """Return type and payload of the event by which this record would start `trigger`.

    Where a change is listened to, the record counts as changed into what it is, from what it is.
    """
    match TriggerType(trigger["type"]):
        case TriggerType.RECORD_UPDATED | TriggerType.PROPERTY_CHANGED:
            payload = data_events.record_updated(
                database_id,
                record_id,
                properties,
                version,
                changed_properties=_changed(trigger["config"], properties),
                previous=properties,
            )
            return EventType.RECORD_UPDATED, payload
        case TriggerType.FORM_SUBMITTED:
            payload = data_events.form_submitted(database_id, record_id, properties, version)
            return EventType.FORM_SUBMITTED, payload
        case _:
            payload = data_events.record_created(database_id, record_id, properties, version)
            return EventType.RECORD_CREATED, payload


def _changed(config: Mapping[str, Any], properties: Mapping[str, Any]) -> list[str]:
    named = [name for name in config.get("properties", ()) if name != ANY_PROPERTY]
    return named or sorted(properties)
