"""Data steps of a run that follow each other share one transaction, and what breaks takes it apart.

Whatever a later step does, an earlier one is done once, and the others of the batch come through.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest

from tests.integration.engine_world import World
from tests.integration.statements import counted
from tests.integration.test_one_thread_a_run import (
    PATIENCE_S,
    poll,
    record_locked,
    waiting_for_locks,
)
from tests.integration.test_triage import UPDATE
from whenthen.actions.registry import clear_test_executors, register_test_executor
from whenthen.actions.requests import StepSuccess
from whenthen.domain import limits
from whenthen.domain.errors import ConflictError
from whenthen.domain.kinds import ActionType
from whenthen.engine.context import Context
from whenthen.engine.data_steps import take_data_steps
from whenthen.engine.run_progress import RunProgress, begin
from whenthen.store import run_claims

CALL = {"type": "SEND_WEBHOOK", "config": {"url": "https://hooks.example.com/"}}
MISSING = {"type": "DELETE_RECORD", "config": {"recordId": str(UUID(int=7))}}
NOTIFY = {"type": "CREATE_NOTIFICATION", "config": {"title": "told"}}
PAST = {"type": "DELAY", "config": {"until": "2020-01-01T00:00:00Z"}}
WAIT = {"type": "DELAY", "config": {"seconds": 60}}


@pytest.fixture
def world(context: Context) -> World:
    return World(context)


def notify(title: str, **more: Any) -> dict[str, Any]:
    return {"type": "CREATE_NOTIFICATION", "config": {"title": title}, **more}


def waiting_run(world: World, *actions: Mapping[str, Any], record_id: UUID | None = None) -> UUID:
    """Let an event start a run of an automation of its own, which listens to nothing more."""
    automation_id = world.add_automation(list(actions))
    world.match(world.created_event(record_id or world.add_record(Status="A"), Status="A"))
    world.sql("delete from automation_triggers where automation_id = :a", a=automation_id)
    (run,) = world.sql("select id from automation_runs where automation_id = :a", a=automation_id)
    run_id: UUID = run["id"]
    return run_id


def claimed(world: World, run_id: UUID) -> RunProgress:
    lease = world.claim([run_id])
    (run,), _ = world.in_transaction(lambda c: run_claims.read(c, [run_id], frozenset([run_id])))
    return begin(run, lease)


def run_of(world: World, run_id: UUID) -> Any:
    (run,) = world.sql("select * from automation_runs where id = :r", r=run_id)
    return run


def steps_of(world: World, run_id: UUID) -> list[tuple[str, int]]:
    return [(step["status"], step["attempts"]) for step in world.steps(run_id)]


def told(world: World) -> Counter[str]:
    return Counter(row["title"] for row in world.sql("select title from notifications"))


@contextmanager
def telling(world: World, title: str, does: str) -> Iterator[None]:
    """Let the database do this whenever somebody is told of `title`."""
    world.sql(
        f"create function stumble() returns trigger language plpgsql as $$ begin"
        f" if new.title = '{title}' then {does} end if; return new; end $$"
    )
    world.sql(
        "create trigger stumble before insert on notifications"
        " for each row execute function stumble()"
    )
    yield
    world.sql("drop trigger stumble on notifications")


def test_three_data_steps_cost_the_claim_and_one_commit_and_read_like_three(world: World) -> None:
    created = {
        "type": "CREATE_RECORD",
        "config": {"databaseId": str(world.database_id), "propertyValues": {"Name": "new"}},
    }
    updated = {
        "type": "UPDATE_RECORD",
        "config": {
            "recordId": "{{ actions[0].output.recordId }}",
            "propertyValues": {"Name": "newer"},
        },
    }
    run_id = waiting_run(
        world,
        created,
        updated,
        notify("{{ actions[1].output.changedProperties }} {{ actions[9] }}"),
    )
    with counted(world.context.database) as cost:
        world.execute([run_id])
    assert cost.commits == 2
    run = run_of(world, run_id)
    assert run["status"] == "SUCCEEDED"
    assert [action["type"] for action in run["output"]["actions"]] == [
        "CREATE_RECORD",
        "UPDATE_RECORD",
        "CREATE_NOTIFICATION",
    ]
    assert told(world) == {'["Name"] ': 1}
    assert steps_of(world, run_id) == [("SUCCEEDED", 1)] * 3
    assert world.lines(run_id) == [
        "info run created",
        "info run started",
        "info action 1/3 CREATE_RECORD started",
        "info action 1/3 CREATE_RECORD done",
        "info action 2/3 UPDATE_RECORD started",
        "info action 2/3 UPDATE_RECORD done",
        "info action 3/3 CREATE_NOTIFICATION started",
        "warn template value missing",
        "info action 3/3 CREATE_NOTIFICATION done",
        "info run completed",
    ]
    emitted = [event["type"] for event in world.outbox_events()]
    assert emitted == ["record.created", "record.updated", "automation.executed"]


def test_each_step_keeps_its_own_times(world: World) -> None:
    run_id = waiting_run(world, NOTIFY, notify("slow"), NOTIFY)
    with telling(world, "slow", "perform pg_sleep(0.2);"):
        world.execute([run_id])
    first, slow, last = world.steps(run_id)
    times = [(step["started_at"], step["finished_at"]) for step in (first, slow, last)]
    assert all(started <= finished for started, finished in times)
    assert first["finished_at"] < slow["finished_at"] <= last["finished_at"]
    assert (slow["finished_at"] - slow["started_at"]).total_seconds() >= 0.2


def test_a_refusal_in_a_later_step_is_its_own_runs_only_and_undoes_nothing(world: World) -> None:
    refused = waiting_run(world, UPDATE, NOTIFY, MISSING, NOTIFY)
    others = [waiting_run(world, UPDATE, NOTIFY, NOTIFY) for _ in range(2)]
    with counted(world.context.database) as cost:
        world.execute([refused, *others])
    assert cost.commits == 2
    run = run_of(world, refused)
    assert (run["status"], run["error"]["code"], run["error"]["actionIndex"]) == (
        "FAILED",
        "NOT_FOUND",
        2,
    )
    assert (run["next_action"], run["error"]["attempts"]) == (2, 1)
    assert steps_of(world, refused) == [("SUCCEEDED", 1), ("SUCCEEDED", 1), ("FAILED", 1)]
    assert world.lines(refused)[-3:] == [
        "info action 3/4 DELETE_RECORD started",
        "error action 3/4 DELETE_RECORD failed",
        "error run failed: NOT_FOUND",
    ]
    assert [run_of(world, run_id)["status"] for run_id in others] == ["SUCCEEDED"] * 2
    assert told(world) == {"told": 5}


def test_a_later_step_that_cannot_be_prepared_fails_alone(world: World) -> None:
    nameless = {
        "type": "UPDATE_RECORD",
        "config": {"recordId": "{{ trigger.nothing }}", "propertyValues": {}},
    }
    refused = waiting_run(world, NOTIFY, nameless)
    other = waiting_run(world, NOTIFY, NOTIFY)
    world.execute([refused, other])
    run = run_of(world, refused)
    assert (run["status"], run["error"]["code"]) == ("FAILED", "TEMPLATE_MISSING")
    assert steps_of(world, refused) == [("SUCCEEDED", 1), ("FAILED", 1)]
    assert run_of(world, other)["status"] == "SUCCEEDED"


@pytest.mark.parametrize(
    ("does", "status", "code"),
    [
        ("raise exception 'no';", "FAILED", "UNEXPECTED"),
        ("raise exception 'again' using errcode = '40001';", "PENDING", "DB_TRANSIENT_40001"),
    ],
)
def test_a_later_step_that_breaks_the_transaction_is_charged_and_earlier_ones_are_done_once(
    world: World, does: str, status: str, code: str
) -> None:
    broken = waiting_run(world, UPDATE, notify("first"), notify("bad"), NOTIFY)
    others = [waiting_run(world, UPDATE, notify("first"), notify("third")) for _ in range(2)]
    with telling(world, "bad", does):
        world.execute([broken, *others])
    run = run_of(world, broken)
    assert (run["status"], run["next_action"]) == (status, 2)
    steps = world.steps(broken)
    assert steps_of(world, broken) == [("SUCCEEDED", 1), ("SUCCEEDED", 1), ("FAILED", 1)]
    assert steps[2]["error"]["code"] == code
    assert [run_of(world, run_id)["status"] for run_id in others] == ["SUCCEEDED"] * 2
    assert told(world) == {"first": 3, "third": 2}
    assert {world.record(UUID(run["record_id"]))["version"] for run in world.runs()} == {2}
    if status == "PENDING":
        world.turn_clock(2)
        world.execute([broken])
        assert run_of(world, broken)["status"] == "SUCCEEDED"
        assert steps_of(world, broken) == [("SUCCEEDED", n) for n in (1, 1, 2, 1)]


def test_a_step_that_waits_for_a_lock_is_taken_aside_and_holds_nobody_up(world: World) -> None:
    locked = world.add_record(Status="A")
    waits = waiting_run(world, notify("first"), UPDATE, NOTIFY, record_id=locked)
    others = [waiting_run(world, notify("first"), UPDATE, notify("third")) for _ in range(4)]

    # The lock goes only when all others are at their ends.
    with record_locked(world, locked, lambda: waiting_for_locks(world) > 0 and others_done(world)):
        world.execute([waits, *others])
    assert [run_of(world, run_id)["status"] for run_id in others] == ["SUCCEEDED"] * 4
    assert run_of(world, waits)["status"] == "SUCCEEDED"
    assert steps_of(world, waits) == [("SUCCEEDED", 1)] * 3
    assert told(world) == {"first": 5, "third": 4, "told": 1}


def others_done(world: World) -> bool:
    """Return whether four runs are at their ends."""
    return len(world.sql("select 1 from automation_runs where status = 'SUCCEEDED'")) >= 4


def test_a_later_step_past_its_timeout_fails_alone_with_its_own_time(world: World) -> None:
    quick = {"timeoutMs": 1_000}
    slow = waiting_run(world, notify("first", **quick), notify("slow", **quick), NOTIFY)
    others = [waiting_run(world, notify("first"), notify("second")) for _ in range(2)]
    with telling(world, "slow", "perform pg_sleep(60);"):
        world.execute([slow, *others])
    run = run_of(world, slow)
    assert (run["status"], run["error"]["code"], run["error"]["actionIndex"]) == (
        "FAILED",
        "ACTION_TIMEOUT",
        1,
    )
    assert steps_of(world, slow) == [("SUCCEEDED", 1), ("FAILED", 1)]
    assert [run_of(world, run_id)["status"] for run_id in others] == ["SUCCEEDED"] * 2
    assert told(world) == {"first": 3, "second": 2}


def test_runs_whose_second_steps_update_one_record_do_each_step_once(world: World) -> None:
    record_id = world.add_record(Status="A", Priority=0)
    runs = []
    for n in range(3):
        values = {"propertyValues": {"Priority": n + 1}}
        update = {"type": "UPDATE_RECORD", "config": {"recordId": str(record_id), **values}}
        runs.append(waiting_run(world, notify("first"), update, update))
    world.execute(runs)
    assert [run_of(world, run_id)["status"] for run_id in runs] == ["SUCCEEDED"] * 3
    # Each run's second update of the same value changes nothing, unless another's came between.
    changes = [e for e in world.outbox_events() if e["type"] == "record.updated"]
    assert world.record(record_id)["version"] == 1 + len(changes)
    assert told(world) == {"first": 3}
    assert all(steps_of(world, run_id) == [("SUCCEEDED", 1)] * 3 for run_id in runs)


def is_asleep(world: World) -> bool:
    """Return whether a statement of the world's database sleeps; other tests have others."""
    rows = world.sql(
        "select 1 from pg_stat_activity"
        " where datname = current_database() and wait_event = 'PgSleep'"
    )
    return bool(rows)


