"""The host's data: databases, records, pages, and the events that are reported."""

from pydantic import Field, RootModel

from http_api.answers.base import EventId, Id, Instant, JsonObject, Shape
from whenthen.domain.kinds import PropertyType


class ShownOption(Shape):
    """A choice of a select property."""

    id: str = Field(examples=["opt_559aead08264"])
    name: str = Field(examples=["A"])


class PlainProperty(Shape):
    """A property without options."""

    name: str = Field(examples=["Status"])
    type: PropertyType = Field(examples=["text"])


class ChoiceProperty(PlainProperty):
    """A property with options: `select` or `multi_select`."""

    options: list[ShownOption]


class ShownProperty(RootModel[PlainProperty | ChoiceProperty]):
    """A property of a database."""


class Database(Shape):
    """A table of a workspace."""

    id: Id
    workspace_id: Id
    name: str = Field(examples=["Tickets"])
    properties: list[ShownProperty]
    archived_at: Instant | None = Field(examples=[None])
    created_at: Instant
    updated_at: Instant


class Record(Shape):
    """A row of a database: its values by the names of their properties."""

    id: Id
    database_id: Id
    properties: JsonObject = Field(examples=[{"Name": "Leaking tap", "Status": "B"}])
    version: int = Field(examples=[1])
    created_at: Instant
    updated_at: Instant


class Page(Shape):
    """A page of a workspace."""

    id: Id
    workspace_id: Id
    title: str = Field(examples=["Notes"])
    parent_id: Id | None
    content: str | None
    created_at: Instant


class FormSubmitted(Shape):
    """The record that a submission has become, and its events."""

    record_id: Id
    event_ids: list[EventId]


class EventsReported(Shape):
    """The events that were taken, in the order that they were sent in."""

    event_ids: list[EventId]
