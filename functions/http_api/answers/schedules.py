"""Schedules."""

from typing import Literal

from pydantic import Field

from http_api.answers.base import Id, Instant, Shape


class SchedulePreview(Shape):
    """The instants at which a schedule would fire next."""

    next: list[Instant]
    time_zone: str = Field(examples=["Europe/Berlin"])


class ShownOccurrence(Shape):
    """An instant of a schedule, with what became of it."""

    scheduled_for: Instant
    outcome: Literal["fired", "missed", "deduped", "skipped"]
    reason: str | None = Field(examples=[None])
    run_id: Id | None


class ShownSchedule(Shape):
    """A SCHEDULE trigger: when it fires next (never while not ACTIVE), and when it did."""

    position: int = Field(ge=0, examples=[0])
    cron: str | None = Field(examples=["0 9 * * 1-5"])
    run_every: int | None = Field(examples=[None])
    time_zone: str = Field(examples=["Europe/Berlin"])
    next: list[Instant] = Field(max_length=5)
    occurrences: list[ShownOccurrence] = Field(max_length=20)


class AutomationSchedules(Shape):
    """The schedules of an automation, in the order of its triggers."""

    schedules: list[ShownSchedule]
