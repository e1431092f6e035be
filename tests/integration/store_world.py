"""Rows for store tests: runs in any state, and what a statement left of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID, uuid4

from sqlalchemy.engine import Connection

from tests.integration.engine_world import World
from whenthen.store.new_id import new_id
from whenthen.store.run_claims import claim
from whenthen.store.run_inserts import NewRun, RunEvent, insert_runs

Result = TypeVar("Result")

LEASE_S = 200.0


@dataclass(frozen=True)
class Held:
    """A RUNNING run under `lease`, and the ids of its automation's actions."""

    run_id: UUID
    lease: UUID
    action_ids: Sequence[UUID]


def claimed_ids(
    connection: Connection, run_ids: Sequence[UUID], lease: UUID, lease_s: float
) -> frozenset[UUID]:
    claimed, _ = claim(connection, run_ids, lease, lease_s)
    return frozenset(run.id for run in claimed)


class StoreWorld(World):
    """A workspace of the test's own in a database that it shares with other tests."""

    def transact(self, work: Callable[[Connection], Result]) -> Result:
        return self.context.database.transact(work)

    def event(self, **changes: Any) -> RunEvent:
        facts: dict[str, Any] = {
            "event_id": f"evt:{self.workspace_id}:{uuid4()}",
            "workspace_id": self.workspace_id,
            "trigger_type": "record.created",
            "record_id": None,
            "input": self.input(),
        }
        return RunEvent(**{**facts, **changes})

    def input(self, **payload: Any) -> dict[str, Any]:
        return {
            "type": "record.created",
            "payload": payload,
            "workspaceId": str(self.workspace_id),
            "automationContext": None,
        }

    def pending(self, actions: int = 1, automation_id: UUID | None = None, **event: Any) -> UUID:
        """Return a new PENDING run, due now, of an automation with so many actions."""
        chosen = automation_id or self.add_automation(
            [{"type": "CREATE_NOTIFICATION", "config": {"title": "x"}}] * actions
        )
        run = NewRun(new_id(), 0, chosen, 1)
        self.transact(lambda connection: insert_runs(connection, [self.event(**event)], [run]))
        return run.id

    def running(self, actions: int = 1, **event: Any) -> Held:
        """Return a new run that somebody has claimed."""
        run_id = self.pending(actions, **event)
        return self.claimed(run_id)

    def claimed(self, run_id: UUID) -> Held:
        lease = uuid4()
        assert self.claim_under([run_id], lease) == {run_id}
        return Held(run_id, lease, self.action_ids(run_id))

    def claim_under(
        self, run_ids: Sequence[UUID], lease: UUID, lease_s: float = LEASE_S
    ) -> frozenset[UUID]:
        return self.transact(lambda connection: claimed_ids(connection, run_ids, lease, lease_s))

    def action_ids(self, run_id: UUID) -> list[UUID]:
        (row,) = self.sql(
            "select actions from automation_runs r"
            " join automation_versions v using (automation_id, version) where r.id = :r",
            r=run_id,
        )
        return [UUID(action["id"]) for action in row["actions"]]

    def row(self, run_id: UUID) -> Mapping[str, Any]:
        """Return the run's row, with the seconds from now of its instants beside them."""
        (row,) = self.sql(
            "select *, cast(extract(epoch from due_at - whenthen_now()) as float8) as due_in_s,"
            " cast(extract(epoch from enqueue_after - whenthen_now()) as float8) as wake_in_s,"
            " cast(extract(epoch from lease_expires_at - whenthen_now()) as float8) as lease_in_s"
            " from automation_runs where id = :r",
            r=run_id,
        )
        found: Mapping[str, Any] = row
        return found

    def change(self, run_id: UUID, assignments: str, **values: Any) -> None:
        """Bring the run's row into a state that the engine would take long to reach."""
        self.sql(f"update automation_runs set {assignments} where id = :r", r=run_id, **values)

    def step(self, run_id: UUID, action_id: UUID, status: str, **columns: Any) -> None:
        """Write a step row of the run's present generation."""
        self.sql(
            "insert into automation_run_steps (run_id, generation, action_id, index, type, status,"
            " attempts, output, error) select id, generation, :a, :i, 'CREATE_NOTIFICATION', :s,"
            " :n, cast(:o as jsonb), cast(:e as jsonb) from automation_runs where id = :r"
            " on conflict (run_id, generation, action_id) do update set status = excluded.status,"
            " attempts = excluded.attempts, output = excluded.output, error = excluded.error",
            r=run_id,
            a=action_id,
            s=status,
            i=columns.get("index", 0),
            n=columns.get("attempts", 1),
            o=columns.get("output"),
            e=columns.get("error"),
        )

    def everything(self, run_id: UUID) -> list[list[Mapping[str, Any]]]:
        """Return all that the database holds of the run: row, steps, log and its events."""
        events = (
            "select o.* from outbox o join automation_runs r using (workspace_id)"
            " where r.id = :r order by o.id"
        )
        return [
            self.sql("select * from automation_runs where id = :r", r=run_id),
            self.steps(run_id),
            self.sql("select * from automation_logs where run_id = :r order by seq", r=run_id),
            self.sql(events, r=run_id),
        ]
