"""Bodies of the routes of the host's side: databases, records, pages, tokens."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from whenthen.domain import limits
from whenthen.domain.kinds import PropertyType
from whenthen.domain.schemas.base import WORD, Id, Instant, Model, Name
from whenthen.domain.schemas.templated import Text


def _named(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


class Option(Model):
    """A choice of a select property; records hold its name, writers may also use its id."""

    id: Name | None = None
    name: Name


class Property(Model):
    """A property by its shape; which options fit which type says rules/property_schema.py."""

    name: Name
    type: Annotated[PropertyType, WORD]
    options: (
        Annotated[
            list[Annotated[Option, BeforeValidator(_named)]],
            Field(max_length=limits.PROPERTY_OPTIONS_MAX),
        ]
        | None
    ) = None


Properties = Annotated[list[Property], Field(max_length=limits.PROPERTIES_MAX)]


class CreateDatabase(Model):
    name: Name
    properties: Properties = Field(default_factory=list)


class PatchDatabase(Model):
    """What changes: `model_fields_set` names the keys that were given; none may be null."""

    name: Name = ""
    properties: Properties = Field(default_factory=list)
    archived: bool = False


class RecordBody(Model):
    """A new record, what a PATCH merges into one (null clears), or a form's submission."""

    properties: dict[Name, Any]


class CreatePage(Model):
    title: Text
    parent_id: Id | None = None
    content: str | None = None


class CreateToken(Model):
    """A new credential; without `expiresAt` it is valid until it is revoked."""

    name: Name
    expires_at: Instant | None = None
