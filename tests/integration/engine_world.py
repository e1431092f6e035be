"""A small world for engine tests: a workspace, its people, a database, automations and events."""

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID, uuid4

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.aws.run_queue import QueuedRun
from whenthen.domain import json_text, limits
from whenthen.domain.kinds import Role, TriggerType
from whenthen.domain.rules.matching import trigger_scope
from whenthen.domain.rules.permissions import Access
from whenthen.domain.rules.retry_point import From
from whenthen.engine import cancel_run, retry_runs
from whenthen.engine.cancel_run import Cancelled
from whenthen.engine.context import Context
from whenthen.engine.execute_runs import Execution, execute_runs
from whenthen.engine.identify import Caller
from whenthen.engine.match_events import Arrival, match_events
from whenthen.engine.sweep import sweep_runs
from whenthen.store import run_claims
from whenthen.store.new_id import new_id
from whenthen.store.run_retries import RunFilter

Answer = TypeVar("Answer")

TICKETS = [
    {"name": "Name", "type": "text"},
    {
        "name": "Status",
        "type": "select",
        "options": [{"id": f"opt-{name.lower()}", "name": name} for name in "ABC"],
    },
    {"name": "Priority", "type": "number"},
    {"name": "Assignee", "type": "person"},
]

TRIAGE_CONDITION = {
    "field": {"ref": "property", "name": "Status"},
    "operator": "eq",
    "value": "B",
}


