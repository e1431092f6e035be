"""Holding claimed runs: the guard that begins every step transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.engine import Connection

from whenthen.domain import limits
from whenthen.domain.kinds import AutomationStatus
from whenthen.store.prepared import prepared


@dataclass(frozen=True, slots=True)
class Holding:
    """What the first statement of a step transaction tells of a run that is still ours."""

    cancelled_by: UUID | None
    automation_status: AutomationStatus
    # The place of its first unfinished action, as the row has it.
    next_action: int


def hold(connection: Connection, run_ids: Sequence[UUID], lease: UUID) -> dict[UUID, Holding]:
    """Lock those of `run_ids` that are still RUNNING under `lease`, and push their lease on.

    The first statement of every step transaction. It must be an UPDATE: a mere predicate on the
    lease lets a slow worker and its successor both apply an effect (measured). Runs missing from
    the answer belong to somebody else now; the caller stops acting on them, silently.
    """
    rows = _HOLD.rows(
        connection, {"ids": list(run_ids), "lease": lease, "renewal_s": limits.LEASE_RENEWAL_S}
    )
    return {
        row["id"]: Holding(
            row["cancelled_by"], AutomationStatus(row["automation_status"]), row["next_action"]
        )
        for row in rows
    }


_HOLD = prepared(
    """
    with held as (
        select id from automation_runs
        where id = any(cast(:ids as uuid[])) and (status = 'RUNNING') is true
            and lease_token = cast(:lease as uuid)
        order by id
        for update
    )
    update automation_runs r
    set lease_expires_at = greatest(r.lease_expires_at,
            whenthen_now() + interval '1 second' * cast(:renewal_s as integer))
    from held, automations a
    where r.id = held.id and a.id = r.automation_id
    returning r.id, r.cancelled_by, r.next_action, a.status as automation_status
    """
)
