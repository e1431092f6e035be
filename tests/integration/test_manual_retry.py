"""Bringing ended runs back by hand: where they begin again, and what stays done."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest

from tests.integration.conftest import Aws
from tests.integration.engine_world import World
from tests.integration.test_failures import UNAVAILABLE, WEBHOOK, Target
from tests.integration.test_triage import NOTIFY
from whenthen.actions.registry import clear_test_executors, register_test_executor
from whenthen.actions.requests import StepSuccess
from whenthen.domain import json_text
from whenthen.domain.errors import ConflictError, FatalError, InvalidError, NotFoundError
from whenthen.domain.kinds import ActionType
from whenthen.domain.schemas.notices import DeathNotice
from whenthen.engine.context import Context
from whenthen.engine.report_deaths import report_death
from whenthen.store.new_id import new_id

REFUSED = FatalError("WEBHOOK_HTTP_ERROR", "answered 404")
DONE = StepSuccess({"status": 200})


@pytest.fixture
def world(context: Context) -> World:
    return World(context)


@pytest.fixture(autouse=True)
def _no_executors_left() -> Iterator[None]:
    yield
    clear_test_executors()


def notify(title: str) -> dict[str, Any]:
    return {"id": str(new_id()), "type": "CREATE_NOTIFICATION", "config": {"title": title}}


def hook(**more: Any) -> dict[str, Any]:
    return {"id": str(new_id()), **WEBHOOK, **more}


def dead_run(world: World, actions: Sequence[Any], *answers: Exception | StepSuccess) -> UUID:
    """A run that ended badly at its first SEND_WEBHOOK."""
    register_test_executor(ActionType.SEND_WEBHOOK, Target(*answers))
    world.add_automation(list(actions))
    world.match(world.created_event(world.add_record()))
    world.execute()
    run = world.runs()[-1]
    assert run["status"] in {"FAILED", "DEAD_LETTER"}
    run_id: UUID = run["id"]
    return run_id


def edit(world: World, actions: Sequence[Any]) -> None:
    """Make `actions` the second version of the world's one automation."""
    world.sql(
        "insert into automation_versions (automation_id, version, schema, name, database_id,"
        " triggers, actions) select automation_id, 2, schema, name, database_id, triggers,"
        " cast(:x as jsonb) from automation_versions",
        x=json_text.dumps(list(actions)),
    )
    world.sql("update automations set version = 2")


def titles(world: World) -> list[str]:
    rows = world.sql("select title from notifications where run_id is not null order by id")
    return [row["title"] for row in rows]


def test_case_035_a_retry_from_the_failed_step_repeats_nothing_finished(
    world: World, aws: Aws
) -> None:
    run_id = dead_run(world, [notify("a"), hook(), notify("b")], REFUSED, DONE)
    first_started = world.the_run()["started_at"]
    aws.queued()
    world.turn_clock(3 * 86_400)
    message = world.retry(run_id)
    run = world.the_run()
    assert (run["status"], run["retry_count"], run["crash_count"]) == ("PENDING", 0, 0)
    assert (run["error"], run["output"], run["started_at"], run["finished_at"]) == (None,) * 4
    assert (run["generation"], run["next_action"], run["forced"]) == (0, 1, True)
    assert [step["attempts"] for step in world.steps(run_id)] == [1, 0]
    assert (run["enqueue_after"] - run["due_at"]).total_seconds() == pytest.approx(60, abs=0.1)
    assert (message.run_id, message.delay_s) == (run_id, 0)
    world.execute()
    run = world.the_run()
    assert run["status"] == "SUCCEEDED"
    assert run["started_at"] > first_started
    assert [step["attempts"] for step in world.steps(run_id)] == [1, 1, 1]
    assert titles(world) == ["a", "b"]
    assert world.line_data(run_id, "run retried manually") == {
        "userId": str(world.owner_id),
        "from": "failed",
        "version": "original",
    }
    (entry,) = world.sql("select * from audit_log where action = 'run.retried'")
    assert (entry["actor_id"], entry["resource_id"]) == (str(world.owner_id), str(run_id))


