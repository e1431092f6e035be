"""Runs."""

from typing import Any, Literal

from pydantic import Field

from http_api.answers.base import EventId, Id, Instant, JsonObject, Shape
from whenthen.domain.kinds import ActionType, RunStatus, SkipReason, StepStatus


class RunError(Shape):
    """Why a run ended; both action fields are null when it was outside an action."""

    code: str = Field(examples=["PROPERTY_INVALID"])
    message: str = Field(examples=["Status: no such option"])
    action_index: int | None = Field(examples=[0])
    action_type: ActionType | None = Field(examples=["UPDATE_RECORD"])
    attempts: int = Field(examples=[1])


class ActionDone(Shape):
    """One action in the output of a run; `ms` is the successful attempt's duration."""

    index: int
    type: ActionType = Field(examples=["UPDATE_RECORD"])
    output: Any = Field(examples=[{"changedProperties": ["Status"]}])
    ms: int = Field(examples=[12])
    status: Literal["SUCCEEDED"]


class WorkDone(Shape):
    """The output of a run that did its work."""

    actions: list[ActionDone]
    total_ms: int = Field(examples=[12])


class Skipped(Shape):
    """The output of a run that did nothing, on purpose."""

    skipped: SkipReason


class StepError(Shape):
    """Why the last try of a step failed."""

    code: str
    message: str


class Step(Shape):
    """One action of a run's present generation; one never tried is absent."""

    index: int
    action_id: Id
    type: ActionType = Field(examples=["UPDATE_RECORD"])
    status: StepStatus = Field(examples=["SUCCEEDED"])
    attempts: int = Field(examples=[1])
    output: Any = Field(examples=[{"changedProperties": ["Status"]}])
    error: StepError | None = Field(examples=[None])
    started_at: Instant
    finished_at: Instant | None
    # Of a DELAY only.
    resume_at: Instant | None = None


class LogLine(Shape):
    """One line of a run's log; docs/api.md lists the messages and their data."""

    level: Literal["info", "warn", "error"]
    message: str = Field(examples=["run started"])
    data: JsonObject = Field(examples=[{"attempt": 1}])
    created_at: Instant


class RunSummary(Shape):
    """A run in a list."""

    id: Id
    status: RunStatus = Field(examples=["SUCCEEDED"])
    trigger_type: str = Field(examples=["record.created"])
    started_at: Instant | None
    finished_at: Instant | None
    retry_count: int = Field(examples=[0])
    error: RunError | None = Field(examples=[None])
    created_at: Instant


class WorkspaceRun(RunSummary):
    """A run in the list of a workspace."""

    automation_id: Id
    automation_name: str = Field(examples=["Triage new tickets"])
    record_id: str | None
    root_run_id: Id
    parent_run_id: Id | None = Field(examples=[None])


class RunDetail(RunSummary):
    """A run with its input, output, steps and the newest 1,000 lines of its log."""

    automation_id: Id
    version: int = Field(examples=[3])
    depth: int = Field(examples=[0])
    root_run_id: Id
    parent_run_id: Id | None = Field(examples=[None])
    event_id: EventId
    due_at: Instant | None = Field(examples=[None])
    generation: int = Field(examples=[0])
    input: JsonObject
    output: WorkDone | Skipped | None
    steps: list[Step]
    logs: list[LogLine]
    logs_truncated: bool = Field(examples=[False])


class RunStarted(Shape):
    """The run that was started."""

    run_id: Id


class RunChanged(Shape):
    """A run and the status that it has now."""

    run_id: Id
    status: RunStatus


class Redriven(Shape):
    """How many runs were set to run again or, with `dryRun`, would be."""

    count: int = Field(ge=0, examples=[12])
    dry_run: bool