@dataclass
class World:
    """Writes rows as the API would, so that engine tests need no API."""

    context: Context
    workspace_id: UUID = field(default_factory=new_id)
    owner_id: UUID = field(default_factory=new_id)
    database_id: UUID = field(default_factory=new_id)

    def __post_init__(self) -> None:
        self.sql("insert into workspaces (id, name) values (:w, 'World')", w=self.workspace_id)
        self.add_member(self.owner_id, "OWNER")
        self.sql(
            "insert into databases (id, workspace_id, name, properties)"
            " values (:d, :w, 'Tickets', cast(:p as jsonb))",
            d=self.database_id,
            w=self.workspace_id,
            p=json_text.dumps(TICKETS),
        )

    def sql(self, statement: str, **values: Any) -> list[Any]:
        def work(connection: Any) -> list[Any]:
            result = connection.execute(text(statement), values)
            return list(result.mappings()) if result.returns_rows else []

        return self.context.database.transact(work)

    def add_member(self, user_id: UUID, role: str) -> UUID:
        self.sql("insert into users (id, email) values (:u, :e)", u=user_id, e=f"{user_id}@x.test")
        self.sql(
            "insert into members (workspace_id, user_id, role) values (:w, :u, :r)",
            w=self.workspace_id,
            u=user_id,
            r=role,
        )
        return user_id

    def add_database(self, name: str = "Elsewhere") -> UUID:
        database_id = new_id()
        self.sql(
            "insert into databases (id, workspace_id, name, properties)"
            " values (:d, :w, :n, cast(:p as jsonb))",
            d=database_id,
            w=self.workspace_id,
            n=name,
            p=json_text.dumps(TICKETS),
        )
        return database_id

    def add_record(self, **properties: Any) -> UUID:
        record_id = new_id()
        self.sql(
            "insert into records (id, workspace_id, database_id, properties)"
            " values (:r, :w, :d, cast(:p as jsonb))",
            r=record_id,
            w=self.workspace_id,
            d=self.database_id,
            p=json_text.dumps(properties),
        )
        return record_id

    def record(self, record_id: UUID) -> Any:
        rows = self.sql("select properties, version from records where id = :r", r=record_id)
        return rows[0] if rows else None

    def add_automation(
        self,
        actions: Sequence[Mapping[str, Any]],
        *,
        triggers: Sequence[Mapping[str, Any]] | None = None,
        condition: Mapping[str, Any] | None = None,
        status: str = "ACTIVE",
        database_id: UUID | None = None,
    ) -> UUID:
        """Store an automation on this world's database; actions get ids where they lack one."""
        automation_id = new_id()
        chosen = triggers or [{"type": "RECORD_CREATED", "config": {}}]
        scoped = database_id or self.database_id
        whole = [{"id": str(new_id()), **action} for action in actions]
        self.sql(
            "insert into automations (id, workspace_id, name, database_id, status, active_since)"
            " values (:a, :w, 'Triage', :d, :s, whenthen_now() - interval '1 minute')",
            a=automation_id,
            w=self.workspace_id,
            d=scoped,
            s=status,
        )
        self.sql(
            "insert into automation_versions (automation_id, version, schema, name, database_id,"
            " triggers, condition, actions) values (:a, 1, 1, 'Triage', :d, cast(:t as jsonb),"
            " cast(:c as jsonb), cast(:x as jsonb))",
            a=automation_id,
            d=scoped,
            t=json_text.dumps(list(chosen)),
            c=json_text.dumps(condition) if condition else None,
            x=json_text.dumps(whole),
        )
        for position, trigger in enumerate(chosen):
            self._add_trigger(automation_id, position, trigger, scoped)
        return automation_id

    def _add_trigger(
        self, automation_id: UUID, position: int, trigger: Mapping[str, Any], database_id: UUID
    ) -> None:
        type_ = TriggerType(trigger["type"])
        scope_id = trigger_scope(
            type_,
            trigger["config"],
            automation_id=automation_id,
            workspace_id=self.workspace_id,
            database_id=database_id,
        )
        self.sql(
            "insert into automation_triggers (id, automation_id, position, type, workspace_id,"
            " scope_id, config) values (:i, :a, :p, :t, :w, :s, cast(:c as jsonb))",
            i=new_id(),
            a=automation_id,
            p=position,
            t=type_.value,
            w=self.workspace_id,
            s=scope_id,
            c=json_text.dumps(trigger["config"]),
        )

    def created_event(self, record_id: UUID, **properties: Any) -> dict[str, Any]:
        """What a host puts on the stream when a record was created."""
        return {
            "id": str(uuid4()),
            "type": "record.created",
            "workspaceId": str(self.workspace_id),
            "payload": {
                "databaseId": str(self.database_id),
                "recordId": str(record_id),
                "properties": properties,
            },
        }

    def match(self, *events: Mapping[str, Any]) -> None:
        """Match events that arrive now, by the clock as it was turned."""
        turned_s = float(self.context.database.clock_offset_s)
        arrivals = [arrival(event, turned_s=turned_s) for event in events]
        match_events(self.context, arrivals, [])

    def execute(self, run_ids: Sequence[UUID] | None = None, remaining_s: float = 180) -> Execution:
        chosen = run_ids if run_ids is not None else self.pending_ids()
        return execute_runs(self.context, chosen, lambda: remaining_s)

    def turn_clock(self, by_s: float) -> None:
        """Let that much time pass for every lease, due time and wake-up."""
        self.context.database.clock_offset_s += by_s

    def sweep(self) -> int:
        return sweep_runs(self.context, lambda: True)

    def claim(self, run_ids: Sequence[UUID], remaining_s: float = 180) -> UUID:
        """Do what a worker does that dies right after its claim; return its lease."""
        lease = uuid4()

        def work(connection: Any) -> None:
            run_claims.claim(connection, run_ids, lease, remaining_s + limits.LEASE_MARGIN_S)

        self.context.database.transact(work)
        return lease

    def crash(self, run_ids: Sequence[UUID]) -> None:
        """Let a worker claim the runs and die, and let the sweep find out."""
        self.claim(run_ids)
        self.turn_clock(180 + limits.LEASE_MARGIN_S + limits.LEASE_WAKE_MARGIN_S + 1)
        self.sweep()

    def in_transaction(self, work: Callable[[Connection], Answer]) -> Answer:
        return self.context.database.transact(work)

    @property
    def owner(self) -> Caller:
        """The workspace's owner, as a request of theirs is served."""
        return Caller(self.owner_id, self.workspace_id, Access(Role.OWNER))

    def retry(
        self,
        run_id: UUID,
        *,
        from_: From = "failed",
        latest: bool = False,
        automation_id: UUID | None = None,
    ) -> QueuedRun:
        chosen = automation_id or self.automation_of(run_id)
        return self.in_transaction(
            lambda c: retry_runs.retry(c, self.owner, chosen, run_id, from_=from_, latest=latest)
        )

    def redrive(self, **narrowed: Any) -> int:
        wanted = RunFilter(self.workspace_id, **narrowed)
        return self.in_transaction(lambda c: retry_runs.redrive(c, self.owner, wanted))

    def cancel(self, run_id: UUID, *, automation_id: UUID | None = None) -> Cancelled:
        chosen = automation_id or self.automation_of(run_id)
        return self.in_transaction(lambda c: cancel_run.cancel(c, self.owner, chosen, run_id))

    def automation_of(self, run_id: UUID) -> UUID:
        (row,) = self.sql("select automation_id from automation_runs where id = :r", r=run_id)
        automation_id: UUID = row["automation_id"]
        return automation_id

    def settle_all(self, rounds: int = 20) -> None:
        """Match what is in the outbox and execute what is due, until nothing is left to do."""
        for _ in range(rounds):
            events = self.outbox_events()
            if events:
                self.match(*events)
            run_ids = self.pending_ids()
            if not events and not run_ids:
                return
            for start in range(0, len(run_ids), 5):
                self.execute(run_ids[start : start + 5])
        raise AssertionError("the world does not come to rest")

    def outbox_events(self) -> list[dict[str, Any]]:
        rows = self.sql("select * from outbox order by id")
        return [
            {
                "id": row["event_id"],
                "type": row["type"],
                "workspaceId": str(row["workspace_id"]),
                "occurredAt": row["occurred_at"].isoformat(),
                "payload": row["payload"],
                "automationContext": row["automation_context"],
                "outboxId": str(row["id"]),
                "actorId": str(row["actor_id"]) if row["actor_id"] else None,
            }
            for row in rows
        ]

    def pending_ids(self) -> list[UUID]:
        return [
            row["id"]
            for row in self.sql(
                "select id from automation_runs"
                " where status = 'PENDING' and due_at <= whenthen_now() order by id"
            )
        ]

    def runs(self) -> list[Any]:
        return self.sql("select * from automation_runs order by created_at, id")

    def the_run(self) -> Any:
        (run,) = self.runs()
        return run

    def steps(self, run_id: UUID) -> list[Any]:
        return self.sql(
            "select * from automation_run_steps where run_id = :r order by generation, index",
            r=run_id,
        )

    def lines(self, run_id: UUID) -> list[str]:
        rows = self.sql(
            "select level, message from automation_logs where run_id = :r order by seq", r=run_id
        )
        return [f"{row['level']} {row['message']}" for row in rows]

    def line_data(self, run_id: UUID, message: str) -> Any:
        (row,) = self.sql(
            "select data from automation_logs where run_id = :r and message = :m",
            r=run_id,
            m=message,
        )
        return row["data"]


def arrival(event: Mapping[str, Any], source: str | None = None, *, turned_s: float = 0) -> Arrival:
    data = json_text.dumps(event).encode()
    at = datetime.now(UTC) + timedelta(seconds=turned_s)
    return Arrival(source or f"shardId-000000000000:{uuid4().int}", data, at)


def kinesis_record(data: bytes | str, sequence: str) -> dict[str, Any]:
    """A record as the event source mapping delivers it."""
    text_data = base64.b64encode(data).decode() if isinstance(data, bytes) else data
    return {
        "kinesis": {
            "data": text_data,
            "sequenceNumber": sequence,
            "approximateArrivalTimestamp": datetime.now(UTC).timestamp(),
        },
        "eventID": f"shardId-000000000000:{sequence}",
    }
