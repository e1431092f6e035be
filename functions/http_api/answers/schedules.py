"""Schedules."""

from pydantic import Field

from http_api.answers.base import Instant, Shape


class SchedulePreview(Shape):
    """The instants at which a schedule would fire next."""

    next: list[Instant]
    time_zone: str = Field(examples=["Europe/Berlin"])
