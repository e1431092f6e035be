"""The body of a dry run: the event to try a definition with."""

from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from whenthen.domain.schemas.base import Id, Model
from whenthen.domain.schemas.events import (
    TYPE_MAX_CHARS,
    AutomationContext,
    EventUnreadableError,
    read_context,
)


def _context(value: Any) -> Any:
    try:
        return read_context(value)
    except EventUnreadableError as error:
        raise PydanticCustomError("automation_context", "must be that of an event") from error


class TriedEvent(Model):
    """An event as somebody imagines it: no more than the part that decides.

    Unlike a reported event it may carry a context, since nothing comes of it.
    """

    type: Annotated[str, Field(min_length=1, max_length=TYPE_MAX_CHARS)]
    payload: dict[str, Any]
    automation_context: Annotated[AutomationContext | None, BeforeValidator(_context)] = None


class DryRunBody(Model):
    """An event, or the run whose event to take; with neither the newest one is looked for."""

    event: TriedEvent | None = None
    run_id: Id | None = None

    @model_validator(mode="after")
    def _one_event(self) -> Self:
        if self.event is not None and self.run_id is not None:
            raise PydanticCustomError("dry_run", "must not have both event and runId")
        return self
