"""What a dry run finds."""

from typing import Literal

from pydantic import Field

from http_api.answers.base import JsonObject, Shape
from whenthen.domain.kinds import ActionType


class ConditionVerdict(Shape):
    """What the condition says, and why; `result` is null where it is unknown."""

    result: bool | None
    explain: JsonObject = Field(
        examples=[{"op": "eq", "left": "B", "right": "B", "result": True}],
    )


class ActionProblem(Shape):
    """What an action would stumble over."""

    path: str = Field(examples=["recordId"])
    code: str = Field(examples=["TEMPLATE_MISSING"])


class PlannedAction(Shape):
    """An action as it would be carried out, its templates filled in and secrets as `•••`."""

    index: int
    type: ActionType
    config: JsonObject
    problems: list[ActionProblem]


class DryRun(Shape):
    """Whether an event would start a run, and what that would do; nothing was done."""

    would_match: bool
    reason: (
        Literal[
            "filter_mismatch",
            "not_active",
            "self_trigger",
            "depth_limit",
            "conditions_not_met",
            "no_event",
        ]
        | None
    ) = Field(examples=[None])
    event: JsonObject | None
    condition: ConditionVerdict | None
    actions: list[PlannedAction]