def test_case_048_an_old_run_retried_by_hand_is_not_taken_for_a_stale_one(
    world: World, aws: Aws
) -> None:
    run_id = dead_run(world, [hook()], REFUSED, DONE)
    aws.queued()
    world.turn_clock(3 * 86_400)
    world.retry(run_id)
    assert (world.sweep(), aws.queued()) == (0, [])
    world.execute()
    world.execute([run_id])
    assert world.the_run()["status"] == "SUCCEEDED"
    assert world.lines(run_id).count("info run started") == 2


def test_a_retry_gets_its_whole_budget_again(world: World) -> None:
    run_id = dead_run(world, [hook(retries=1)], REFUSED, UNAVAILABLE, UNAVAILABLE)
    world.retry(run_id)
    world.execute()
    assert (world.the_run()["status"], world.the_run()["retry_count"]) == ("PENDING", 1)
    world.turn_clock(2)
    world.execute()
    run = world.the_run()
    assert (run["status"], run["error"]["attempts"]) == ("DEAD_LETTER", 2)


@pytest.mark.parametrize(
    ("from_", "titles_after", "carried"),
    [("start", ["a", "b", "a", "b"], 0), (0, ["a", "b", "a", "b"], 0), (1, ["a", "b", "b"], 1)],
)
def test_a_retry_from_a_point_begins_a_new_generation_and_carries_what_lies_before(
    world: World, from_: Any, titles_after: list[str], carried: int
) -> None:
    run_id = dead_run(world, [notify("a"), notify("b"), hook()], REFUSED, DONE)
    world.retry(run_id, from_=from_)
    run = world.the_run()
    assert (run["generation"], run["next_action"]) == (1, carried)
    steps = world.steps(run_id)
    # The old generation stays as history, untouched.
    assert [(s["status"], s["attempts"]) for s in steps if s["generation"] == 0] == [
        ("SUCCEEDED", 1),
        ("SUCCEEDED", 1),
        ("FAILED", 1),
    ]
    assert [s["status"] for s in steps if s["generation"] == 1] == ["SUCCEEDED"] * carried
    world.execute()
    assert world.the_run()["status"] == "SUCCEEDED"
    assert titles(world) == titles_after
    assert len(world.the_run()["output"]["actions"]) == 3


def test_a_new_generation_has_new_keys_for_its_outside_calls(world: World) -> None:
    target = Target(REFUSED, DONE)
    run_id = dead_run(world, [hook()], REFUSED)
    register_test_executor(ActionType.SEND_WEBHOOK, target)
    world.retry(run_id)
    world.execute()
    world.retry(run_id, from_="start")
    world.execute()
    assert [hit.generation for hit in target.hits] == [0, 1]


def test_a_retry_behind_the_failed_step_is_refused_and_changes_nothing(world: World) -> None:
    run_id = dead_run(world, [notify("a"), hook()], REFUSED)
    before = world.the_run()
    with pytest.raises(InvalidError, match="at its step 1 or before"):
        world.retry(run_id, from_=2)
    assert (world.the_run(), world.sql("select 1 from audit_log")) == (before, [])


def test_a_retry_on_the_latest_version_goes_on_where_both_begin_the_same(world: World) -> None:
    first, failing = notify("a"), hook()
    run_id = dead_run(world, [first, failing], REFUSED, DONE)
    edit(world, [first, {**failing, "timeoutMs": 5_000}, notify("new")])
    world.retry(run_id, latest=True)
    assert (world.the_run()["version"], world.the_run()["generation"]) == (2, 0)
    world.execute()
    assert world.the_run()["status"] == "SUCCEEDED"
    assert titles(world) == ["a", "new"]


