"""Bodies of the routes that make and change automations."""

from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from whenthen.domain import limits
from whenthen.domain.kinds import AutomationStatus, TriggerType
from whenthen.domain.schemas.actions import Action
from whenthen.domain.schemas.base import WORD, Description, Id, Model, Name
from whenthen.domain.schemas.conditions import Condition, parse_condition
from whenthen.domain.schemas.triggers import Trigger


def _one_webhook(triggers: list[Trigger]) -> list[Trigger]:
    # The URL of a webhook names its automation, not one of several triggers.
    if [trigger.type for trigger in triggers].count(TriggerType.WEBHOOK) > 1:
        raise PydanticCustomError("webhooks", "must not have more than one WEBHOOK trigger")
    return triggers


def _own_ids(actions: list[Action]) -> list[Action]:
    ids = [action.id for action in actions if action.id is not None]
    if len(set(ids)) < len(ids):
        raise PydanticCustomError("action_id", "must not repeat the id of an action")
    return actions


def _condition(value: Any) -> Any:
    return parse_condition(value)


Triggers = Annotated[
    list[Trigger], Field(max_length=limits.TRIGGERS_MAX), AfterValidator(_one_webhook)
]
Actions = Annotated[list[Action], Field(max_length=limits.ACTIONS_MAX), AfterValidator(_own_ids)]
# A bad tree is `CONDITION_INVALID`, raised at once, whatever else is wrong with the body.
CheckedCondition = Annotated[Condition | None, BeforeValidator(_condition)]


class CreateAutomation(Model):
    """A new automation, a DRAFT; without triggers it matches nothing."""

    name: Name
    description: Description | None = None
    database_id: Id | None = None
    triggers: Triggers = Field(default_factory=list)
    condition: CheckedCondition = None
    actions: Actions = Field(default_factory=list)


class PatchAutomation(Model):
    """What changes: `model_fields_set` tells an absent key (unchanged) from null (cleared)."""

    # Null is no name; the default stands for an absent key only.
    name: Name = ""
    description: Description | None = None
    database_id: Id | None = None


class StatusBody(Model):
    status: Annotated[AutomationStatus, WORD]


class TriggersBody(Model):
    triggers: Annotated[Triggers, Field(min_length=1)]


class ConditionBody(Model):
    condition: CheckedCondition


class ActionsBody(Model):
    actions: Annotated[Actions, Field(min_length=1)]


def stored_triggers(triggers: Sequence[Trigger], ids: Sequence[UUID]) -> list[dict[str, Any]]:
    """Return `triggers` as a version keeps them, each with its id and without its secret."""
    return [
        {"id": str(id_), **trigger.to_json()} for id_, trigger in zip(ids, triggers, strict=True)
    ]


def stored_actions(actions: Sequence[Action], ids: Sequence[UUID]) -> list[dict[str, Any]]:
    """Return `actions` as a version keeps them, each with its id and all of its keys."""
    return [
        {
            "id": str(id_),
            "type": action.type.value,
            "config": action.config.to_json(),
            "retries": action.retries,
            "timeoutMs": action.timeout_ms,
        }
        for id_, action in zip(ids, actions, strict=True)
    ]
