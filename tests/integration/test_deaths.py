"""The notifier: each death is told once, to the right people; poison messages kill nothing."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID, uuid4

import pytest

import dlq_notifier.handler
import run_watchdog.handler
from tests.integration.conftest import Aws
from tests.integration.engine_world import World
from tests.integration.test_failures import UNAVAILABLE, WEBHOOK, Target
from tests.integration.test_handlers import Remaining, metric_values, sqs_event
from tests.integration.test_triage import NOTIFY
from whenthen.actions.registry import clear_test_executors, register_test_executor
from whenthen.domain.errors import RetryableError
from whenthen.domain.kinds import ActionType
from whenthen.domain.schemas import messages, notices
from whenthen.domain.schemas.notices import DeathNotice
from whenthen.engine import composition
from whenthen.engine.context import Context
from whenthen.engine.report_deaths import report_death
from whenthen.store.new_id import new_id


@pytest.fixture
def world(
    context: Context, migrated_url: str, aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    monkeypatch.setenv("DATABASE_URL", migrated_url)
    monkeypatch.setenv("EVENT_STREAM_NAME", aws.stream)
    monkeypatch.setenv("RUN_QUEUE_URL", aws.queue_url)
    monkeypatch.setenv("NOTICE_QUEUE_URL", aws.notice_url)
    composition.process_context.cache_clear()
    yield World(context)
    for service in ("dlq-notifier", "run-watchdog"):
        composition.process_context(service).database.close()
    composition.process_context.cache_clear()
    clear_test_executors()


def notify(*bodies: str) -> None:
    answer = dlq_notifier.handler.lambda_handler(sqs_event(*bodies), object())
    assert answer == {"batchItemFailures": []}


def watch(world: World, **event: Any) -> dict[str, Any]:
    """Invoke the watchdog at the world's time."""
    process = composition.process_context("run-watchdog")
    process.database.clock_offset_s = world.context.database.clock_offset_s
    return run_watchdog.handler.lambda_handler(event, Remaining())


def dead_run(world: World) -> UUID:
    register_test_executor(ActionType.SEND_WEBHOOK, Target(UNAVAILABLE))
    world.add_automation([{**WEBHOOK, "retries": 0}])
    world.match(world.created_event(world.add_record()))
    world.execute()
    run_id: UUID = world.runs()[-1]["id"]
    return run_id


def body(run_id: UUID, death: int = 1) -> str:
    return notices.encode(DeathNotice(run_id, death))


def test_a_death_is_told_to_owners_and_admins_and_to_nobody_else(
    world: World, aws: Aws, capsys: pytest.CaptureFixture[str]
) -> None:
    admin = world.add_member(new_id(), "ADMIN")
    world.add_member(new_id(), "EDITOR")
    world.add_member(new_id(), "VIEWER")
    World(world.context)
    run_id = dead_run(world)
    capsys.readouterr()
    notify(*[json.dumps(notice) for notice in aws.noticed()])
    told = world.sql("select * from notifications")
    assert {row["user_id"] for row in told} == {world.owner_id, admin}
    assert {(row["title"], row["body"], row["run_id"], row["workspace_id"]) for row in told} == {
        (
            'Automation "Triage" dead-lettered',
            "Failed after 1 attempts: WEBHOOK_HTTP_RETRIABLE — answered 503",
            run_id,
            world.workspace_id,
        )
    }
    run = world.the_run()
    (entry,) = world.sql("select * from audit_log")
    assert (entry["action"], entry["actor_type"], entry["actor_id"]) == (
        "automation.dead_lettered",
        "SYSTEM",
        f"automation:{run['automation_id']}",
    )
    assert (entry["resource_type"], entry["resource_id"]) == ("automation_run", str(run_id))
    assert (run["notified_death"], run["enqueue_after"]) == (1, None)
    output = capsys.readouterr()
    assert metric_values(output.out + output.err) == {"automations.dead_letter": 1}


def test_the_death_of_a_worker_is_told_as_such(world: World) -> None:
    world.add_automation([NOTIFY])
    world.match(world.created_event(world.add_record()))
    run_id = world.the_run()["id"]
    for _ in range(8):
        world.crash([run_id])
    notify(body(run_id))
    (told,) = world.sql("select title, body from notifications")
    assert told["title"] == 'Automation "Triage" failed (worker crash)'
    assert (
        told["body"] == "Failed after 8 attempts: WORKER_CRASHED — its worker died 8 times in a row"
    )
    assert [row["action"] for row in world.sql("select action from audit_log")] == [
        "automation.worker_crashed"
    ]


def test_a_notice_that_comes_again_changes_nothing(world: World) -> None:
    run_id = dead_run(world)
    for _ in range(3):
        notify(body(run_id), body(run_id))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: report_death(world.context, DeathNotice(run_id, 1)), range(4)))
    assert len(world.sql("select 1 from notifications")) == 1
    assert len(world.sql("select 1 from audit_log")) == 1


def test_several_deaths_in_one_batch_are_told_each(world: World) -> None:
    first = dead_run(world)
    second = dead_run(World(world.context))
    notify(body(second), body(first))
    assert {row["run_id"] for row in world.sql("select run_id from notifications")} == {
        first,
        second,
    }