@pytest.mark.parametrize(
    ("statement", "status", "code"),
    [
        ("update automation_runs set cancelled_by = gen_random_uuid()", "FAILED", "CANCELLED"),
        ("update automations set status = 'ARCHIVED'", "SUCCEEDED", None),
    ],
)
def test_what_was_asked_for_before_the_transaction_stops_all_of_it(
    world: World, statement: str, status: str, code: str | None
) -> None:
    progress = claimed(world, waiting_run(world, NOTIFY, NOTIFY))
    world.sql(statement)
    assert take_data_steps(world.context, [progress]) == []
    run = run_of(world, progress.id)
    assert (run["status"], (run["error"] or {}).get("code")) == (status, code)
    assert (told(world), world.steps(progress.id)) == ({}, [])


def test_a_run_under_way_goes_on_although_its_automation_is_paused(world: World) -> None:
    progress = claimed(world, waiting_run(world, NOTIFY, NOTIFY))
    world.sql("update automations set status = 'PAUSED'")
    assert take_data_steps(world.context, [progress]) == []
    assert run_of(world, progress.id)["status"] == "SUCCEEDED"


def test_a_cancel_that_comes_while_the_steps_are_taken_waits_and_finds_the_end(
    world: World,
) -> None:
    run_id = waiting_run(world, NOTIFY, notify("slow"), NOTIFY)
    refusals: list[str] = []

    def at_the_second_step() -> bool:
        return is_asleep(world) or run_of(world, run_id)["status"] == "SUCCEEDED"

    def cancel() -> None:
        poll(at_the_second_step)
        try:
            world.cancel(run_id)
        except ConflictError as refusal:
            refusals.append(refusal.code)

    canceller = threading.Thread(target=cancel)
    canceller.start()
    with telling(world, "slow", "perform pg_sleep(0.3);"):
        world.execute([run_id])
    canceller.join(PATIENCE_S)
    assert refusals == ["INVALID_TRANSITION"]
    assert run_of(world, run_id)["status"] == "SUCCEEDED"
    assert steps_of(world, run_id) == [("SUCCEEDED", 1)] * 3


