"""A run's life against the real store, in any order of everything that can happen to it."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    rule,
    run_state_machine_as_test,
)

from tests.integration.conftest import Aws
from tests.integration.engine_world import World
from tests.integration.test_failures import WEBHOOK
from whenthen.actions.registry import clear_test_executors, register_test_executor
from whenthen.actions.requests import StepRequest, StepSuccess
from whenthen.aws.run_queue import RunQueue
from whenthen.domain import limits
from whenthen.domain.errors import ConflictError, FatalError, RetryableError
from whenthen.domain.kinds import TERMINAL_RUN_STATUSES, ActionType, RunStatus, StepStatus
from whenthen.domain.rules.run_status import may_change
from whenthen.domain.schemas.notices import DeathNotice
from whenthen.engine.context import Context
from whenthen.engine.execute_runs import execute_runs
from whenthen.engine.report_deaths import report_death
from whenthen.store import run_holds, run_settlements
from whenthen.store.new_id import new_id
from whenthen.store.run_settlements import Settlement, StepResult

SOAK = os.environ.get("WHENTHEN_FAULTS") == "all"
ANSWERS = ("ok", "later", "never", "cancelled meanwhile", "worker loses its lease")


@dataclass
class Seen:
    """What the machine saw of a run last."""

    status: RunStatus
    generation: int
    deaths: int


class RunLifecycle(RuleBasedStateMachine):
    """Drives runs of one automation: DELAY, NOTIFY, SEND_WEBHOOK, DELAY, NOTIFY."""

    context: Context
    aws: Aws

    runs = Bundle("runs")
    zombies = Bundle("zombies")

    def __init__(self) -> None:
        super().__init__()
        self.context.database.clock_offset_s = 0
        # The emulated queue slows down with what earlier runs have left on it.
        queue_url = self.aws.sqs.create_queue(QueueName=f"runs-{new_id()}")["QueueUrl"]
        self.context.run_queue = RunQueue(queue_url)
        self.world = World(self.context)
        self.answer = "ok"
        register_test_executor(ActionType.SEND_WEBHOOK, self._target)
        notify = {"type": "CREATE_NOTIFICATION", "config": {"title": "told"}}
        short, long = ({"type": "DELAY", "config": {"seconds": s}} for s in (3, 1_000))
        self.world.add_automation([short, notify, {**WEBHOOK, "retries": 2}, long, notify])
        self.seen: dict[UUID, Seen] = {}
        self.finished: dict[tuple[Any, ...], Any] = {}

    def _target(self, request: StepRequest) -> StepSuccess:
        match self.answer:
            case "later":
                raise RetryableError("WEBHOOK_HTTP_RETRIABLE", "answered 503")
            case "never":
                raise FatalError("WEBHOOK_HTTP_ERROR", "answered 404")
            case "cancelled meanwhile":
                self.world.cancel(request.run_id)
            case "worker loses its lease":
                self._turn_past_the_lease()
                self.world.sweep()
        return StepSuccess({"status": 200})

    def _turn_past_the_lease(self) -> None:
        self.world.turn_clock(180 + limits.LEASE_MARGIN_S + limits.LEASE_WAKE_MARGIN_S + 1)

    def _execute(self, run_ids: list[UUID], remaining_s: float = 180) -> None:
        execute_runs(self.context, run_ids, lambda: remaining_s)

    # --------------------------------------------------------------------------- what happens

    @rule(target=runs)
    def an_event_arrives_twice(self) -> UUID:
        event = self.world.created_event(self.world.add_record())
        self.world.match(event)
        self.world.match(event)
        run_id: UUID = self.rows()[-1]["id"]
        return run_id

    @rule(run_id=runs, answer=st.sampled_from(ANSWERS))
    def a_worker_gets_its_message(self, run_id: UUID, answer: str) -> None:
        self.answer = answer
        self._execute([run_id])

    @rule(run_id=runs)
    def its_message_comes_twice_at_once(self, run_id: UUID) -> None:
        self.answer = "ok"
        self._execute([run_id, run_id])
        self._execute([run_id])

    @rule(run_id=runs)
    def a_worker_has_no_time_left(self, run_id: UUID) -> None:
        self._execute([run_id], remaining_s=20)

    @rule(run_id=runs)
    def a_worker_dies_after_its_claim(self, run_id: UUID) -> None:
        self.world.claim([run_id])
        self._turn_past_the_lease()
        self.world.sweep()

    @rule(target=zombies, run_id=runs)
    def a_worker_freezes_after_its_claim(self, run_id: UUID) -> tuple[UUID, UUID, int]:
        lease = self.world.claim([run_id])
        (row,) = self.world.sql("select next_action from automation_runs where id = :r", r=run_id)
        return run_id, lease, row["next_action"]

    @rule(zombie=consumes(zombies))
    def a_frozen_worker_wakes_after_its_lease(self, zombie: tuple[UUID, UUID, int]) -> None:
        run_id, lease, next_action = zombie
        self._turn_past_the_lease()
        self.world.sweep()
        before = self.facts(run_id)
        moved, _ = self.world.in_transaction(
            lambda connection: run_settlements.settle(
                connection, [self._late_success(run_id, lease, next_action)]
            )
        )
        held = self.world.in_transaction(
            lambda connection: run_holds.hold(connection, [run_id], lease)
        )
        assert (moved, held) == (frozenset(), {})
        assert self.facts(run_id) == before

    def _late_success(self, run_id: UUID, lease: UUID, next_action: int) -> Settlement:
        action_id = UUID(int=0)
        return Settlement(
            run_id=run_id,
            workspace_id=self.world.workspace_id,
            lease=lease,
            status=RunStatus.SUCCEEDED,
            next_action=next_action + 1,
            steps=[StepResult(action_id, next_action, "CREATE_PAGE", StepStatus.SUCCEEDED, 1)],
        )

    @rule(run_id=runs)
    def a_person_cancels_it(self, run_id: UUID) -> None:
        self._unless_refused(lambda: self.world.cancel(run_id))

    @rule(run_id=runs, from_=st.sampled_from(["failed", "start", 0]))
    def a_person_retries_it(self, run_id: UUID, from_: Any) -> None:
        self._unless_refused(lambda: self.world.retry(run_id, from_=from_))

    @rule()
    def a_person_redrives_all(self) -> None:
        self.world.redrive()

    @rule(run_id=runs, death=st.integers(1, 3))
    def a_notice_arrives(self, run_id: UUID, death: int) -> None:
        report_death(self.context, DeathNotice(run_id, death))

    @rule(seconds=st.sampled_from([1, 5, 61, 121, 901]))
    def time_passes_and_the_sweep_comes(self, seconds: int) -> None:
        self.world.turn_clock(seconds)
        self.world.sweep()

    @rule(seconds=st.sampled_from([3, 1_000]), answer=st.sampled_from(ANSWERS))
    def time_passes_and_every_message_comes(self, seconds: int, answer: str) -> None:
        self.answer = answer
        self.world.turn_clock(seconds)
        self._execute([row["id"] for row in self.rows()])

    @staticmethod
    def _unless_refused(act: Callable[[], Any]) -> None:
        try:
            act()
        except ConflictError as error:
            assert error.code in {"INVALID_TRANSITION", "NOT_RETRYABLE"}  # noqa: PT017

    # --------------------------------------------------------------------------- what must hold

    def rows(self) -> list[Any]:
        return self.world.sql(
            "select * from automation_runs where workspace_id = :w order by created_at, id",
            w=self.world.workspace_id,
        )

    def facts(self, run_id: UUID) -> list[Any]:
        tables = {"automation_runs": "id", "automation_run_steps": "run_id"}
        return [
            self.world.sql(f"select * from {table} where {key} = :r", r=run_id)
            for table, key in tables.items()
        ]

    @invariant()
    def an_ended_run_holds_no_lease_and_any_other_wakes_itself(self) -> None:
        for row in self.rows():
            if row["status"] == "RUNNING":
                assert row["lease_token"] is not None
            else:
                assert (row["lease_token"], row["lease_expires_at"]) == (None, None)
            untold = row["notified_death"] < row["deaths"]
            if row["status"] not in TERMINAL_RUN_STATUSES or untold:
                assert row["enqueue_after"] is not None, row["status"]
            else:
                assert row["enqueue_after"] is None

    @invariant()
    def a_status_changes_only_along_the_table(self) -> None:
        for row in self.rows():
            now = Seen(RunStatus(row["status"]), row["generation"], row["deaths"])
            before = self.seen.get(row["id"], Seen(RunStatus.PENDING, 0, 0))
            assert reachable(before.status, now.status), (before, now)
            assert now.generation >= before.generation
            assert now.deaths >= before.deaths
            self.seen[row["id"]] = now

    @invariant()
    def a_finished_step_never_changes(self) -> None:
        steps = self.world.sql(
            "select s.* from automation_run_steps s join automation_runs r on r.id = s.run_id"
            " where r.workspace_id = :w and s.status = 'SUCCEEDED'",
            w=self.world.workspace_id,
        )
        now = {(s["run_id"], s["generation"], s["action_id"]): dict(s) for s in steps}
        for key, before in self.finished.items():
            assert now.get(key) == before
        self.finished = now

    @invariant()
    def effects_happen_exactly_once(self) -> None:
        # A carried step keeps the instant at which it was finished: it is the same effect.
        steps = self.world.sql(
            "select distinct s.run_id, s.action_id, s.finished_at from automation_run_steps s"
            " join automation_runs r on r.id = s.run_id where r.workspace_id = :w"
            " and s.status = 'SUCCEEDED' and s.type = 'CREATE_NOTIFICATION'",
            w=self.world.workspace_id,
        )
        told = self.world.sql(
            "select run_id from notifications where workspace_id = :w and title = 'told'",
            w=self.world.workspace_id,
        )
        assert Counter(row["run_id"] for row in told) == Counter(s["run_id"] for s in steps)

    @invariant()
    def no_attempt_is_lost_or_invented(self) -> None:
        rows = self.world.sql(
            "select s.status, s.attempts, r.status as run from automation_run_steps s"
            " join automation_runs r on r.id = s.run_id and r.generation = s.generation"
            " where r.workspace_id = :w",
            w=self.world.workspace_id,
        )
        for row in rows:
            # Three tries are all that the action allows; only a running run has a started one.
            assert row["attempts"] <= 3
            if row["run"] != "RUNNING":
                assert row["status"] != "STARTED"
            if row["status"] == "WAITING":
                assert (row["attempts"], row["run"] in {"PENDING", "RUNNING"}) == (1, True)

    @invariant()
    def no_delay_ends_before_its_time(self) -> None:
        delays = self.world.sql(
            "select s.started_at, s.resume_at, s.finished_at from automation_run_steps s"
            " join automation_runs r on r.id = s.run_id"
            " where r.workspace_id = :w and s.type = 'DELAY' and s.status = 'SUCCEEDED'",
            w=self.world.workspace_id,
        )
        for row in delays:
            assert row["started_at"] < row["resume_at"]
            early_s = (row["resume_at"] - row["finished_at"]).total_seconds()
            assert early_s <= limits.DUE_TOLERANCE_S

    @invariant()
    def each_death_is_told_at_most_once(self) -> None:
        told = self.world.sql(
            "select run_id, count(*) as n from notifications where workspace_id = :w"
            " and title <> 'told' group by run_id",
            w=self.world.workspace_id,
        )
        announced = {row["id"]: row["notified_death"] for row in self.rows()}
        assert all(row["n"] == announced[row["run_id"]] for row in told)


def reachable(before: RunStatus, now: RunStatus) -> bool:
    """Whether `now` is `before` or can be come to from it, hop by hop."""
    seen, ways = {before}, [before]
    while ways:
        here = ways.pop()
        for status in RunStatus:
            if status not in seen and may_change(here, status):
                seen.add(status)
                ways.append(status)
    return now in seen


@pytest.fixture
def _no_executors_left() -> Iterator[None]:
    yield
    clear_test_executors()


@pytest.mark.timeout(1_800)
@pytest.mark.usefixtures("_no_executors_left")
def test_whatever_happens_to_a_run_in_whatever_order_its_promises_hold(
    context: Context, aws: Aws
) -> None:
    RunLifecycle.context, RunLifecycle.aws = context, aws
    run_state_machine_as_test(
        RunLifecycle,
        settings=settings(
            max_examples=200 if SOAK else 8,
            stateful_step_count=40 if SOAK else 20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [("PENDING", "DEAD_LETTER", True), ("SUCCEEDED", "PENDING", False), ("FAILED", "FAILED", True)],
)
def test_what_is_reachable_goes_along_the_table(before: str, now: str, *, expected: bool) -> None:
    assert reachable(RunStatus(before), RunStatus(now)) is expected