def test_a_retry_on_the_latest_version_begins_at_the_start_where_they_differ(
    world: World,
) -> None:
    first, failing = notify("a"), hook()
    run_id = dead_run(world, [first, failing], REFUSED, DONE)
    edit(world, [notify("other"), failing])
    world.retry(run_id, latest=True)
    run = world.the_run()
    assert (run["version"], run["generation"], run["next_action"]) == (2, 1, 0)
    world.execute()
    assert titles(world) == ["a", "other"]


def test_a_retry_on_a_latest_version_that_ends_before_the_failed_step_is_done(
    world: World,
) -> None:
    first = notify("a")
    run_id = dead_run(world, [first, hook()], REFUSED)
    edit(world, [first])
    world.retry(run_id, latest=True)
    world.execute()
    run = world.the_run()
    assert (run["status"], titles(world)) == ("SUCCEEDED", ["a"])
    assert [action["index"] for action in run["output"]["actions"]] == [0]


def test_an_automatic_retry_stays_on_the_version_of_its_manual_one(world: World) -> None:
    first, failing = notify("a"), hook()
    run_id = dead_run(world, [first, failing], REFUSED, UNAVAILABLE, DONE)
    edit(world, [first, notify("instead")])
    world.retry(run_id)
    world.execute()
    world.turn_clock(2)
    world.execute()
    assert (world.the_run()["status"], world.the_run()["version"]) == ("SUCCEEDED", 1)
    assert titles(world) == ["a"]


def test_case_107_of_20_retries_at_once_one_succeeds(world: World) -> None:
    run_id = dead_run(world, [notify("a"), hook()], REFUSED, DONE)

    def press(_n: int) -> str:
        try:
            world.retry(run_id)
        except ConflictError as error:
            return f"{error.code} {error.details}"
        return "retried"

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(press, range(20)))
    refused = "NOT_RETRYABLE {'reason': 'no_op', 'status': 'PENDING'}"
    assert sorted(answers) == [refused] * 19 + ["retried"]
    world.execute()
    run = world.the_run()
    assert (run["status"], run["retry_count"], titles(world)) == ("SUCCEEDED", 0, ["a"])
    assert len(world.sql("select 1 from audit_log where action = 'run.retried'")) == 1


def test_case_107_a_retry_and_the_watchdog_do_not_execute_twice(world: World, aws: Aws) -> None:
    run_id = dead_run(world, [hook(retries=0)], UNAVAILABLE, DONE)
    world.turn_clock(121)
    with ThreadPoolExecutor(2) as pool:
        swept, retried = pool.submit(world.sweep), pool.submit(world.retry, run_id)
        swept.result()
        retried.result()
    world.execute([run_id])
    world.execute([run_id])
    assert world.the_run()["status"] == "SUCCEEDED"
    assert world.lines(run_id).count("info run started") == 2
    assert {notice["death"] for notice in aws.noticed()} == {1}


@pytest.mark.parametrize("status", ["PENDING", "RUNNING", "SUCCEEDED"])
def test_a_run_that_has_not_ended_badly_cannot_be_retried(world: World, status: str) -> None:
    world.add_automation([NOTIFY])
    world.match(world.created_event(world.add_record()))
    run_id = world.the_run()["id"]
    if status == "RUNNING":
        world.claim([run_id])
    if status == "SUCCEEDED":
        world.execute()
    with pytest.raises(ConflictError) as raised:
        world.retry(run_id)
    reason = "not_retryable" if status == "SUCCEEDED" else "no_op"
    assert raised.value.details == {"reason": reason, "status": status}


def test_an_unknown_run_and_one_of_another_automation_are_not_found(world: World) -> None:
    run_id = dead_run(world, [hook()], REFUSED)
    with pytest.raises(NotFoundError):
        world.retry(new_id(), automation_id=world.the_run()["automation_id"])
    with pytest.raises(NotFoundError):
        world.retry(run_id, automation_id=new_id())


