"""A clock of the database that stands, for tests of what happens just before an instant."""

from datetime import UTC, datetime, timedelta
from typing import Self


class StandingAt(float):
    """The offset with which every transaction begins at one instant, however late it begins.

    A clock that went on would let an instant a second ahead pass while the machine is busy.
    """

    def __new__(cls, instant: datetime) -> Self:
        made = super().__new__(cls, (instant - datetime.now(UTC)).total_seconds())
        made.instant = instant
        return made

    instant: datetime

    def __float__(self) -> float:
        return (self.instant - datetime.now(UTC)).total_seconds()

    def __add__(self, seconds: float) -> "StandingAt":
        return StandingAt(self.instant + timedelta(seconds=seconds))
