"""The end of an event's road: its outbox row goes, or its bytes are kept as a dead event."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.engine import Connection

from whenthen.domain import json_text
from whenthen.store.new_id import new_id
from whenthen.store.prepared import prepared


@dataclass(frozen=True, slots=True)
class DeadEvent:
    """A stream record that could not be decoded or matched: its address, why, and its bytes."""

    source: str
    reason: str
    data: bytes


def end_events(
    connection: Connection, outbox_ids: Sequence[UUID], dead: Sequence[DeadEvent]
) -> None:
    """Remove the outbox rows `outbox_ids` and keep `dead`; one statement for both.

    Called in the transaction that inserts the events' runs, so an event leaves the outbox exactly
    when its runs exist. A second delivery finds no outbox row and changes nothing; a dead record
    that is delivered again is kept again.
    """
    if not outbox_ids and not dead:
        return
    rows = [
        {
            "id": str(new_id()),
            "source": event.source,
            "reason": event.reason,
            "data": event.data.hex(),
        }
        for event in dead
    ]
    _END.run(connection, {"ids": list(outbox_ids), "dead": json_text.dumps(rows)})


_END = prepared(
    """
    with gone as (
        delete from outbox where id = any(cast(:ids as uuid[]))
    )
    insert into dead_events (id, source, reason, data)
    select id, source, reason, decode(data, 'hex')
    from jsonb_to_recordset(cast(:dead as jsonb))
        as d(id uuid, source text, reason text, data text)
    """
)
