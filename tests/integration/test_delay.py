"""DELAY: a run that waits in its row, is woken once, and counts nothing for it."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.integration.conftest import Aws
from tests.integration.engine_world import TRIAGE_CONDITION, World
from tests.integration.statements import counted
from tests.integration.test_failures import UNAVAILABLE, WEBHOOK, Target
from tests.integration.test_triage import UPDATE
from tests.integration.transactions import value
from whenthen.actions.registry import clear_test_executors, register_test_executor
from whenthen.domain import instants, json_text
from whenthen.domain.kinds import ActionType
from whenthen.engine.context import Context
from whenthen.engine.sweep import void_leases

DAY_S = 86_400
MONTH_S = 30 * DAY_S
NOTIFY = {"type": "CREATE_NOTIFICATION", "config": {"title": "on"}}


@pytest.fixture
def world(context: Context) -> World:
    return World(context)


@pytest.fixture(autouse=True)
def _no_executors_left() -> Iterator[None]:
    yield
    clear_test_executors()


def delay(**config: Any) -> dict[str, Any]:
    return {"type": "DELAY", "config": config}


def started(
    world: World, *actions: Mapping[str, Any], condition: Any = None, **values: Any
) -> UUID:
    """Start a run of `actions` and let it come as far as it can."""
    world.add_automation(list(actions), condition=condition)
    world.match(world.created_event(world.add_record(**values), **values))
    world.execute()
    run_id: UUID = world.runs()[-1]["id"]
    return run_id


def now(world: World) -> datetime:
    instant: datetime = value(world.context.database, "select whenthen_now()")
    return instant


def statuses(world: World, run_id: UUID) -> list[tuple[str, int]]:
    return [(step["status"], step["attempts"]) for step in world.steps(run_id)]


# ------------------------------------------------------------------------------ it waits


def test_a_delay_gives_its_worker_back_and_is_over_when_its_run_is_due(world: World) -> None:
    before = now(world)
    run_id = started(world, delay(seconds=60), NOTIFY)
    run, (step,) = world.the_run(), world.steps(run_id)
    assert (run["status"], run["lease_token"], run["retry_count"]) == ("PENDING", None, 0)
    assert (step["status"], step["attempts"], step["finished_at"]) == ("WAITING", 1, None)
    assert step["resume_at"] == run["due_at"]
    assert timedelta(0) <= step["resume_at"] - before - timedelta(seconds=60) < timedelta(minutes=1)
    world.execute([run_id])
    assert statuses(world, run_id) == [("WAITING", 1)]

    world.turn_clock(61)
    world.execute([run_id])
    run, (step, notified) = world.the_run(), world.steps(run_id)
    assert (run["status"], run["retry_count"], notified["status"]) == ("SUCCEEDED", 0, "SUCCEEDED")
    assert (step["status"], step["attempts"]) == ("SUCCEEDED", 1)
    resumed_at = instants.parse_instant(step["output"]["resumedAt"])
    assert resumed_at is not None
    assert resumed_at >= before + timedelta(seconds=60)
    assert run["output"]["actions"][0]["output"] == step["output"]


def test_a_delay_tells_when_it_began_until_when_it_waits_and_that_it_is_done(world: World) -> None:
    run_id = started(world, delay(seconds=60), NOTIFY)
    waits = world.line_data(run_id, "action 1/2 DELAY waiting")
    (step,) = world.steps(run_id)
    assert waits == {
        "actionId": str(step["action_id"]),
        "resumeAt": instants.to_text(step["resume_at"]),
    }
    world.turn_clock(61)
    world.execute()
    assert world.lines(run_id) == [
        "info run created",
        "info run started",
        "info action 1/2 DELAY started",
        "info action 1/2 DELAY waiting",
        "info run started",
        "info action 1/2 DELAY done",
        "info action 2/2 CREATE_NOTIFICATION started",
        "info action 2/2 CREATE_NOTIFICATION done",
        "info run completed",
    ]


@pytest.mark.parametrize(
    ("seconds", "sent", "wakes_in_s"),
    [(60, 1, 120), (899, 1, 959), (900, 1, 960), (901, 0, 811), (MONTH_S, 0, MONTH_S - 90)],
)
def test_a_message_that_the_queue_can_delay_goes_out_now_and_a_later_one_is_left_to_the_sweep(
    world: World, aws: Aws, seconds: int, sent: int, wakes_in_s: int
) -> None:
    world.add_automation([delay(seconds=seconds)])
    world.match(world.created_event(world.add_record()))
    aws.queued()
    world.execute()
    run = world.the_run()
    assert aws.delayed() == sent
    left_s = (run["enqueue_after"] - now(world)).total_seconds()
    assert wakes_in_s - 30 < left_s <= wakes_in_s


def test_a_delay_of_30_days_is_left_alone_until_due_and_then_wakes_once(
    world: World, aws: Aws
) -> None:
    run_id = started(world, delay(seconds=MONTH_S), NOTIFY)
    aws.queued()
    for _ in range(29):
        world.turn_clock(DAY_S)
        assert (world.sweep(), aws.queued()) == (0, [])
    world.turn_clock(DAY_S - 89)
    world.sweep()
    # The queue delays the message by the rest; the row does not send another.
    world.turn_clock(89)
    world.sweep()
    assert [line for line in world.lines(run_id) if line.startswith("warn")] == []
    world.turn_clock(2)
    world.execute([run_id])
    world.execute([run_id])
    assert statuses(world, run_id) == [("SUCCEEDED", 1), ("SUCCEEDED", 1)]
    assert len(world.sql("select 1 from notifications")) == 1
    assert world.lines(run_id).count("info run started") == 2
    world.turn_clock(DAY_S)
    assert (world.sweep(), world.the_run()["retry_count"]) == (0, 0)


def test_when_all_workers_are_gone_a_delay_keeps_its_time(world: World) -> None:
    run_id = started(world, delay(seconds=DAY_S), NOTIFY)
    due_at = world.the_run()["due_at"]
    void_leases(world.context)
    world.sweep()
    world.execute([run_id])
    assert (world.the_run()["due_at"], statuses(world, run_id)) == (due_at, [("WAITING", 1)])


# ------------------------------------------------------------------------- how long it waits


def test_until_is_kept_to_the_instant_and_one_that_has_passed_does_not_wait(world: World) -> None:
    later = now(world) + timedelta(hours=1)
    run_id = started(world, delay(until=later.isoformat()), NOTIFY)
    assert (world.the_run()["due_at"], world.steps(run_id)[0]["resume_at"]) == (later, later)
    passed = now(world) - timedelta(days=400)
    run_id = started(world, delay(until=passed.isoformat()), NOTIFY)
    assert statuses(world, run_id) == [("SUCCEEDED", 1), ("SUCCEEDED", 1)]
    assert world.lines(run_id).count("info run started") == 1


@pytest.mark.parametrize(
    ("config", "values", "wait_s"),
    [
        ({"seconds": "{{record.Wait}}"}, {"Wait": 90}, 90),
        ({"seconds": "{{record.Wait}}0"}, {"Wait": 9}, 90),
        ({"seconds": "{{trigger.payload.properties.Wait}}"}, {"Wait": "90"}, 90),
    ],
)
def test_a_template_may_say_how_long(
    world: World, config: dict[str, Any], values: dict[str, Any], wait_s: int
) -> None:
    started(world, delay(**config), **values)
    left_s = (world.the_run()["due_at"] - now(world)).total_seconds()
    assert wait_s - 30 < left_s <= wait_s


def test_a_template_may_say_until_when(world: World) -> None:
    later = now(world).astimezone(UTC) + timedelta(days=2)
    run_id = started(world, delay(until="{{record.Due}}"), Due=later.isoformat())
    assert world.steps(run_id)[0]["resume_at"] == later


@pytest.mark.parametrize(
    ("config", "due", "code"),
    [
        ({"until": "{{record.Due}}"}, "tomorrow", "DELAY_INVALID"),
        ({"until": "{{record.Due}}"}, 5, "DELAY_INVALID"),
        ({"until": "{{record.Due}}"}, "2999-01-01", "DELAY_INVALID"),
        ({"until": "{{record.Due}}"}, None, "TEMPLATE_MISSING"),
        ({"seconds": "{{record.Due}}"}, 0, "DELAY_INVALID"),
        ({"seconds": "{{record.Due}}"}, 2_592_001, "DELAY_INVALID"),
        ({"seconds": "{{record.Due}}"}, True, "DELAY_INVALID"),
        ({"seconds": 0}, None, "ACTION_CONFIG_INVALID"),
    ],
)
def test_a_delay_that_names_no_time_fails_its_run_without_another_try(
    world: World, config: dict[str, Any], due: Any, code: str
) -> None:
    run_id = started(world, delay(**config), NOTIFY, Due=due)
    run = world.the_run()
    assert (run["status"], run["error"]["code"], run["error"]["actionIndex"]) == ("FAILED", code, 0)
    assert statuses(world, run_id) == [("FAILED", 1)]
    assert world.sql("select 1 from notifications") == []


def test_what_a_delay_waits_for_is_decided_when_it_begins(world: World) -> None:
    run_id = started(world, delay(until="{{record.Due}}"), NOTIFY, Due="2026-01-01")
    assert world.the_run()["status"] == "SUCCEEDED"
    later = (now(world) + timedelta(minutes=5)).isoformat()
    run_id = started(world, delay(until="{{record.Due}}"), NOTIFY, Due=later)
    # A stored action that is readable no more is not looked at again.
    world.sql("update automation_versions set actions = jsonb_set(actions, '{0,config}', '{}')")
    world.turn_clock(301)
    world.execute([run_id])
    assert statuses(world, run_id) == [("SUCCEEDED", 1), ("SUCCEEDED", 1)]


# ------------------------------------------------------------------------------ many of them


def test_two_delays_in_a_row_wait_one_after_the_other_and_the_last_action_may_be_one(
    world: World,
) -> None:
    run_id = started(world, NOTIFY, delay(seconds=60), delay(seconds=60))
    for waited in (1, 2):
        assert statuses(world, run_id) == [("SUCCEEDED", 1)] * waited + [("WAITING", 1)]
        world.turn_clock(61)
        world.execute()
    run = world.the_run()
    assert (run["status"], run["retry_count"], len(run["output"]["actions"])) == ("SUCCEEDED", 0, 3)
    # What is added up is work, not waiting.
    assert run["output"]["totalMs"] < 60_000


def test_fifty_delays_count_nothing(world: World) -> None:
    run_id = started(world, *[delay(seconds=MONTH_S)] * 50)
    for _ in range(50):
        world.turn_clock(MONTH_S)
        world.sweep()
        world.execute()
    run = world.the_run()
    assert (run["status"], run["retry_count"], run["crash_count"]) == ("SUCCEEDED", 0, 0)
    assert statuses(world, run_id) == [("SUCCEEDED", 1)] * 50


def test_a_wait_costs_two_commits_the_claim_that_wakes_it_and_its_end(world: World) -> None:
    world.add_automation([delay(seconds=60), NOTIFY, delay(seconds=60)])
    world.match(world.created_event(world.add_record()))
    with counted(world.context.database) as cost:
        for _ in range(3):
            world.execute(world.pending_ids())
            world.turn_clock(61)
    run = world.the_run()
    assert run["status"] == "SUCCEEDED"
    polls, steps, waits = 3, 3, 2
    assert cost.commits - polls <= steps + 1 + 2 * waits


def test_the_delays_of_a_batch_begin_and_end_together_with_its_data_steps(world: World) -> None:
    world.add_automation([delay(seconds=60)])
    world.add_automation([UPDATE])
    for _ in range(2):
        world.match(world.created_event(world.add_record(Status="A"), Status="A"))
    run_ids = world.pending_ids()
    with counted(world.context.database) as cost:
        world.execute(run_ids)
    assert cost.commits == 2
    assert sorted(run["status"] for run in world.runs()) == ["PENDING"] * 2 + ["SUCCEEDED"] * 2
    world.turn_clock(61)
    with counted(world.context.database) as cost:
        world.execute(run_ids)
    assert cost.commits == 2
    assert {run["status"] for run in world.runs()} == {"SUCCEEDED"}


# --------------------------------------------------------------- what happens in the meantime


def test_the_condition_is_not_asked_again_after_a_delay(world: World) -> None:
    run_id = started(world, delay(seconds=60), NOTIFY, condition=TRIAGE_CONDITION, Status="B")
    never = {"field": {"ref": "property", "name": "Status"}, "operator": "eq", "value": "Z"}
    world.sql(
        "update automation_versions set condition = cast(:c as jsonb)", c=json_text.dumps(never)
    )
    world.turn_clock(61)
    world.execute()
    assert world.the_run()["status"] == "SUCCEEDED"
    assert statuses(world, run_id) == [("SUCCEEDED", 1), ("SUCCEEDED", 1)]


@pytest.mark.parametrize(
    ("first", "status", "end", "why"),
    [
        ("DELAY", "PAUSED", "SUCCEEDED", "automation_paused"),
        ("DELAY", "ARCHIVED", "SUCCEEDED", "automation_archived"),
        ("NOTIFY", "PAUSED", "SUCCEEDED", None),
        ("NOTIFY", "ARCHIVED", "FAILED", "AUTOMATION_ARCHIVED"),
        ("DELAY", "ACTIVE", "SUCCEEDED", None),
    ],
)
def test_a_delay_that_comes_first_is_no_finished_step(
    world: World, first: str, status: str, end: str, why: str | None
) -> None:
    wait = delay(seconds=60)
    run_id = started(world, *([wait, NOTIFY] if first == "DELAY" else [NOTIFY, wait]))
    world.sql("update automations set status = :s", s=status)
    world.turn_clock(61)
    world.execute()
    run = world.the_run()
    assert run["status"] == end
    assert (run["error"]["code"] if run["error"] else run["output"].get("skipped")) == why
    assert "WAITING" not in [step["status"] for step in world.steps(run_id)]


def test_a_manual_run_waits_and_goes_on_although_its_automation_is_paused(world: World) -> None:
    world.add_automation([delay(seconds=60), NOTIFY])
    world.match(world.created_event(world.add_record()))
    world.sql("update automation_runs set forced = true")
    world.sql("update automations set status = 'PAUSED'")
    world.execute()
    world.turn_clock(61)
    world.execute()
    assert "skipped" not in world.the_run()["output"]


def test_a_run_that_is_cancelled_in_a_delay_ends_at_once_and_retried_waits_anew(
    world: World,
) -> None:
    run_id = started(world, NOTIFY, delay(seconds=DAY_S), NOTIFY)
    world.turn_clock(DAY_S / 2)
    world.cancel(run_id)
    run = world.the_run()
    assert (run["status"], run["error"]["code"]) == ("FAILED", "CANCELLED")
    assert (run["enqueue_after"], statuses(world, run_id)[1]) == (None, ("FAILED", 1))
    assert world.steps(run_id)[1]["finished_at"] is not None

    world.retry(run_id)
    world.execute()
    assert statuses(world, run_id) == [("SUCCEEDED", 1), ("WAITING", 1)]
    left_s = (world.the_run()["due_at"] - now(world)).total_seconds()
    assert DAY_S - 30 < left_s <= DAY_S
    assert world.steps(run_id)[1]["resume_at"] == world.the_run()["due_at"]


def test_a_retry_from_the_start_waits_anew_and_one_behind_the_delay_does_not(world: World) -> None:
    register_test_executor(ActionType.SEND_WEBHOOK, Target(UNAVAILABLE))
    run_id = started(world, delay(seconds=60), {**WEBHOOK, "retries": 0})
    world.turn_clock(61)
    world.execute()
    assert world.the_run()["status"] == "DEAD_LETTER"
    world.retry(run_id)
    world.execute()
    assert (world.the_run()["status"], world.the_run()["generation"]) == ("DEAD_LETTER", 0)
    world.retry(run_id, from_=1)
    world.execute()
    assert (world.the_run()["status"], world.the_run()["generation"]) == ("DEAD_LETTER", 1)
    world.retry(run_id, from_="start")
    world.execute()
    assert (world.the_run()["status"], world.the_run()["generation"]) == ("PENDING", 2)
    assert statuses(world, run_id)[-1] == ("WAITING", 1)


# -------------------------------------------------------------------------- what may go wrong


def test_a_worker_that_dies_after_the_waking_claim_costs_no_attempt_and_no_second_wait(
    world: World,
) -> None:
    run_id = started(world, delay(seconds=60), NOTIFY)
    world.turn_clock(61)
    world.crash([run_id])
    assert (world.the_run()["crash_count"], statuses(world, run_id)) == (1, [("WAITING", 1)])
    world.execute()
    run = world.the_run()
    assert (run["status"], run["crash_count"]) == ("SUCCEEDED", 0)
    assert statuses(world, run_id) == [("SUCCEEDED", 1), ("SUCCEEDED", 1)]


def test_a_worker_without_time_leaves_a_woken_delay_as_it_is(world: World) -> None:
    run_id = started(world, delay(seconds=60), NOTIFY)
    world.turn_clock(61)
    world.execute(remaining_s=15)
    assert (world.the_run()["status"], statuses(world, run_id)) == ("PENDING", [("WAITING", 1)])
    world.execute()
    assert statuses(world, run_id) == [("SUCCEEDED", 1), ("SUCCEEDED", 1)]


@pytest.mark.parametrize("state", ["40001", "55P03"])
def test_a_woken_delay_whose_end_cannot_be_written_is_put_off_and_does_not_wait_anew(
    world: World, state: str
) -> None:
    run_id = started(world, delay(seconds=DAY_S), NOTIFY)
    world.turn_clock(DAY_S + 1)
    world.sql(
        "create function refuse() returns trigger language plpgsql as"
        f" $$ begin raise exception 'not now' using errcode = '{state}'; end $$"
    )
    world.sql(
        "create trigger refused before update on automation_run_steps"
        " for each row when (new.status = 'SUCCEEDED') execute function refuse()"
    )
    world.execute()
    assert (world.the_run()["status"], world.the_run()["retry_count"]) == ("PENDING", 0)
    assert statuses(world, run_id) == [("WAITING", 1)]
    world.sql("drop trigger refused on automation_run_steps")
    world.turn_clock(2)
    world.execute()
    assert statuses(world, run_id) == [("SUCCEEDED", 1), ("SUCCEEDED", 1)]
