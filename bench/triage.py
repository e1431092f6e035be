"""The reference work: a record of Status B arrives, one automation of ten matches and runs.

Its condition is true; its actions are UPDATE_RECORD and CREATE_NOTIFICATION.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import text
from sqlalchemy.engine import Connection

from bench.aws_at_once import record_data
from whenthen.domain import json_text
from whenthen.store.connection import Database
from whenthen.store.new_id import new_id

AUTOMATIONS = 10
CONDITION = {"field": {"ref": "property", "name": "Status"}, "operator": "eq", "value": "B"}
ACTIONS = (
    {
        "type": "UPDATE_RECORD",
        "config": {"recordId": "from_trigger", "propertyValues": {"Priority": 1}},
    },
    {"type": "CREATE_NOTIFICATION", "config": {"title": "Triage {{ record.Name }}"}},
)
RECORD = {"Name": "Ticket", "Status": "B"}
PROPERTIES = [
    {"name": "Name", "type": "text"},
    {
        "name": "Status",
        "type": "select",
        "options": [{"id": f"opt-{name}", "name": name} for name in "ABC"],
    },
    {"name": "Priority", "type": "number"},
]


@dataclass
class Triage:
    """One workspace with one owner, and the database that the events are about."""

    database: Database
    workspace_id: UUID = field(default_factory=new_id)
    owner_id: UUID = field(default_factory=new_id)
    database_id: UUID = field(default_factory=new_id)
    # The database that the automations which do not match listen to.
    other_database_id: UUID = field(default_factory=new_id)
    # The automation that matches, and its two actions.
    matching_id: UUID = field(default_factory=new_id)
    action_ids: tuple[UUID, UUID] = field(default_factory=lambda: (new_id(), new_id()))

    def set_up(self, automations: int = AUTOMATIONS) -> None:
        """Write the workspace and its automations, of which the first alone matches."""
        self.database.transact(self._write_workspace)
        for start in range(0, automations, 1_000):
            numbers = range(start, min(start + 1_000, automations))
            rows = [
                _automation(new_id(), self.other_database_id, (new_id(), new_id()))
                if n
                else _automation(self.matching_id, self.database_id, self.action_ids)
                for n in numbers
            ]
            self.database.transact(partial(self._write_automations, rows))

    def records(self, n: int) -> list[UUID]:
        """Write `n` records of Status B and return their ids."""
        record_ids = [new_id() for _ in range(n)]
        rows = [{"id": str(record_id), "properties": RECORD} for record_id in record_ids]
        self.database.transact(lambda c: self._write_records(c, rows))
        return record_ids

    def events(self, n: int) -> list[str]:
        """Write `n` records and return the stream's data of the events that tell of them."""
        return [record_data(self._event(record_id)) for record_id in self.records(n)]

    def outcome(self) -> dict[str, int]:
        """Return how many runs there are of each status."""
        statement = text(
            "select status, count(*) as n from automation_runs"
            " where workspace_id = :workspace_id group by status"
        )
        return self.database.transact(
            lambda c: {
                row.status: row.n
                for row in c.execute(statement, {"workspace_id": self.workspace_id})
            }
        )

    def require_succeeded(self, n: int) -> None:
        """End the bench unless there are `n` runs and all SUCCEEDED: it would measure nothing."""
        if self.outcome() != {"SUCCEEDED": n}:
            raise SystemExit(f"not every run succeeded: {self.outcome()}")

    def _event(self, record_id: UUID) -> dict[str, Any]:
        return {
            "id": str(uuid4()),
            "type": "record.created",
            "workspaceId": str(self.workspace_id),
            "payload": {
                "databaseId": str(self.database_id),
                "recordId": str(record_id),
                "properties": RECORD,
            },
        }

    def _write_workspace(self, connection: Connection) -> None:
        values = {
            "workspace_id": self.workspace_id,
            "owner_id": self.owner_id,
            "database_id": self.database_id,
            "other_database_id": self.other_database_id,
            "properties": json_text.dumps(PROPERTIES),
        }
        for statement in _WORKSPACE:
            connection.execute(text(statement), values)

    def _write_automations(self, rows: Sequence[dict[str, Any]], connection: Connection) -> None:
        values = {"workspace_id": self.workspace_id, "rows": json_text.dumps(list(rows))}
        for statement in _AUTOMATIONS:
            connection.execute(text(statement), values)

    def _write_records(self, connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
        connection.execute(
            text(
                "insert into records (id, workspace_id, database_id, properties)"
                " select id, :workspace_id, :database_id, properties"
                " from jsonb_to_recordset(cast(:rows as jsonb)) as r(id uuid, properties jsonb)"
            ),
            {
                "workspace_id": self.workspace_id,
                "database_id": self.database_id,
                "rows": json_text.dumps(list(rows)),
            },
        )


_WORKSPACE = (
    "insert into workspaces (id, name) values (:workspace_id, 'Bench')",
    "insert into users (id, email) values (:owner_id, cast(:owner_id as text) || '@bench.test')",
    "insert into members (workspace_id, user_id, role) values (:workspace_id, :owner_id, 'OWNER')",
    """
    insert into databases (id, workspace_id, name, properties)
    values (:database_id, :workspace_id, 'Tickets', cast(:properties as jsonb)),
        (:other_database_id, :workspace_id, 'Orders', cast(:properties as jsonb))
    """,
)
_ROWS = (
    " from jsonb_to_recordset(cast(:rows as jsonb)) as r(id uuid, trigger_id uuid,"
    " database_id uuid, triggers jsonb, condition jsonb, actions jsonb)"
)
_AUTOMATIONS = (
    f"""
    insert into automations (id, workspace_id, name, database_id, status, active_since)
    select id, :workspace_id, 'Triage', database_id, 'ACTIVE', whenthen_now() - interval '1 minute'
    {_ROWS}
    """,
    f"""
    insert into automation_versions (automation_id, version, schema, name, database_id, triggers,
        condition, actions)
    select id, 1, 1, 'Triage', database_id, triggers, condition, actions {_ROWS}
    """,
    f"""
    insert into automation_triggers (id, automation_id, position, type, workspace_id, scope_id,
        config)
    select trigger_id, id, 0, 'RECORD_CREATED', :workspace_id, database_id, '{{}}' {_ROWS}
    """,
)


def _automation(
    automation_id: UUID, database_id: UUID, action_ids: tuple[UUID, UUID]
) -> dict[str, Any]:
    trigger_id = str(new_id())
    return {
        "id": str(automation_id),
        "trigger_id": trigger_id,
        "database_id": str(database_id),
        "triggers": [{"id": trigger_id, "type": "RECORD_CREATED", "config": {}}],
        "condition": CONDITION,
        "actions": [
            {"id": str(action_id), **action}
            for action_id, action in zip(action_ids, ACTIONS, strict=True)
        ],
    }
