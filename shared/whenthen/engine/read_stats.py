"""What the runs of a workspace amount to within a window of time."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from whenthen.domain import limits
from whenthen.domain.errors import InvalidError
from whenthen.engine.identify import Caller
from whenthen.store import clock, run_stats
from whenthen.store.run_stats import RunStats

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

_DEFAULT = timedelta(hours=limits.STATS_DEFAULT_HOURS)
_LONGEST = timedelta(days=limits.STATS_MAX_DAYS)


@dataclass(frozen=True, slots=True)
class Window:
    """From `since` on and before `until`."""

    since: datetime
    until: datetime


def stats(
    connection: "Connection", caller: Caller, since: datetime | None, until: datetime | None
) -> tuple[Window, RunStats]:
    """Return the window that `since` and `until` mean, and what its runs amount to.

    Without `until` it ends now, without `since` it begins 24 hours before its end.

    Raises:
        InvalidError: the window is empty, or longer than 31 days.

    """
    end = until or clock.now(connection)
    window = Window(since or _before(end), end)
    _check(window)
    return window, run_stats.read(connection, caller.workspace_id, window.since, window.until)


def _before(end: datetime) -> datetime:
    try:
        return end - _DEFAULT
    except OverflowError as error:
        raise _refused("to", "is too early") from error


def _check(window: Window) -> None:
    if window.since >= window.until:
        raise _refused("from", "must be before to")
    if window.until - window.since > _LONGEST:
        raise _refused("from", f"must be at most {limits.STATS_MAX_DAYS} days before to")


def _refused(path: str, message: str) -> InvalidError:
    details = [{"path": path, "message": message, "type": "window"}]
    return InvalidError("VALIDATION_FAILED", f"{path}: {message}", details)
