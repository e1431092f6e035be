"""How the rows of schedules follow the triggers: what is new, what changed, what is gone.

A schedule is known by its trigger's id, which survives edits, so its row's id is the trigger's: its
occurrences and its active run stay its own through pause and edit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from whenthen.domain.kinds import SkipReason
from whenthen.domain.limits import GAP_ROWS_MAX
from whenthen.domain.rules.fires_in_span import newest_fires
from whenthen.domain.rules.schedule import Schedule, next_fire, read_schedule
from whenthen.domain.rules.schedule_error import ScheduleError


@dataclass(frozen=True, slots=True)
class WantedSchedule:
    """A SCHEDULE trigger of an ACTIVE automation, in its present version."""

    id: UUID
    automation_id: UUID
    version: int
    cron: str | None
    run_every_s: int | None
    time_zone: str
    catch_up: str
    catch_up_window_s: int
    overlap: str

    @property
    def clock(self) -> tuple[str | None, int | None, str]:
        """What decides over its instants; the rest decides over what becomes of them."""
        return self.cron, self.run_every_s, self.time_zone


@dataclass(frozen=True, slots=True)
class ScheduleRow:
    """A row of schedules: what was wanted when it was written, and how far it has come.

    `next_at` is the first instant without an occurrence, null when it fires never again.
    """

    wanted: WantedSchedule
    anchor_at: datetime
    next_at: datetime | None


@dataclass(frozen=True, slots=True)
class Difference:
    """What must be written. Of `changed` and `gone`, runs that are ahead of time are withdrawn."""

    new: Sequence[WantedSchedule]
    changed: Sequence[tuple[ScheduleRow, WantedSchedule]]
    gone: Sequence[ScheduleRow]

    @property
    def count(self) -> int:
        return len(self.new) + len(self.changed) + len(self.gone)

    @property
    def left(self) -> list[ScheduleRow]:
        """The rows that stop being what they are."""
        return [*(before for before, _ in self.changed), *self.gone]

    @property
    def stopped(self) -> list[ScheduleRow]:
        """The rows whose clock stops: nobody will fire what it should have fired by now."""
        return [
            *(before for before, one in self.changed if before.wanted.clock != one.clock),
            *self.gone,
        ]


def difference(
    wanted: Sequence[WantedSchedule], present: Sequence[ScheduleRow], *, anew: bool = False
) -> Difference:
    """Return what makes `present` into `wanted`; both are of the same automations.

    `anew`: their automations were activated just now, so that whatever is there begins again.
    """
    rows = {} if anew else {row.wanted.id: row for row in present}
    ids = {one.id for one in wanted}
    return Difference(
        new=[one for one in wanted if one.id not in rows],
        changed=[
            (rows[one.id], one) for one in wanted if one.id in rows and rows[one.id].wanted != one
        ],
        gone=list(present) if anew else [row for row in present if row.wanted.id not in ids],
    )


def from_now(wanted: WantedSchedule, now: datetime) -> ScheduleRow:
    """Return a schedule that begins at `now`: its first instant is later than that.

    An interval is anchored at whole milliseconds, so that no instant is cut when it is written
    out. What can no longer be read (a zone that the database of zones has lost) never fires.
    """
    anchor_at = now - timedelta(microseconds=now.microsecond % 1000)
    schedule = _read(wanted, anchor_at)
    return ScheduleRow(wanted, anchor_at, next_fire(schedule, now) if schedule else None)


def as_changed(
    before: ScheduleRow, wanted: WantedSchedule, now: datetime, withdrawn: datetime | None
) -> ScheduleRow:
    """Return the row that follows `before`; a clock that stays as it was goes on where it is.

    `withdrawn` is the first instant whose run was taken away from the version before: the new
    version fires it. With another clock the schedule begins at `now`.
    """
    if wanted.clock != before.wanted.clock:
        return from_now(wanted, now)
    instants = [at for at in (before.next_at, withdrawn) if at is not None]
    return ScheduleRow(wanted, before.anchor_at, min(instants, default=None))


@dataclass(frozen=True, slots=True)
class PassedOver:
    """Instants that nobody will fire, each with the reason that its row gives, oldest first.

    `count` counts instants, of which the oldest may share one row.
    """

    rows: Sequence[tuple[datetime, str]]
    count: int


def passed_over(row: ScheduleRow, now: datetime) -> PassedOver:
    """Return the instants up to `now` that `row` should have fired and did not."""
    schedule = _read(row.wanted, row.anchor_at)
    first = row.next_at
    if schedule is None or first is None or first > now:
        return PassedOver((), 0)
    instants, older = newest_fires(schedule, first, now, GAP_ROWS_MAX)
    rows = [(at, SkipReason.SUPERSEDED.value) for at in instants]
    if older:
        rows.insert(0, (first, f"{older} older occurrences"))
    return PassedOver(rows, len(instants) + older)


def _read(wanted: WantedSchedule, anchor_at: datetime) -> Schedule | None:
    try:
        return read_schedule(wanted.cron, wanted.run_every_s, wanted.time_zone, anchor_at)
    except ScheduleError:
        return None
