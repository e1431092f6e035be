"""Whether schedules may be saved: their expressions and zones are understood, and they do fire."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from whenthen.domain.errors import InvalidError
from whenthen.domain.rules.data_path import Step
from whenthen.domain.rules.schedule import faults_in
from whenthen.domain.schemas.details import detail
from whenthen.domain.schemas.triggers import ScheduleClock

if TYPE_CHECKING:
    from datetime import datetime


def check_schedules(
    clocks: Iterable[tuple[Sequence[Step], ScheduleClock]], now: "datetime"
) -> None:
    """Return when all of `clocks`, each with its place in the body, may be saved at `now`.

    Raises:
        InvalidError: `CRON_INVALID`, `CRON_TOO_FREQUENT` or `TIME_ZONE_INVALID`, after the first
            fault; all are in the details.

    """
    faults = [
        (steps, fault)
        for steps, clock in clocks
        for fault in faults_in(clock.cron, clock.time_zone, now)
    ]
    if faults:
        details = [
            detail([*steps, fault.key], str(fault), fault.code.lower()) for steps, fault in faults
        ]
        first = details[0]
        raise InvalidError(faults[0][1].code, f"{first['path']}: {first['message']}", details)
