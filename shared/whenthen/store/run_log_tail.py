"""The log lines that runs have gained since somebody last looked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.domain import json_text


@dataclass(frozen=True, slots=True)
class TailLine:
    """One log line of one run; `seq` grows along the run's log."""

    run_id: UUID
    seq: int
    level: str
    message: str
    data: Mapping[str, Any]
    automation_name: str | None


def lines_after(connection: Connection, seen: Mapping[UUID, int]) -> list[TailLine]:
    """Return the lines of the runs in `seen` (run → last number seen, 0: none), oldest first."""
    rows = [{"run_id": str(run_id), "seq": seq} for run_id, seq in seen.items()]
    found = connection.execute(_LINES_AFTER, {"seen": json_text.dumps(rows)}).mappings()
    return [TailLine(**row) for row in found]


_LINES_AFTER = text(
    """
    select l.run_id, l.seq, l.level, l.message, l.data, a.name as automation_name
    from jsonb_to_recordset(cast(:seen as jsonb)) as s(run_id uuid, seq bigint)
    join automation_logs l on l.run_id = s.run_id and l.seq > s.seq
    left join automation_runs r on r.id = l.run_id
    left join automations a on a.id = r.automation_id
    order by l.seq
    """
)
