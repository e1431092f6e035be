"""The body of the events route: one event of the host, or a list of them."""

from functools import cache
from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field, RootModel, TypeAdapter, field_validator
from pydantic.functional_validators import ModelWrapValidatorHandler

from whenthen.domain.schemas.base import Model
from whenthen.domain.schemas.events import CLIENT_ID_MAX_CHARS

EVENTS_MAX: Final = 500


class HostEvent(Model):
    """One event; which types there are is judged with the whole list.

    `automationContext` may be sent and counts for nothing: only the engine says what caused what.
    """

    type: str
    payload: dict[str, Any]
    id: Annotated[str, Field(min_length=1, max_length=CLIENT_ID_MAX_CHARS)] | None = None
    automation_context: Any = None


HostEvents = Annotated[list[HostEvent], Field(max_length=EVENTS_MAX)]


class EventsBody(RootModel[HostEvent | HostEvents]):
    """Whether it came as one or as a list, `events` is the list."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    @property
    def events(self) -> list[HostEvent]:
        return self.root if isinstance(self.root, list) else [self.root]

    @property
    def is_list(self) -> bool:
        return isinstance(self.root, list)

    @field_validator("root", mode="wrap")
    @classmethod
    def _by_shape(
        cls, value: Any, _: ModelWrapValidatorHandler[Any]
    ) -> HostEvent | list[HostEvent]:
        # Not as a union: its errors would name branches instead of places.
        if isinstance(value, list):
            return _many().validate_python(value, by_name=False)
        return HostEvent.model_validate(value, by_name=False)


@cache
def _many() -> TypeAdapter[list[HostEvent]]:
    return TypeAdapter(HostEvents)
