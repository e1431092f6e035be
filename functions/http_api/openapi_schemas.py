"""The schemas of every body that goes in or out, under `components/schemas`."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from http_api.answers import shapes
from http_api.openapi_conditions import OPTIONAL_CONDITION, condition_schemas
from http_api.routing import Route
from whenthen.domain import limits
from whenthen.domain.schemas.actions import ACTION_CONFIGS
from whenthen.domain.schemas.events import DEPTH_MAX
from whenthen.domain.schemas.triggers import TRIGGER_CONFIGS

Mode = Literal["validation", "serialization"]
Schemas = dict[str, Any]

_PREFIX: Final = "#/components/schemas/"
# Keys whose validators are functions, so that pydantic sees anything there.
_BY_HAND: Final[Mapping[tuple[str, str], Any]] = {
    ("CreateAutomation", "condition"): OPTIONAL_CONDITION,
    ("ConditionBody", "condition"): OPTIONAL_CONDITION,
    ("AutomationDetail", "condition"): OPTIONAL_CONDITION,
    ("AutomationWithWebhook", "condition"): OPTIONAL_CONDITION,
    ("VersionSnapshot", "condition"): OPTIONAL_CONDITION,
    # A bare name stands for an option that has no id yet.
    ("Property", "options"): {
        "anyOf": [
            {
                "type": "array",
                "maxItems": limits.PROPERTY_OPTIONS_MAX,
                "items": {
                    "anyOf": [
                        {"$ref": f"{_PREFIX}Option"},
                        {"type": "string", "minLength": 1, "maxLength": limits.NAME_MAX_CHARS},
                    ]
                },
            },
            {"type": "null"},
        ],
        "default": None,
    },
    ("RetryBody", "from"): {
        "anyOf": [{"enum": ["failed", "start"]}, {"type": "integer", "minimum": 0}],
        "default": "failed",
    },
}
# A plain dataclass, which the matcher can load without pydantic.
_CONTEXT: Final = {
    "description": "Which run caused an event, how deep in its chain, and through what.",
    "type": "object",
    "properties": {
        "automationId": {"type": "string", "format": "uuid"},
        "runId": {"type": "string", "format": "uuid"},
        "rootRunId": {"type": "string", "format": "uuid"},
        "depth": {"type": "integer", "minimum": 0, "maximum": DEPTH_MAX},
        "chain": {"type": "array", "items": {"type": "string", "format": "uuid"}},
    },
    "required": ["automationId", "runId", "rootRunId", "depth", "chain"],
}
# Where a class says what its readers in Python need to know.
_DESCRIPTIONS: Final[Mapping[str, str]] = {
    "Action": "One action; the shape of `config` depends on `type`.",
    "EventsBody": "One event, or a list of them that is taken as a whole or not at all.",
    "PatchAutomation": "What changes; absent is unchanged, null clears description and databaseId.",
    "PatchDatabase": "What changes; absent is unchanged.",
    "Property": "A property; `options` belongs to select and multi_select, and only there.",
    "ScheduleConfig": "`cron` or `runEvery` (seconds), and what becomes of missed instants.",
    "Trigger": "One trigger; the shape of `config` depends on `type`.",
    "WebhookConfig-Output": "Whether every request has to be signed.",
}


class _Generator(GenerateJsonSchema):
    """Without the titles, which repeat each key in other letters."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  # pydantic's own
        return False


def component_schemas(routes: Iterable[Route]) -> Schemas:
    """Return every schema that `routes` read or answer with, by its name."""
    bodies = {entry.body for entry in routes if entry.body is not None}
    configs: set[type[BaseModel]] = {*TRIGGER_CONFIGS.values(), *ACTION_CONFIGS.values()}
    wanted: list[tuple[type[BaseModel], Mode]] = [
        *((model, "validation") for model in _by_name(bodies | configs)),
        *((model, "serialization") for model in _by_name({*shapes().values(), *configs})),
    ]
    references, generated = models_json_schema(
        wanted, ref_template=f"{_PREFIX}{{model}}", schema_generator=_Generator
    )
    schemas: Schemas = {
        **generated["$defs"],
        **condition_schemas(),
        "AutomationContext": _CONTEXT,
    }
    for name, schema in schemas.items():
        schema.pop("title", None)
        if name in _DESCRIPTIONS:
            schema["description"] = _DESCRIPTIONS[name]
    for (name, key), by_hand in _BY_HAND.items():
        schemas[name]["properties"][key] = by_hand
    for name in ("PatchAutomation", "PatchDatabase"):
        # What is absent is unchanged: the defaults stand for nothing.
        for part in schemas[name]["properties"].values():
            part.pop("default", None)
    _write_out_types(schemas, references)
    return dict(sorted(schemas.items()))


def _write_out_types(schemas: Schemas, references: Mapping[Any, Any]) -> None:
    """Give triggers and actions one schema per type, each with the config of that type."""
    for name, configs, mode in (
        ("Trigger", TRIGGER_CONFIGS, "validation"),
        ("Action", ACTION_CONFIGS, "validation"),
        ("ShownTrigger", TRIGGER_CONFIGS, "serialization"),
        ("ShownAction", ACTION_CONFIGS, "serialization"),
    ):
        whole = schemas[name]
        whole["oneOf"] = [
            {
                **{key: value for key, value in whole.items() if key != "description"},
                "properties": {
                    **whole["properties"],
                    "type": {"const": type_.value},
                    "config": references[model, mode],
                },
            }
            for type_, model in configs.items()
        ]
        schemas[name] = {key: whole[key] for key in ("description", "oneOf") if key in whole}


def reference(name: str) -> dict[str, str]:
    """Return the reference to a schema of the components."""
    return {"$ref": _PREFIX + name}


def page_schema(name: str) -> dict[str, Any]:
    """Return the schema of a page of a list."""
    return {
        "type": "object",
        "properties": {
            "data": {"type": "array", "items": reference(name)},
            "nextCursor": {"type": ["string", "null"], "examples": [None]},
        },
        "required": ["data", "nextCursor"],
        "additionalProperties": False,
    }


def _by_name(models: Iterable[type[BaseModel]]) -> list[type[BaseModel]]:
    return sorted(models, key=lambda model: model.__name__)
