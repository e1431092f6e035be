"""Reads the ids that a config names; one that is no id names nothing of this workspace."""

from typing import Any
from uuid import UUID

from whenthen.actions.requests import StepRequest
from whenthen.domain.errors import FatalError
from whenthen.domain.ids import parse_id
from whenthen.domain.schemas.templated import FROM_TRIGGER
from whenthen.store.records import RecordKey


def not_found(what: str) -> FatalError:
    """Return the refusal of an id that is unknown, gone or of another workspace: all the same."""
    return FatalError("NOT_FOUND", f"{what} not found in this workspace")


def read_id(value: Any, what: str) -> UUID:
    """Return the id that `value` writes.

    Raises:
        FatalError: NOT_FOUND, as for an unknown id.

    """
    found = parse_id(value) if isinstance(value, str) else None
    if found is None:
        raise not_found(what)
    return found


def record_key(request: StepRequest) -> RecordKey:
    """Return the record that the config's `recordId` names, inside the run's workspace.

    Raises:
        FatalError: NOT_FOUND, also for `from_trigger` when the event has no record.

    """
    named = request.config.get("recordId")
    value = request.record_id if named == FROM_TRIGGER else named
    return RecordKey(request.workspace_id, read_id(value, "record"))
