"""What becomes of a schedule that is due: its occurrences, their runs, and its next instant."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from whenthen.domain import instants
from whenthen.domain.kinds import SCHEDULE_RUN, AutomationStatus
from whenthen.domain.rules.missed_occurrences import Due, Instant, due_instants
from whenthen.domain.rules.schedule import read_schedule
from whenthen.domain.rules.schedule_error import ScheduleError
from whenthen.domain.rules.trigger_event import stored_schedule_input
from whenthen.domain.schemas.events import event_id
from whenthen.store.due_schedules import DueSchedule, NewOccurrence, NewRun
from whenthen.store.new_id import new_id

_log = logging.getLogger("whenthen.schedules")


@dataclass(frozen=True, slots=True)
class Planned:
    """What is to be written; `missed` counts instants, of which old ones may share a row."""

    schedule: DueSchedule
    occurrences: Sequence[NewOccurrence]
    next_at: datetime | None
    missed: int


def plan(schedule: DueSchedule, tick_starts: Sequence[datetime], ahead_s: float) -> Planned:
    """Return what becomes of a claimed schedule; `tick_starts` ascend.

    The tick's clock is `ahead_s` ahead of the database's, by which runs are due.
    """
    due = _due(schedule, tick_starts)
    occurrences = [
        NewOccurrence(
            schedule,
            instant.at,
            instant.reason,
            _run(schedule, instant.at, ahead_s) if instant.fires else None,
        )
        for instant in due.instants
    ]
    return Planned(schedule, occurrences, due.next_at, due.missed)


def _due(schedule: DueSchedule, tick_starts: Sequence[datetime]) -> Due:
    if schedule.status != AutomationStatus.ACTIVE:
        return Due([], 0, None)
    try:
        rule = read_schedule(
            schedule.cron, schedule.run_every_s, schedule.time_zone, schedule.anchor_at
        )
    except ScheduleError as error:
        # Such as a zone that tzdata no longer has. One of them must not stop all the others.
        _log.exception("schedule cannot be read", extra={"schedule_id": str(schedule.id)})
        return Due([Instant(schedule.next_at, fires=False, reason=error.code)], 1, None)
    return due_instants(
        rule,
        schedule.next_at,
        schedule.now,
        tick_starts,
        catch_up=schedule.catch_up,
        catch_up_window_s=schedule.catch_up_window_s,
    )


def _run(schedule: DueSchedule, at: datetime, ahead_s: float) -> NewRun:
    client_id = f"{schedule.trigger_id}:v{schedule.version}:{instants.to_text(at)}"
    return NewRun(
        id=new_id(),
        event_id=event_id(SCHEDULE_RUN, schedule.workspace_id, client_id),
        input=stored_schedule_input(
            schedule.workspace_id,
            at,
            cron=schedule.cron,
            run_every_s=schedule.run_every_s,
            time_zone=schedule.time_zone,
        ),
        due_at=at - timedelta(seconds=ahead_s),
        due_in_s=(at - schedule.now).total_seconds(),
    )
