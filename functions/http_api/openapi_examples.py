"""What the document shows as examples: written ones for bodies, made ones for answers."""

from collections.abc import Mapping
from typing import Any, Final

ID: Final = "019cafe0-3c5a-7b1e-9f00-5d2f8c6a1b20"

TRIGGER: Final = {"type": "RECORD_CREATED", "config": {"databaseId": ID}}
CONDITION: Final = {
    "field": {"ref": "property", "name": "Status"},
    "operator": "eq",
    "value": "B",
}
ACTION: Final = {
    "type": "UPDATE_RECORD",
    "config": {"recordId": "from_trigger", "propertyValues": {"Status": "C"}},
}
_PROPERTIES: Final = [
    {"name": "Name", "type": "text"},
    {"name": "Status", "type": "select", "options": ["A", "B", "C"]},
]

# By the names of schemas: those of request bodies, and those whose parts depend on each other.
WRITTEN: Final[Mapping[str, Any]] = {
    "ActionsBody": {"actions": [ACTION]},
    "AddGrant": {"email": "ada@example.com", "level": "EDIT"},
    "AddMember": {"email": "ada@example.com", "role": "EDITOR"},
    "ConditionBody": {"condition": CONDITION},
    "CreateAutomation": {
        "name": "Triage new tickets",
        "databaseId": ID,
        "triggers": [TRIGGER],
        "condition": CONDITION,
        "actions": [ACTION],
    },
    "CreateDatabase": {"name": "Tickets", "properties": _PROPERTIES},
    "CreatePage": {"title": "Notes", "content": "Call the plumber."},
    "CreateToken": {"name": "laptop", "expiresAt": "2099-01-01T00:00:00Z"},
    "CreateWorkspace": {"name": "Support"},
    "DryRunBody": {
        "event": {
            "type": "record.created",
            "payload": {"databaseId": ID, "recordId": ID, "properties": {"Status": "B"}},
        }
    },
    "EventsBody": [
        {
            "id": "order-17",
            "type": "record.created",
            "payload": {"databaseId": ID, "recordId": "17", "properties": {"Status": "B"}},
        }
    ],
    "PatchAutomation": {"name": "Triage all tickets"},
    "PatchDatabase": {"archived": True},
    "PreviewSchedule": {"cron": "0 9 * * 1-5", "timeZone": "Europe/Berlin"},
    "RecordBody": {"properties": {"Name": "Leaking tap", "Status": "B"}},
    "RedriveBody": {"status": "DEAD_LETTER", "from": "2026-01-01T00:00:00Z", "dryRun": True},
    "RetryBody": {"from": "failed", "version": "original"},
    "RunAutomationBody": {"input": {"recordId": ID}},
    "SecretBody": {"value": "a long enough value"},
    "ShownAction": {"id": ID, **ACTION, "retries": None, "timeoutMs": None},
    "ShownTrigger": TRIGGER,
    "StatusBody": {"status": "ACTIVE"},
    "TriggersBody": {"triggers": [TRIGGER]},
}

_PLAIN: Final = {
    "string": "text",
    "integer": 1,
    "number": 1,
    "boolean": True,
    "null": None,
    "array": [],
    "object": {},
}


def example_of(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Any:
    """Return a value of `schema`; `schemas` are those that it refers to, by their names.

    Of alternatives the first one, of an object the keys that it must have.
    """
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return WRITTEN[name] if name in WRITTEN else example_of(schemas[name], schemas)
    for given in ("const", "default"):
        if given in schema:
            return schema[given]
    for several in ("examples", "enum"):
        if several in schema:
            return schema[several][0]
    for alternatives in ("oneOf", "anyOf"):
        if alternatives in schema:
            return example_of(schema[alternatives][0], schemas)
    return _by_type(schema, schemas)


def _by_type(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Any:
    if "properties" in schema:
        parts = schema["properties"]
        return {key: example_of(parts[key], schemas) for key in schema.get("required", ())}
    if "items" in schema:
        return [example_of(schema["items"], schemas)]
    type_ = schema.get("type", "string")
    return _PLAIN[type_ if isinstance(type_, str) else type_[0]]
