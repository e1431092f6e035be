"""Statistics of a workspace."""

from typing import Annotated

from pydantic import Field

from http_api.answers.base import Id, Instant, Shape
from whenthen.domain.kinds import SkipReason

Count = Annotated[int, Field(ge=0, examples=[12])]


class RunCounts(Shape):
    """How many runs have each status."""

    pending: Count = Field(alias="PENDING")
    running: Count = Field(alias="RUNNING")
    succeeded: Count = Field(alias="SUCCEEDED")
    failed: Count = Field(alias="FAILED")
    dead_letter: Count = Field(alias="DEAD_LETTER")


class HourCounts(Shape):
    """The runs of one hour."""

    hour: Instant
    runs: RunCounts


class AutomationCounts(Shape):
    """The runs of one automation."""

    automation_id: Id
    name: str = Field(examples=["Triage new tickets"])
    runs: RunCounts


class Durations(Shape):
    """How long runs took that did their work; null if there was none."""

    p50: int | None = Field(examples=[120])
    p95: int | None = Field(examples=[900])


class FailureCount(Shape):
    """How often an automation failed with one code."""

    automation_id: Id
    name: str = Field(examples=["Triage new tickets"])
    code: str = Field(examples=["PROPERTY_INVALID"])
    count: Count


class Stats(Shape):
    """What the runs created from `from` on and before `to` amount to."""

    from_: Instant = Field(alias="from")
    to: Instant
    runs: RunCounts
    per_hour: list[HourCounts]
    by_automation: list[AutomationCounts]
    by_trigger_type: dict[str, Count] = Field(examples=[{"record.created": 12}])
    skipped: dict[SkipReason, Count] = Field(examples=[{"conditions_not_met": 3}])
    duration_ms: Durations
    dead_lettered: Count
    top_failures: list[FailureCount]
