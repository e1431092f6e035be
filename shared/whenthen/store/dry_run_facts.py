"""What a dry run has to know beside the definition; all of it read, nothing locked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection


@dataclass(frozen=True, slots=True)
class TriedRun:
    """A run whose event is to be tried; `outputs` is by the ids of its finished actions."""

    id: UUID
    input: Mapping[str, Any]
    trigger_type: str
    depth: int
    created_at: datetime
    outputs: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The workspace, and the record that the event names; null where there is none to be seen."""

    workspace_name: str
    secret_names: Sequence[str]
    # The record is of a database that the automation does not reach.
    is_outside: bool
    database_id: UUID | None
    properties: Mapping[str, Any] | None
    # The schema of the event's database, else of the record's: `[{"name", "type", "options"?}]`.
    schema: Sequence[Mapping[str, Any]]


def run_of(connection: Connection, automation_id: UUID, run_id: UUID | None) -> TriedRun | None:
    """Return that run of this automation, without `run_id` its newest one; None without any."""
    values = {"automation_id": automation_id}
    if run_id is not None:
        values["run_id"] = run_id
    statement = _NEWEST if run_id is None else _ONE
    row = connection.execute(statement, values).mappings().one_or_none()
    return TriedRun(**row) if row else None


_RUN = """
    select r.id, r.input, r.trigger_type, r.depth, r.created_at, steps.outputs
    from automation_runs r
    cross join lateral (
        select coalesce(jsonb_object_agg(s.action_id, s.output), '{}') as outputs
        from automation_run_steps s
        where s.run_id = r.id and s.generation = r.generation and s.status = 'SUCCEEDED'
    ) steps
    where r.automation_id = :automation_id
"""
_ONE = text(f"{_RUN} and r.id = :run_id")
_NEWEST = text(f"{_RUN} order by r.created_at desc, r.id desc limit 1")


def surroundings(
    connection: Connection,
    workspace_id: UUID,
    *,
    record_id: UUID | None,
    database_id: UUID | None,
    scope_id: UUID | None,
) -> Surroundings:
    """Return the facts about a workspace, a record of it and the event's database.

    With `scope_id`, the automation's database, a record of another one is not there, as in a run.
    """
    values = {
        "workspace_id": workspace_id,
        "record_id": record_id,
        "database_id": database_id,
        "scope_id": scope_id,
    }
    return Surroundings(**connection.execute(_SURROUNDINGS, values).mappings().one())


_SURROUNDINGS = text(
    """
    select w.name as workspace_name, scope.is_outside,
        case when not scope.is_outside then rec.database_id end as database_id,
        case when not scope.is_outside then rec.properties end as properties,
        coalesce(d.properties, '[]') as schema,
        (select coalesce(jsonb_agg(name), '[]') from secrets where workspace_id = w.id)
            as secret_names
    from workspaces w
    left join records rec on rec.id = cast(:record_id as uuid) and rec.workspace_id = w.id
    left join databases d on d.workspace_id = w.id
        and d.id = coalesce(cast(:database_id as uuid), rec.database_id)
    cross join lateral (
        select coalesce(rec.database_id <> cast(:scope_id as uuid), false) as is_outside
    ) scope
    where w.id = :workspace_id
    """
)
