"""Schedules that begin when a test says, and the reconciler's real handler, which fires them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

import schedule_reconciler.handler
from tests.integration.conftest import Aws
from tests.integration.engine_world import World
from tests.integration.standing_clock import StandingAt
from whenthen.domain.rules.schedule import next_fires, read_schedule
from whenthen.engine import composition
from whenthen.engine.align_schedules import align
from whenthen.engine.context import Context

NOTIFY = {"type": "CREATE_NOTIFICATION", "config": {"title": "told"}}
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)
SERVICE = "schedule-reconciler"

Config = Mapping[str, Any]


class Remaining:
    """A Lambda context that has so much of its time left."""

    def __init__(self, remaining_ms: int = 120_000) -> None:
        self._remaining_ms = remaining_ms

    def get_remaining_time_in_millis(self) -> int:
        return self._remaining_ms


@contextmanager
def reconciler(context: Context, aws: Aws) -> Iterator[None]:
    """Let the handler of this process find the database and the queue of `context`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DATABASE_URL", str(context.settings.database_url))
        patch.setenv("RUN_QUEUE_URL", aws.queue_url)
        patch.setenv("ACCEPT_TICK_NOW", "true")
        composition.process_context.cache_clear()
        database = composition.process_context(SERVICE).database
        # Opened before threads share it: in Lambda a process has one invocation at a time.
        assert database.engine
        try:
            yield
        finally:
            database.close()
            composition.process_context.cache_clear()


def tick(now: datetime | None = None, remaining_ms: int = 120_000) -> dict[str, int]:
    """Invoke the reconciler once, for `now`; return its answer."""
    event = {} if now is None else {"now": now.isoformat()}
    answer: dict[str, int] = schedule_reconciler.handler.lambda_handler(
        event, Remaining(remaining_ms)
    )
    return answer


@dataclass
class FiringWorld(World):
    """A world whose automations have schedules."""

    def schedule(
        self, *configs: Config, begins: datetime, actions: Sequence[Config] = (NOTIFY,)
    ) -> UUID:
        """Activate an automation with these SCHEDULE triggers at `begins`; return its id."""
        automation_id = self.add_automation(
            actions, triggers=[{"type": "SCHEDULE", "config": dict(config)} for config in configs]
        )
        with self.clock_at(begins):
            self.in_transaction(lambda c: align(c, [automation_id], activated=True))
        return automation_id

    @contextmanager
    def clock_at(self, at: datetime) -> Iterator[None]:
        """Let the database's clock stand at `at` for this world's own transactions."""
        before = self.context.database.clock_offset_s
        self.context.database.clock_offset_s = StandingAt(at)
        try:
            yield
        finally:
            self.context.database.clock_offset_s = before

    def occurrences(self) -> list[tuple[datetime, str, str | None]]:
        """Instant, outcome and reason of each; a run is there exactly if it fired."""
        rows = self.sql(
            "select o.*, r.id as there from schedule_occurrences o"
            " left join automation_runs r on r.id = o.run_id"
            " order by o.scheduled_for, o.version, o.schedule_id"
        )
        assert all(row["run_id"] == row["there"] for row in rows)
        assert all((row["there"] is not None) == (row["outcome"] == "fired") for row in rows)
        return [
            (row["scheduled_for"].astimezone(UTC), row["outcome"], row["reason"]) for row in rows
        ]

    def fired(self) -> list[datetime]:
        """The instants that fired, in order: of the occurrences, and so of the runs."""
        instants = [at for at, outcome, _ in self.occurrences() if outcome == "fired"]
        rows = self.sql("select input ->> 'firedAt' as at from automation_runs order by 1")
        assert [datetime.fromisoformat(row["at"]) for row in rows] == instants
        return instants

    def next_at(self) -> datetime | None:
        (row,) = self.sql("select next_at from schedules")
        at: datetime | None = row["next_at"]
        return at and at.astimezone(UTC)


def previewed(config: Config, begins: datetime, until: datetime) -> list[datetime]:
    """Every instant in (begins, until] that the preview shows of a trigger's config."""
    schedule = read_schedule(
        config.get("cron"), config.get("runEvery"), config.get("timeZone", "UTC"), begins
    )
    found = [begins]
    while found[-1] <= until:
        found += next_fires(schedule, found[-1], 50)
    return [at for at in found[1:] if at <= until]
