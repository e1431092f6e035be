"""Occurrences that no tick writes: of runs that were skipped, of clocks that were stopped."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.domain import json_text


def skip(connection: Connection, reasons: Mapping[UUID, str]) -> None:
    """Turn the `fired` occurrences of these runs into `skipped`, each for its reason."""
    if reasons:
        rows = [{"run_id": str(run_id), "reason": reason} for run_id, reason in reasons.items()]
        connection.execute(_SKIP, {"runs": json_text.dumps(rows)})


_SKIP = text(
    """
    update schedule_occurrences o set outcome = 'skipped', reason = n.reason
    from jsonb_to_recordset(cast(:runs as jsonb)) as n(run_id uuid, reason text)
    where o.run_id = n.run_id and o.outcome = 'fired'
    """
)


@dataclass(frozen=True, slots=True)
class Missed:
    """An instant of a schedule that nobody will fire any more."""

    schedule_id: UUID
    version: int
    scheduled_for: datetime
    reason: str


def add_missed(connection: Connection, missed: Sequence[Missed]) -> None:
    """Write instants as missed; one that has its row already keeps it."""
    if missed:
        rows = [
            {
                "schedule_id": str(one.schedule_id),
                "version": one.version,
                "scheduled_for": one.scheduled_for.isoformat(),
                "reason": one.reason,
            }
            for one in missed
        ]
        connection.execute(_ADD_MISSED, {"missed": json_text.dumps(rows)})


_ADD_MISSED = text(
    """
    insert into schedule_occurrences (schedule_id, version, scheduled_for, outcome, reason)
    select schedule_id, version, scheduled_for, 'missed', reason
    from jsonb_to_recordset(cast(:missed as jsonb)) as n(schedule_id uuid, version integer,
        scheduled_for timestamptz, reason text)
    on conflict do nothing
    """
)
