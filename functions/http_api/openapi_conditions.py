"""The JSON Schema of a condition tree, which pydantic does not know: it is checked by hand."""

from typing import Any, Final

from http_api.openapi_examples import CONDITION as EXAMPLE
from whenthen.domain import limits
from whenthen.domain.schemas.conditions import EVENT_PATH_MAX_CHARS

CONDITION: Final = {"$ref": "#/components/schemas/Condition"}
OPTIONAL_CONDITION: Final = {"anyOf": [CONDITION, {"type": "null"}]}

_SCALAR: Final = {"type": ["string", "number", "boolean"]}
_VALUES: Final[list[tuple[list[str], dict[str, Any]]]] = [
    (["eq", "neq"], {}),
    (["gt", "gte", "lt", "lte"], {"type": ["string", "number"]}),
    (["contains", "not_contains"], _SCALAR),
    (["starts_with", "ends_with"], {"type": "string"}),
    (["in", "not_in"], {"type": "array", "minItems": 1}),
    (["matches"], {"type": "string", "minLength": 1, "maxLength": limits.PATTERN_MAX_CHARS}),
]
_WITHOUT_VALUE: Final = ["is_empty", "is_not_empty", "changed"]


def condition_schemas() -> dict[str, Any]:
    """Return the schemas `Condition` and `ConditionField` by their names."""
    leaves = [_leaf(operators, {"value": value}) for operators, value in _VALUES]
    children = {"type": "array", "minItems": 1, "items": CONDITION}
    return {
        "Condition": {
            "description": (
                f"A tree of at most {limits.CONDITION_MAX_DEPTH} levels and"
                f" {limits.CONDITION_MAX_LEAVES} leaves."
            ),
            "oneOf": [
                *leaves,
                _leaf(_WITHOUT_VALUE, {}),
                _object({"and": children}),
                _object({"or": children}),
                _object({"not": CONDITION}),
            ],
            "examples": [EXAMPLE],
        },
        "ConditionField": {
            "oneOf": [
                _object({"ref": {"const": "property"}, "name": _text(limits.NAME_MAX_CHARS)}),
                _object({"ref": {"const": "event"}, "path": _text(EVENT_PATH_MAX_CHARS)}),
            ],
        },
    }


def _leaf(operators: list[str], value: dict[str, Any]) -> dict[str, Any]:
    field = {"$ref": "#/components/schemas/ConditionField"}
    return _object({"field": field, "operator": {"enum": operators}, **value})


def _text(max_chars: int) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": max_chars}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object of exactly these keys."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
