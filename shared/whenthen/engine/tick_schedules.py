"""One tick of the schedules: brings them in line with their triggers, then fires what is due."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy.engine import Connection

from whenthen.domain.errors import BadRequestError, ForbiddenError
from whenthen.domain.instants import parse_instant
from whenthen.engine.align_schedules import align_all
from whenthen.engine.context import Context
from whenthen.engine.fire_schedules import TICK, Fired, fire_due
from whenthen.settings import Settings
from whenthen.store import clock, ticks

# Rules look years ahead of a tick, and the calendar ends with the year 9999.
_YEAR_MAX = 9_000


@dataclass(frozen=True, slots=True)
class Ticked:
    """What a tick did: schedules that it brought in line, and what became of instants."""

    aligned: int
    fired: Fired


def tick(context: Context, has_time: Callable[[], bool], now: datetime | None = None) -> Ticked:
    """Tick once, as if it were `now`; by default by the database's clock.

    That it has started is a row before anything else happens: what it leaves over is late, not
    missed. Its runs are due by the database's clock, so that those of a tick for another time need
    not wait for it. Two ticks at once do together what one of them would do.
    """
    ahead_s = context.database.transact(partial(_start, now))
    return Ticked(align_all(context), fire_due(context, has_time, ahead_s))


def asked_for(event: Mapping[str, Any], settings: Settings) -> datetime | None:
    """Return the time that the event of a tick asks for: `{"now": "2026-03-08T07:00:00Z"}`.

    None for EventBridge's own event, whose time is not looked at: what is due says the database.

    Raises:
        ForbiddenError: `now` is not for this deployment, where it could fire what is not due.
        BadRequestError: `now` is no instant.

    """
    if "now" not in event:
        return None
    if not settings.accept_tick_now:
        raise ForbiddenError("TICK_NOW_REFUSED", "ticks take no time here: see ACCEPT_TICK_NOW")
    now = event["now"]
    found = parse_instant(now) if isinstance(now, str) else None
    if found is None or not found.year < _YEAR_MAX:
        raise BadRequestError("TICK_NOW_INVALID", "now is not an instant before the year 9000")
    return found


def _start(now: datetime | None, connection: Connection) -> float:
    ahead_s = 0.0 if now is None else (now - clock.now(connection)).total_seconds()
    ticks.record(connection, TICK, ahead_s)
    return ahead_s
