"""Automations."""

from pydantic import Field, RootModel

from http_api.answers.base import Id, Instant, JsonObject, Shape
from http_api.answers.runs import RunError
from http_api.answers.webhooks import WebhookSecret
from whenthen.domain.kinds import ActionType, AutomationStatus, RunStatus, TriggerType


class ShownTrigger(Shape):
    """A trigger; its config as it was set, without a webhook's secret."""

    type: TriggerType
    config: JsonObject


class ShownAction(Shape):
    """An action; progress of runs is kept by its id."""

    id: Id
    type: ActionType
    config: JsonObject
    retries: int | None
    timeout_ms: int | None


class LatestRun(Shape):
    """The newest run of an automation, in short."""

    id: Id
    status: RunStatus = Field(examples=["SUCCEEDED"])
    created_at: Instant
    finished_at: Instant | None
    retry_count: int
    error: RunError | None = Field(examples=[None])


class AutomationSummary(Shape):
    """An automation in a list: triggers and actions by their types."""

    id: Id
    name: str = Field(examples=["Triage new tickets"])
    description: str | None = Field(examples=[None])
    database_id: Id | None
    status: AutomationStatus = Field(examples=["ACTIVE"])
    triggers: list[TriggerType]
    has_condition: bool = Field(examples=[True])
    actions: list[ActionType]
    created_at: Instant
    updated_at: Instant
    created_by_id: Id | None
    latest_run: LatestRun | None


class AutomationDetail(Shape):
    """An automation with its present version."""

    id: Id
    workspace_id: Id
    name: str = Field(examples=["Triage new tickets"])
    description: str | None = Field(examples=[None])
    database_id: Id | None
    status: AutomationStatus = Field(examples=["ACTIVE"])
    version: int = Field(ge=1, examples=[3])
    triggers: list[ShownTrigger]
    has_condition: bool = Field(examples=[True])
    condition: JsonObject | None
    actions: list[ShownAction]
    created_at: Instant
    updated_at: Instant
    created_by_id: Id | None
    latest_run: LatestRun | None


class AutomationWithWebhook(AutomationDetail):
    """An automation whose webhook's secret has just been made: the only time that it is shown."""

    webhook: WebhookSecret


class EditedAutomation(RootModel[AutomationDetail | AutomationWithWebhook]):
    """The automation, and beside it its webhook's secret if one was made."""
