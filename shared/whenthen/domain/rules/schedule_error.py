"""Why a schedule is refused."""

from typing import ClassVar


class ScheduleError(ValueError):
    """Raised when a schedule cannot be; the text says why, without repeating the input.

    `code` is that of the answer, `key` the one of the trigger's config that is at fault.
    """

    code: ClassVar[str]
    key: ClassVar[str]


class CronError(ScheduleError):
    """Raised when an expression says nothing, or nothing that is understood."""

    code = "CRON_INVALID"
    key = "cron"


class CronTooFrequentError(ScheduleError):
    """Raised when an expression names two instants that are less than 60 s apart."""

    code = "CRON_TOO_FREQUENT"
    key = "cron"


class TimeZoneError(ScheduleError):
    """Raised when no zone has the name."""

    code = "TIME_ZONE_INVALID"
    key = "timeZone"
