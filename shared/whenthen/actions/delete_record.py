"""DELETE_RECORD: removes a record of the run's workspace; emits nothing."""

from collections.abc import Sequence

from sqlalchemy.engine import Connection

from whenthen.actions.answers import in_order, split
from whenthen.actions.named_ids import not_found, record_key
from whenthen.actions.requests import NotGroupableError, StepAnswer, StepRequest, StepSuccess
from whenthen.store import records


def apply(connection: Connection, requests: Sequence[StepRequest]) -> list[StepAnswer]:
    """Delete the record of each request; the output is `{"recordId"}`.

    Raises:
        NotGroupableError: two requests name the same record.

    """
    keys, unread = split(range(len(requests)), lambda place: record_key(requests[place]))
    if len(set(keys.values())) < len(keys):
        raise NotGroupableError
    gone = records.delete(connection, list(keys.values()))

    def answer(place: int) -> StepSuccess:
        if keys[place] not in gone:
            raise not_found("record")
        return StepSuccess({"recordId": str(keys[place].id)})

    successes, refused = split(keys, answer)
    return in_order(successes, unread | refused)
