"""Brings the rows of schedules in line with the SCHEDULE triggers of ACTIVE automations."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from whenthen.domain.kinds import SkipReason
from whenthen.domain.limits import FIRE_AHEAD_S
from whenthen.domain.rules.schedule_diff import (
    Difference,
    ScheduleRow,
    as_changed,
    difference,
    from_now,
    passed_over,
)
from whenthen.engine import finish_run
from whenthen.engine.fire_schedules import fire_soon
from whenthen.engine.publish import publish
from whenthen.engine.run_progress import begin
from whenthen.store import clock, run_claims, schedule_occurrences, schedules
from whenthen.store.outbox import OutboxEvent
from whenthen.store.run_settlements import settle
from whenthen.store.schedule_occurrences import Missed

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.engine import Connection

    from whenthen.engine.context import Context

# Automations that one tick sees to, and those of one transaction. Only the first tick after an
# upgrade finds more than a few.
_AUTOMATIONS_MAX = 20_000
_BATCH_MAX = 200


@dataclass(frozen=True, slots=True)
class Aligned:
    """How many schedules were written, and what is to be done about it after the commit."""

    count: int = 0
    events: Sequence[OutboxEvent] = ()
    # Instants that a clock had not fired when it was stopped.
    missed: int = 0
    # One of the schedules fires before the next tick would see it.
    fires_soon: bool = False


def align(
    connection: "Connection", automation_ids: Sequence[UUID], *, activated: bool = False
) -> Aligned:
    """Write the schedules of automations whose rows the caller has locked; part of its transaction.

    Whatever changes with a schedule (its version, its clock, that it is there), the runs that were
    made ahead of an instant that is still to come, and that nobody has claimed, end as the skip
    `superseded`, their occurrences too. A new version with the same clock fires these instants
    itself. With another clock, or `activated`, the schedule begins now: it fires later than now.
    What a clock that stops should have fired already, and did not, is written as missed.
    """
    present = schedules.lock(connection, automation_ids)
    wanted = schedules.wanted(connection, automation_ids)
    plan = difference(wanted, present, anew=activated)
    if not plan.count:
        return Aligned()
    # One instant for all of it: what is due by then stays, what is not is withdrawn.
    now = clock.now(connection)
    withdrawn, events = _withdraw(connection, plan.left, now)
    missed = _account_for(connection, plan.stopped, now)
    soon = now + timedelta(seconds=FIRE_AHEAD_S)
    written = _write(connection, plan, now, withdrawn)
    # What is late is left to the tick: an edit starts nothing at once.
    fires_soon = any(row.next_at is not None and now < row.next_at <= soon for row in written)
    return Aligned(plan.count, events, missed, fires_soon)


def follow_up(context: "Context", automation_id: UUID, aligned: Aligned) -> None:
    """Do what follows from an edit of one automation, once it is committed.

    Raises nothing: what fails is left to the sweep and to the next tick.
    """
    _tell(context, aligned)
    if aligned.fires_soon:
        fire_soon(context, automation_id)


def align_all(context: "Context") -> int:
    """Align the schedules that something other than an edit has left behind; return how many.

    An automation that somebody is writing is passed over: the writer aligns it. The others are read
    again under their lock, so nothing that was read before an edit is written after it. A second
    call at the same time takes other automations.
    """
    drifted = context.database.transact(lambda c: schedules.drifted(c, _AUTOMATIONS_MAX))
    if not drifted:
        return 0
    count = context.database.transact(schedules.delete_orphans)
    for start in range(0, len(drifted), _BATCH_MAX):
        batch = drifted[start : start + _BATCH_MAX]
        aligned = context.database.transact(partial(_align_free, batch))
        _tell(context, aligned)
        count += aligned.count
    return count


def _tell(context: "Context", aligned: Aligned) -> None:
    publish(context, aligned.events)
    context.metrics.count("schedules.missed", aligned.missed)


def _align_free(automation_ids: Sequence[UUID], connection: "Connection") -> Aligned:
    return align(connection, schedules.lock_free(connection, automation_ids))


def _withdraw(
    connection: "Connection", rows: Sequence[ScheduleRow], now: "datetime"
) -> tuple[dict[UUID, "datetime"], Sequence[OutboxEvent]]:
    """End the runs ahead of `now` of schedules that stop being what they are.

    Returns the first withdrawn instant of each schedule, and the events of the ends.
    """
    if not rows:
        return {}, ()
    lease = uuid4()
    ahead = schedules.hold_ahead(connection, rows, now, lease)
    if not ahead:
        return {}, ()
    ids = [run.id for run in ahead]
    runs, _ = run_claims.read(connection, ids, frozenset(ids))
    _, events = settle(
        connection,
        [finish_run.skipped(begin(run, lease), SkipReason.SUPERSEDED, None) for run in runs],
    )
    first: dict[UUID, datetime] = {}
    for run in sorted(ahead, key=lambda one: one.scheduled_for, reverse=True):
        first[run.schedule_id] = run.scheduled_for
    return first, events


def _account_for(connection: "Connection", rows: Sequence[ScheduleRow], now: "datetime") -> int:
    """Write what stopped clocks had not fired by `now` as missed; return how many instants."""
    passed = [(row.wanted, passed_over(row, now)) for row in rows]
    schedule_occurrences.add_missed(
        connection,
        [
            Missed(wanted.id, wanted.version, at, reason)
            for wanted, over in passed
            for at, reason in over.rows
        ],
    )
    return sum(over.count for _, over in passed)


def _write(
    connection: "Connection",
    plan: Difference,
    now: "datetime",
    withdrawn: dict[UUID, "datetime"],
) -> list[ScheduleRow]:
    """Carry out `plan`; return the rows as they are now."""
    schedules.delete(connection, [row.wanted.id for row in plan.gone])
    changed = [
        as_changed(before, wanted, now, withdrawn.get(wanted.id)) for before, wanted in plan.changed
    ]
    schedules.update(connection, changed)
    new = [from_now(wanted, now) for wanted in plan.new]
    schedules.insert(connection, new, now)
    return changed + new