@pytest.mark.parametrize(
    ("actions", "commits"),
    [
        pytest.param([NOTIFY] * limits.GROUP_STEPS_MAX, 2, id="as many as one may carry"),
        pytest.param([NOTIFY] * (limits.GROUP_STEPS_MAX + 1), 3, id="one more"),
        pytest.param([notify("a"), notify("b", timeoutMs=1_000)], 3, id="one that has less time"),
        pytest.param([notify("a", timeoutMs=1_000), notify("b")], 2, id="one that has more time"),
        pytest.param([NOTIFY, PAST, NOTIFY], 2, id="a delay that is over"),
        pytest.param([NOTIFY, WAIT, NOTIFY], 2, id="a delay that waits"),
    ],
)
def test_a_transaction_carries_so_many_steps(
    world: World, actions: Sequence[Mapping[str, Any]], commits: int
) -> None:
    run_id = waiting_run(world, *actions)
    with counted(world.context.database) as cost:
        world.execute([run_id])
    assert cost.commits == commits
    run = run_of(world, run_id)
    done = [step for step in world.steps(run_id) if step["status"] == "SUCCEEDED"]
    if WAIT in actions:
        assert (run["status"], len(done), run["next_action"]) == ("PENDING", 1, 1)
        assert steps_of(world, run_id) == [("SUCCEEDED", 1), ("WAITING", 1)]
    else:
        assert (run["status"], len(done)) == ("SUCCEEDED", len(actions))