@pytest.mark.parametrize("death", ["true", "0", "2147483648", "99999999999999", '"1"'])
def test_a_malformed_notice_does_not_hold_up_its_neighbours(world: World, death: str) -> None:
    run_id = dead_run(world)
    malformed = f'{{"v":1,"kind":"death","runId":"{run_id}","death":{death}}}'
    notify(malformed, body(run_id), malformed)
    assert len(world.sql("select 1 from notifications")) == 1
    assert world.the_run()["notified_death"] == 1


@pytest.mark.parametrize("death", [2, 99])
def test_a_death_that_never_was_is_not_told(world: World, death: int) -> None:
    run_id = dead_run(world)
    notify(body(run_id, death), body(uuid4()))
    assert world.sql("select 1 from notifications") == []
    assert world.the_run()["notified_death"] == 0


def test_a_death_in_a_workspace_without_members_is_audited_all_the_same(world: World) -> None:
    run_id = dead_run(world)
    world.sql("delete from members")
    notify(body(run_id))
    assert world.sql("select 1 from notifications") == []
    assert len(world.sql("select 1 from audit_log")) == 1


def test_the_name_that_is_told_is_the_automations_own_and_the_story_is_that_deaths(
    world: World,
) -> None:
    run_id = dead_run(world)
    register_test_executor(ActionType.SEND_WEBHOOK, Target(RetryableError("OTHER", "later")))
    world.retry(run_id)
    world.execute()
    notify(body(run_id, 2), body(run_id, 1))
    bodies = world.sql("select body from notifications order by id")
    assert [row["body"] for row in bodies] == [
        "Failed after 1 attempts: WEBHOOK_HTTP_RETRIABLE — answered 503",
        "Failed after 1 attempts: OTHER — later",
    ]


# ------------------------------------------------------------------------- poison messages


def test_case_033_a_message_the_queue_gave_up_on_wakes_its_row_and_kills_nothing(
    world: World, aws: Aws, capsys: pytest.CaptureFixture[str]
) -> None:
    world.add_automation([NOTIFY])
    world.match(world.created_event(world.add_record()))
    run_id = world.the_run()["id"]
    aws.queued()
    capsys.readouterr()
    notify(messages.encode(run_id), "hello", '{"v":99}')
    output = capsys.readouterr()
    assert metric_values(output.out + output.err) == {"automations.poison_messages": 3}
    assert (world.the_run()["status"], world.sql("select 1 from notifications")) == ("PENDING", [])
    assert watch(world)["swept"] == 1
    assert [message["runId"] for message in aws.queued()] == [str(run_id)]
    world.execute()
    assert world.the_run()["status"] == "SUCCEEDED"


def test_case_033_an_expired_lease_is_looked_at_at_once_and_a_live_one_is_left(
    world: World,
) -> None:
    world.add_automation([NOTIFY])
    world.match(world.created_event(world.add_record()))
    run_id = world.the_run()["id"]
    world.claim([run_id])
    before = world.the_run()
    notify(messages.encode(run_id))
    assert world.the_run() == before
    process = composition.process_context("dlq-notifier")
    process.database.clock_offset_s = 201
    notify(messages.encode(run_id))
    world.turn_clock(201)
    assert watch(world)["swept"] == 1
    assert (world.the_run()["status"], world.the_run()["crash_count"]) == ("PENDING", 1)


def test_case_033_a_worker_killed_on_each_delivery_ends_in_one_death_told_once(
    world: World, aws: Aws
) -> None:
    world.add_automation([NOTIFY])
    world.match(world.created_event(world.add_record()))
    run_id = world.the_run()["id"]
    for crash in range(1, 9):
        world.claim([run_id])
        world.turn_clock(231)
        if crash == 5:
            # SQS has had enough of the message; the row goes on without it.
            notify(messages.encode(run_id))
        watch(world)
    assert world.the_run()["status"] == "DEAD_LETTER"
    notify(*[json.dumps(notice) for notice in aws.noticed()], messages.encode(run_id))
    world.turn_clock(3_600)
    watch(world)
    notify(*[json.dumps(notice) for notice in aws.noticed()])
    assert len(world.sql("select 1 from notifications")) == 1
    assert world.the_run()["enqueue_after"] is None


@pytest.mark.parametrize("status", ["SUCCEEDED", "FAILED", "DEAD_LETTER"])
def test_a_poison_message_of_an_ended_run_changes_nothing(world: World, status: str) -> None:
    world.add_automation([NOTIFY])
    world.match(world.created_event(world.add_record()))
    world.sql("update automation_runs set status = :s, enqueue_after = null", s=status)
    before = world.the_run()
    notify(messages.encode(before["id"]))
    assert world.the_run() == before


# ------------------------------------------------------------------------------ the watchdog


def test_the_watchdog_answers_what_it_has_seen_to(world: World, aws: Aws) -> None:
    world.add_automation([NOTIFY])
    world.match(world.created_event(world.add_record()))
    assert watch(world) == {"voided": 0, "swept": 0, "relayed": 0, "forgotten": 0}
    world.claim([world.the_run()["id"]])
    answer = watch(world, workersGone=True)
    assert (answer["voided"], answer["swept"]) == (1, 1)
    assert watch(world, workersGone="yes")["voided"] == 0
    assert len(aws.queued()) == 2
