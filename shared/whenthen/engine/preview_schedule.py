"""What a schedule would do, before it is saved."""

from typing import TYPE_CHECKING

from whenthen.domain.rules.schedule import next_fires, read_schedule
from whenthen.domain.schemas.schedules import PreviewSchedule
from whenthen.engine.check_schedules import check_schedules
from whenthen.store import clock

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.engine import Connection


def preview(connection: "Connection", body: PreviewSchedule) -> "list[datetime]":
    """Return the next instants at which the schedule would fire.

    An interval counts from `after`, as if it were activated then.

    Raises:
        InvalidError: as when it is saved.

    """
    now = clock.now(connection)
    check_schedules([((), body)], now)
    after = body.after or now
    schedule = read_schedule(body.cron, body.run_every, body.time_zone, anchor_at=after)
    return next_fires(schedule, after, body.count)
