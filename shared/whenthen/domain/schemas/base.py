"""The one base of all schemas: JSON objects of exactly the known keys and the right types.

Lists stay lists and numbers keep their kind: nothing is converted, so `"1"` and `true` are no 1.
"""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from whenthen.domain import limits
from whenthen.domain.ids import parse_id
from whenthen.domain.instants import parse_instant, to_text


class Model(BaseModel):
    """A JSON object with camelCase keys; its attributes are snake_case.

    Validators are built at first use (`defer_build`): a cold start pays for what it validates.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=to_camel,
        validate_by_alias=True,
        validate_by_name=True,
        defer_build=True,
    )

    def to_json(self) -> dict[str, Any]:
        """Return the plain JSON object of this value, defaults written out, nulls left out."""
        return self.model_dump(by_alias=True, exclude_none=True)


def _to_id(value: Any) -> UUID:
    found = parse_id(value) if isinstance(value, str) else value
    if not isinstance(found, UUID):
        raise PydanticCustomError("id", "must be an id (a UUID)")
    return found


def _to_instant(value: Any) -> datetime:
    found = parse_instant(value) if isinstance(value, str) else value
    if not isinstance(found, datetime):
        raise PydanticCustomError("instant", "must be an ISO 8601 instant")
    return found


# In JSON a text, in Python a UUID.
Id = Annotated[UUID, BeforeValidator(_to_id), PlainSerializer(str)]
# In JSON an ISO 8601 text, in Python an aware datetime.
Instant = Annotated[datetime, BeforeValidator(_to_instant), PlainSerializer(to_text)]
Name = Annotated[str, Field(min_length=1, max_length=limits.NAME_MAX_CHARS)]
Description = Annotated[str, Field(max_length=limits.DESCRIPTION_MAX_CHARS)]
# For the members of kinds.py, which JSON writes as their text.
WORD = Field(strict=False)
