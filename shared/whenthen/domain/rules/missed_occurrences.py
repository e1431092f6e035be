"""What becomes of the instants of a schedule that have come: which fire, which were missed.

An instant was missed if no tick started that could have taken it: none from 60 s before it, when
ticks first see it, until 150 s after it. What a tick left over, being slow or killed, is late and
fires. Of what was missed `catchUp` fires nothing, the newest, or all, within `catchUpWindow`.

Source: docs/decisions/0012-missed-occurrences.md.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from whenthen.domain.limits import FIRE_AHEAD_S, GAP_ROWS_MAX, MISSED_AFTER_S
from whenthen.domain.rules.fires_in_span import newest_fires
from whenthen.domain.rules.schedule import Schedule, next_fire

CatchUp = Literal["none", "last", "all"]

CAUGHT_UP: Final = "caught up"
_AHEAD: Final = timedelta(seconds=FIRE_AHEAD_S)
_MISSED_AFTER: Final = timedelta(seconds=MISSED_AFTER_S)


@dataclass(frozen=True, slots=True)
class Instant:
    """An instant that becomes an occurrence: with a run if it `fires`, else missed."""

    at: datetime
    fires: bool
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Due:
    """The instants that have come, oldest first; when the schedule is due again (None: never).

    `missed` counts instants, of which the oldest may share one row.
    """

    instants: Sequence[Instant]
    missed: int
    next_at: datetime | None


def due_instants(  # noqa: PLR0913  # one parameter for each fact that decides
    schedule: Schedule,
    first: datetime,
    now: datetime,
    tick_starts: Sequence[datetime],
    *,
    catch_up: CatchUp,
    catch_up_window_s: int,
) -> Due:
    """Return what becomes of the instants from `first`, the schedule's next one, to now + 60 s.

    `tick_starts` ascend, and hold every start from 60 s before `first` on. Of the instants the
    newest 1,000 become occurrences, the older ones one together, at `first`: its reason is
    `1234 older occurrences`.
    """
    until = now + _AHEAD
    instants, older = newest_fires(schedule, first, until, GAP_ROWS_MAX)
    missed = [at for at in instants if _was_missed(at, now, tick_starts)]
    caught = set(_caught_up(missed, now - timedelta(seconds=catch_up_window_s), catch_up))
    lost = set(missed) - caught
    rows = [Instant(at, at not in lost, CAUGHT_UP if at in caught else None) for at in instants]
    if older:
        reason = f"{older} older occurrences" if older > 1 else None
        rows.insert(0, Instant(first, fires=False, reason=reason))
    return Due(rows, len(lost) + older, next_fire(schedule, until))


def _was_missed(at: datetime, now: datetime, tick_starts: Sequence[datetime]) -> bool:
    if at >= now - _MISSED_AFTER:
        return False
    # The first tick that could have taken it.
    n = bisect_left(tick_starts, at - _AHEAD)
    return n == len(tick_starts) or tick_starts[n] > at + _MISSED_AFTER


def _caught_up(
    missed: Sequence[datetime], oldest: datetime, catch_up: CatchUp
) -> Sequence[datetime]:
    if catch_up == "none":
        return []
    within = [at for at in missed if at >= oldest]
    return within[-1:] if catch_up == "last" else within
