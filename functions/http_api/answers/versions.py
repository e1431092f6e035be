"""Versions of an automation."""

from pydantic import Field

from http_api.answers.automations import ShownAction, ShownTrigger
from http_api.answers.base import Id, Instant, JsonObject, Shape


class VersionLine(Shape):
    """A version in a list."""

    version: int = Field(ge=1, examples=[3])
    created_at: Instant
    created_by_id: Id | None


class VersionSnapshot(VersionLine):
    """A version as it was saved."""

    name: str = Field(examples=["Triage new tickets"])
    database_id: Id | None
    triggers: list[ShownTrigger]
    condition: JsonObject | None
    actions: list[ShownAction]
