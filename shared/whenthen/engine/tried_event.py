"""The event of a dry run: one that is given, that of a run, or one made up of a record."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from whenthen.domain import limits
from whenthen.domain.errors import InvalidError
from whenthen.domain.ids import parse_id
from whenthen.domain.rules.sample_event import sample_event, sampled_trigger
from whenthen.domain.rules.trigger_event import as_run_sees, stored_input
from whenthen.domain.rules.truncate import truncate_json
from whenthen.domain.schemas.dry_run import DryRunBody
from whenthen.domain.schemas.events import Event, read_context
from whenthen.store import data_lists, dry_run_facts
from whenthen.store.automations import AutomationDetail
from whenthen.store.dry_run_facts import TriedRun
from whenthen.store.paging import PageRequest

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

# It is never written, so it collides with none.
_NO_ID = "dry-run"


@dataclass(frozen=True, slots=True)
class Tried:
    """An event as triggers see it, as a run would store it, and the run it is of, if it is."""

    event: Event
    input: Mapping[str, Any]
    run: TriedRun | None = None


def tried_event(
    connection: "Connection",
    automation: AutomationDetail,
    body: DryRunBody,
    now: datetime,
    *,
    sanitized: bool,
) -> Tried | None:
    """Return the event that `body` means; None if it names none and there is none to be found.

    Without event and run: the event of the newest run, else what would be reported of the newest
    record that a trigger listens to.

    Raises:
        InvalidError: the automation has no such run.

    """
    if body.event is not None:
        given = body.event
        context = given.automation_context
        event = _event(automation, given.type, given.payload, now)
        return _new(replace(event, automation_context=context, sanitized=sanitized))
    run = dry_run_facts.run_of(connection, automation.id, body.run_id)
    if run is not None:
        return _of_run(automation, run, now)
    if body.run_id is not None:
        details = [{"path": "runId", "message": "no run of this automation", "type": "run"}]
        raise InvalidError("VALIDATION_FAILED", "the run is unknown", details)
    return _of_newest_record(connection, automation, now)


def _new(event: Event) -> Tried:
    """Return an event that no run has had, cut to size as it would be on its way to one."""
    seen = as_run_sees(event)
    payload, truncated = truncate_json(dict(seen.payload), limits.PAYLOAD_MAX_BYTES)
    return Tried(event, stored_input(replace(seen, payload=payload), truncated=truncated))


def _of_run(automation: AutomationDetail, run: TriedRun, now: datetime) -> Tried:
    event = _event(automation, run.input["type"], run.input["payload"], now)
    context = read_context(run.input.get("automationContext"))
    return Tried(replace(event, automation_context=context), run.input, run)


def _of_newest_record(
    connection: "Connection", automation: AutomationDetail, now: datetime
) -> Tried | None:
    trigger = sampled_trigger(automation.triggers)
    if trigger is None:
        return None
    database_id = automation.database_id or parse_id(str(trigger["config"].get("databaseId")))
    if database_id is None:
        return None
    found = data_lists.records(connection, database_id, PageRequest(1)).rows
    if not found:
        return None
    record = found[0]
    type_, payload = sample_event(
        trigger, database_id, record.id, record.properties, record.version
    )
    return _new(_event(automation, type_, payload, now))


def _event(
    automation: AutomationDetail, type_: str, payload: Mapping[str, Any], now: datetime
) -> Event:
    return Event(_NO_ID, type_, automation.workspace_id, now, payload)
