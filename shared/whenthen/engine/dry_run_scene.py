"""All that the conditions and templates of a dry run may look at."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from whenthen.domain import instants
from whenthen.domain.ids import parse_id
from whenthen.domain.kinds import PropertyType
from whenthen.domain.rules.shown_config import HIDDEN
from whenthen.domain.rules.trigger_event import build_trigger_event
from whenthen.engine.tried_event import Tried
from whenthen.store import dry_run_facts
from whenthen.store.automations import AutomationDetail
from whenthen.store.dry_run_facts import Surroundings
from whenthen.store.new_id import new_id

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


@dataclass(frozen=True, slots=True)
class Scene:
    """`event` is flattened; `outputs` has those of the tried run's finished actions, by their id.

    `record_id` is the one that `from_trigger` means, `roots` are those of templates, without
    `actions`.
    """

    event: Mapping[str, Any]
    record_id: str | None
    properties: Mapping[str, Any]
    property_types: Mapping[str, PropertyType]
    roots: Mapping[str, Any]
    outputs: Mapping[str, Any]
    now: datetime


def scene(
    connection: "Connection", automation: AutomationDetail, tried: Tried, now: datetime
) -> Scene:
    """Return what a run of `tried` would see now."""
    event = build_trigger_event(tried.input)
    named = event.get("recordId")
    record_id = named if isinstance(named, str) else None
    around = dry_run_facts.surroundings(
        connection,
        automation.workspace_id,
        record_id=_id_in(event, "recordId"),
        database_id=_id_in(event, "databaseId"),
        scope_id=automation.database_id,
    )
    if around.is_outside:
        record_id = None
    properties = _properties(tried.input, around)
    database_id = event.get("databaseId") or around.database_id
    roots = {
        "trigger": event,
        "record": {
            **properties,
            "id": record_id,
            "databaseId": None if database_id is None else str(database_id),
        },
        "run": _run(tried, now),
        "automation": {"id": str(automation.id), "name": automation.name},
        "workspace": {"id": str(automation.workspace_id), "name": around.workspace_name},
        "secrets": dict.fromkeys(around.secret_names, HIDDEN),
        "now": instants.to_text(now),
    }
    types = {item["name"]: PropertyType(item["type"]) for item in around.schema}
    outputs = tried.run.outputs if tried.run else {}
    return Scene(event, record_id, properties, types, roots, outputs, now)


def _id_in(event: Mapping[str, Any], key: str) -> UUID | None:
    text = event.get(key)
    return parse_id(text) if isinstance(text, str) else None


def _properties(stored: Mapping[str, Any], around: Surroundings) -> Mapping[str, Any]:
    """Return the record's properties as a run would take them: the event's own come first."""
    snapshot = stored["payload"].get("properties")
    if isinstance(snapshot, dict) and not stored.get("truncated"):
        return snapshot
    return around.properties or {}


def _run(tried: Tried, now: datetime) -> dict[str, Any]:
    run, context = tried.run, tried.event.automation_context
    if run is not None:
        return {
            "id": str(run.id),
            "createdAt": instants.to_text(run.created_at),
            "triggerType": run.trigger_type,
            "depth": run.depth,
        }
    return {
        # Of a run that never was.
        "id": str(new_id()),
        "createdAt": instants.to_text(now),
        "triggerType": tried.input["type"],
        "depth": context.depth if context else 0,
    }