def test_a_run_that_a_worker_has_died_with_takes_one_step_at_a_time(world: World) -> None:
    run_id = waiting_run(world, NOTIFY, NOTIFY, NOTIFY)
    world.sql("update automation_runs set crash_count = 1")
    with counted(world.context.database) as cost:
        world.execute([run_id])
    assert cost.commits == 4
    assert run_of(world, run_id)["status"] == "SUCCEEDED"


def outside(answer: Callable[[], None]) -> None:
    def perform(_request: Any) -> StepSuccess:
        answer()
        return StepSuccess({"status": 200})

    register_test_executor(ActionType.SEND_WEBHOOK, perform)


def test_an_outside_step_comes_after_the_commit_of_the_steps_before_it(world: World) -> None:
    seen: list[Any] = []
    run_id = waiting_run(world, notify("a"), notify("b"), CALL, notify("c"), notify("d"))
    outside(lambda: seen.extend([told(world), steps_of(world, run_id)]))
    try:
        with counted(world.context.database) as cost:
            world.execute([run_id])
    finally:
        clear_test_executors()
    assert seen == [{"a": 1, "b": 1}, [("SUCCEEDED", 1), ("SUCCEEDED", 1), ("STARTED", 1)]]
    looks = 2
    assert cost.commits - looks == 4  # the claim, two steps, the call's record, two steps
    assert run_of(world, run_id)["status"] == "SUCCEEDED"