def test_a_run_of_an_archived_automation_cannot_be_retried(world: World) -> None:
    run_id = dead_run(world, [hook()], REFUSED)
    world.sql("update automations set status = 'ARCHIVED'")
    with pytest.raises(ConflictError) as raised:
        world.retry(run_id)
    assert raised.value.code == "ARCHIVED"


def test_a_retried_run_ignores_that_its_automation_is_paused(world: World) -> None:
    run_id = dead_run(world, [hook()], REFUSED, DONE)
    world.sql("update automations set status = 'PAUSED'")
    world.retry(run_id)
    world.execute()
    assert "actions" in world.the_run()["output"]


def test_a_retry_clears_a_cancel(world: World) -> None:
    world.add_automation([notify("a")])
    world.match(world.created_event(world.add_record()))
    run_id = world.the_run()["id"]
    world.cancel(run_id)
    assert world.the_run()["error"]["code"] == "CANCELLED"
    world.retry(run_id)
    assert world.the_run()["cancelled_by"] is None
    world.execute()
    assert (world.the_run()["status"], titles(world)) == ("SUCCEEDED", ["a"])


def test_every_death_is_announced_once_the_one_after_a_manual_retry_too(
    world: World, aws: Aws
) -> None:
    run_id = dead_run(world, [hook(retries=0)], UNAVAILABLE)
    assert report_death(world.context, DeathNotice(run_id, 1))
    world.retry(run_id)
    world.execute()
    assert (world.the_run()["status"], world.the_run()["deaths"]) == ("DEAD_LETTER", 2)
    assert [notice["death"] for notice in aws.noticed()] == [1, 2]
    assert not report_death(world.context, DeathNotice(run_id, 1))
    assert report_death(world.context, DeathNotice(run_id, 2))
    assert not report_death(world.context, DeathNotice(run_id, 2))
    assert len(world.sql("select 1 from notifications")) == 2


def test_the_notice_of_an_older_death_tells_that_death_although_the_row_has_moved_on(
    world: World,
) -> None:
    run_id = dead_run(world, [hook(retries=0)], UNAVAILABLE, DONE)
    world.retry(run_id)
    before = world.the_run()
    assert report_death(world.context, DeathNotice(run_id, 1))
    (told,) = world.sql("select title, body from notifications")
    assert told["title"] == 'Automation "Triage" dead-lettered'
    assert told["body"] == "Failed after 1 attempts: WEBHOOK_HTTP_RETRIABLE — answered 503"
    after = world.the_run()
    # The waiting run keeps its own wake-up.
    assert after["enqueue_after"] == before["enqueue_after"]
    assert after["status"] == "PENDING"


def test_a_death_whose_notice_was_lost_before_a_manual_retry_is_still_told(
    world: World, aws: Aws
) -> None:
    run_id = dead_run(world, [hook(retries=0)], UNAVAILABLE, DONE)
    aws.noticed()
    world.retry(run_id)
    world.execute()
    assert world.the_run()["status"] == "SUCCEEDED"
    world.turn_clock(121)
    world.sweep()
    assert aws.noticed() == [{"v": 1, "kind": "death", "runId": str(run_id), "death": 1}]
    assert report_death(world.context, DeathNotice(run_id, 1))
    world.turn_clock(86_400)
    assert (world.sweep(), world.the_run()["enqueue_after"]) == (0, None)


def test_a_notice_that_overtakes_an_older_one_is_told_after_it(world: World, aws: Aws) -> None:
    run_id = dead_run(world, [hook(retries=0)], UNAVAILABLE)
    world.retry(run_id)
    world.execute()
    aws.noticed()
    assert not report_death(world.context, DeathNotice(run_id, 2))
    world.turn_clock(121)
    world.sweep()
    assert [notice["death"] for notice in aws.noticed()] == [1, 2]
    for death in (1, 2):
        assert report_death(world.context, DeathNotice(run_id, death))
    assert world.the_run()["enqueue_after"] is None
    assert len(world.sql("select 1 from notifications")) == 2
