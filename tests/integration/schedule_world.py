"""A world with schedules: definitions written as the API writes them, and a clock that is set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import text

from tests.integration.engine_world import World
from tests.integration.standing_clock import StandingAt
from whenthen.domain.kinds import AutomationStatus
from whenthen.domain.schemas import problems
from whenthen.domain.schemas.automations import (
    ActionsBody,
    CreateAutomation,
    StatusBody,
    TriggersBody,
)
from whenthen.engine import edit_definition, execute_runs, manage_automations, tick_schedules
from whenthen.engine.align_schedules import follow_up
from whenthen.engine.edit_definition import Edited
from whenthen.engine.run_progress import RunProgress
from whenthen.store.new_id import new_id

NOTIFY = {"type": "CREATE_NOTIFICATION", "config": {"title": "x"}}
SECOND = timedelta(seconds=1)


@dataclass
class ScheduleWorld(World):
    """Sets the database's clock to an instant, at which it stands until it is set again."""

    def at(self, instant: datetime) -> None:
        self.context.database.clock_offset_s = StandingAt(instant)

    def now(self) -> datetime:
        now: datetime = self.sql("select whenthen_now() as now")[0]["now"]
        return now

    def noon(self) -> datetime:
        """A noon (UTC) that lies well ahead."""
        ahead = self.now() + timedelta(days=2)
        return ahead.replace(hour=12, minute=0, second=0, microsecond=0)

    def scheduled(
        self,
        *configs: Mapping[str, Any],
        actions: Sequence[Mapping[str, Any]] = (NOTIFY,),
        condition: Mapping[str, Any] | None = None,
        status: str = "ACTIVE",
    ) -> UUID:
        """Return an automation with these schedules, made and activated now."""
        body = problems.read(
            CreateAutomation,
            {
                "name": "Scheduled",
                "databaseId": str(self.database_id),
                "triggers": triggers(*configs),
                "condition": condition,
                "actions": list(actions),
            },
        )
        made = self.in_transaction(lambda c: manage_automations.create(c, self.owner, body))
        if status != "DRAFT":
            self.take(made.automation.id, status)
        return made.automation.id

    def take(self, automation_id: UUID, status: str) -> None:
        body = StatusBody(status=AutomationStatus(status))
        self._done(
            self.in_transaction(
                lambda c: manage_automations.set_status(c, self.owner, automation_id, body)
            )
        )

    def put(self, automation_id: UUID, *configs: Mapping[str, Any]) -> None:
        """Replace the triggers by these schedules."""
        body = problems.read(TriggersBody, {"triggers": triggers(*configs)})
        self._done(
            self.in_transaction(
                lambda c: edit_definition.put_triggers(c, self.owner, automation_id, body)
            )
        )

    def put_actions(self, automation_id: UUID, *actions: Mapping[str, Any]) -> None:
        """Replace the actions: a new version, whose schedules are what they were."""
        body = problems.read(ActionsBody, {"actions": list(actions)})
        self._done(
            self.in_transaction(
                lambda c: edit_definition.put_actions(c, self.owner, automation_id, body)
            )
        )

    def archive(self, automation_id: UUID) -> None:
        aligned = self.in_transaction(
            lambda c: manage_automations.archive(c, self.owner, automation_id)
        )
        follow_up(self.context, automation_id, aligned)

    def _done(self, edited: Edited) -> None:
        edit_definition.follow_up(self.context, edited)

    def tick(self) -> None:
        tick_schedules.tick(self.context, lambda: True)

    def tick_at(self, instant: datetime) -> None:
        """Tick then, and execute what is due."""
        self.at(instant)
        self.tick()
        self.execute()

    def admit(self, run_id: UUID) -> list[RunProgress]:
        """Do what a worker does that dies between the guards and the first step."""
        lease = new_id()
        claimed, _ = execute_runs._claim(self.context, [run_id], lease, 200)
        return execute_runs._admit(self.context, claimed, lease)

    def another_run(self, like: UUID, n: int) -> UUID:
        """Return a further run, due now, of the schedule that made the run `like`."""
        run_id = new_id()
        self.sql(
            "insert into automation_runs (id, automation_id, version, workspace_id, event_id,"
            " trigger_type, status, input, root_run_id, schedule_id) select :i, automation_id,"
            " version, workspace_id, event_id || cast(:n as text), trigger_type, 'PENDING', input,"
            " :i, schedule_id from automation_runs where id = :like",
            i=run_id,
            n=n,
            like=like,
        )
        return run_id

    def schedules(self, automation_id: UUID) -> list[Any]:
        return self.sql(
            "select * from schedules where automation_id = :a order by id", a=automation_id
        )

    def schedule(self, automation_id: UUID) -> Any:
        (row,) = self.schedules(automation_id)
        return row

    def occurrences(self, automation_id: UUID) -> list[tuple[datetime, int, str, str | None]]:
        """Instant, version, outcome and reason of all occurrences, oldest first."""
        rows = self.sql(
            "select o.* from schedule_occurrences o where schedule_id in"
            " (select id from automation_triggers where automation_id = :a)"
            " order by scheduled_for, version",
            a=automation_id,
        )
        return [
            (row["scheduled_for"], row["version"], row["outcome"], row["reason"]) for row in rows
        ]

    def runs_of(self, automation_id: UUID) -> list[Any]:
        """All runs in the order of their instants."""
        return self.sql(
            "select r.*, o.scheduled_for from automation_runs r"
            " left join schedule_occurrences o on o.run_id = r.id"
            " where r.automation_id = :a order by o.scheduled_for, r.created_at, r.id",
            a=automation_id,
        )

    def acted(self, automation_id: UUID) -> list[tuple[datetime, int]]:
        """Instant and version of every run that did its actions."""
        return [
            (run["scheduled_for"], run["version"])
            for run in self.runs_of(automation_id)
            if run["status"] == "SUCCEEDED" and "actions" in run["output"]
        ]

    def skips(self, automation_id: UUID) -> list[str]:
        """The reason of every run that was skipped."""
        return [
            run["output"]["skipped"]
            for run in self.runs_of(automation_id)
            if run["output"] and "skipped" in run["output"]
        ]

    def clear(self) -> None:
        """Leave nothing that a tick of the next test would fire."""
        for table in ("schedules", "schedule_occurrences", "automation_runs", "ticks"):
            self.sql(f"delete from {table}")
        self.sql("update automations set status = 'ARCHIVED'")
        self.context.database.clock_offset_s = 0


def triggers(*configs: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"type": "SCHEDULE", "config": dict(config)} for config in configs]


def lock_schedules(connection: Any) -> None:
    """Hold every schedule's row, as a tick in the middle of its batch does."""
    connection.execute(text("select 1 from schedules for update"))
