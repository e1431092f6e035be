"""What an executor is asked, and what it answers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy.engine import Connection

from whenthen.domain.errors import WhenthenError
from whenthen.domain.schemas.events import AutomationContext
from whenthen.settings import Settings
from whenthen.store.outbox import OutboxEvent


@dataclass(frozen=True, slots=True)
class StepRequest:
    """One try of one step. `config` is validated and interpolated; it is the action's alone."""

    run_id: UUID
    workspace_id: UUID
    automation_id: UUID
    generation: int
    action_id: UUID
    config: Mapping[str, Any] = field(repr=False)
    # The record of the run's event (`"recordId": "from_trigger"`), as the event names it.
    record_id: str | None
    # The user behind the run's event, where there is one.
    actor_id: UUID | None
    # What events of this step carry: this run's context, one level deeper.
    child_context: AutomationContext
    # Seconds that this try may take, all of its I/O included.
    timeout_s: float
    # The deployment's settings, for actions that talk to the outside.
    settings: Settings
    # Values that texts which the executor itself cuts must not show the beginning of.
    secrets: Sequence[str] = field(default=(), repr=False)
    # Headers of the engine's own, for a target that is this deployment itself.
    own_headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class StepSuccess:
    """A step that did its work: its output (a JSON object) and the events that it made true."""

    output: Mapping[str, Any]
    events: Sequence[OutboxEvent] = ()


# A refusal is a value, since it concerns one request of several; a broken transaction is raised.
StepAnswer = StepSuccess | WhenthenError

# Applies the effect of each request inside the caller's transaction; answers in order.
DataAction = Callable[[Connection, Sequence[StepRequest]], Sequence[StepAnswer]]
# Talks to the outside within `timeout_s`; returns a success or raises.
OutsideAction = Callable[[StepRequest], StepSuccess]


class NotGroupableError(Exception):
    """Raised when requests of one group touch the same row: each must go alone, in its turn."""
