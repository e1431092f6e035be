"""What all answers are made of."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, WithJsonSchema
from pydantic.alias_generators import to_camel


class Shape(BaseModel):
    """A JSON object that has all of its keys and no others, in camelCase."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", defer_build=True)


Id = Annotated[
    str,
    WithJsonSchema(
        {
            "type": "string",
            "format": "uuid",
            "examples": ["019cafe0-3c5a-7b1e-9f00-5d2f8c6a1b20"],
        }
    ),
]
Instant = Annotated[
    str,
    WithJsonSchema(
        {
            "type": "string",
            "format": "date-time",
            "pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$",
            "examples": ["2026-01-01T00:05:00.000Z"],
        }
    ),
]
EventId = Annotated[
    str,
    WithJsonSchema(
        {
            "type": "string",
            "examples": ["evt:019cafe0-3c5a-7b1e-9f00-5d2f8c6a1b20:order-17"],
        }
    ),
]
JsonObject = dict[str, Any]
