"""What a tick does with what is due: a row and a run each, whatever else is going on."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy.engine import Connection

import schedule_reconciler.handler
from tests.conftest import settings_for
from tests.integration.conftest import Aws
from tests.integration.firing_world import (
    DAY,
    MINUTE,
    SECOND,
    SERVICE,
    Config,
    FiringWorld,
    Remaining,
    previewed,
    reconciler,
    tick,
)
from tests.integration.statements import counted
from tests.integration.test_handlers import metric_values
from whenthen.domain import json_text
from whenthen.domain.errors import BadRequestError, ForbiddenError
from whenthen.engine import composition
from whenthen.engine.context import Context
from whenthen.engine.fire_schedules import Fired, fire_due, fire_soon
from whenthen.engine.tick_schedules import asked_for
from whenthen.store import clock, due_schedules
from whenthen.store.new_id import new_id

EVENTS = Path(__file__).parents[2] / "events"
MIDNIGHT = datetime(2026, 6, 1, tzinfo=UTC)
SIX = datetime(2026, 6, 1, 6, tzinfo=UTC)
AT_SIX: Config = {"cron": "0 6 * * *"}


@pytest.fixture
def world(context: Context, aws: Aws) -> Iterator[FiringWorld]:
    with reconciler(context, aws):
        yield FiringWorld(context)


def fire(world: FiringWorld, at: datetime) -> Fired:
    """Fire what is due, with the whole world's clock at `at`."""
    with world.clock_at(at):
        return fire_due(world.context, lambda: True)


# --------------------------------------------------------------------------- one instant, one run


def test_an_instant_becomes_an_occurrence_and_a_run_that_knows_its_schedule(
    world: FiringWorld, aws: Aws
) -> None:
    automation_id = world.schedule({**AT_SIX, "timeZone": "Europe/Rome"}, begins=MIDNIGHT)
    four = SIX - timedelta(hours=2)
    assert fire(world, four - 40 * SECOND) == Fired(fired=1)
    run = world.the_run()
    (schedule,) = world.sql("select * from schedules")
    facts = (run["automation_id"], run["version"], run["status"], run["schedule_id"], run["depth"])
    assert facts == (automation_id, 1, "PENDING", schedule["id"], 0)
    assert (run["root_run_id"], run["trigger_type"]) == (run["id"], "schedule")
    assert run["event_id"] == (
        f"schedule:{world.workspace_id}:{schedule['trigger_id']}:v1:2026-06-01T04:00:00.000Z"
    )
    assert run["input"] == {
        "type": "schedule",
        "payload": {},
        "workspaceId": str(world.workspace_id),
        "automationContext": None,
        "firedAt": "2026-06-01T04:00:00.000Z",
        "cron": "0 6 * * *",
        "runEvery": None,
        "timeZone": "Europe/Rome",
    }
    # To the instant, and awake a minute later in case the message is lost.
    assert run["due_at"] == four
    assert abs(run["enqueue_after"] - four - MINUTE) < SECOND
    assert world.lines(run["id"]) == ["info run created"]
    assert world.line_data(run["id"], "run created") == {"eventId": run["event_id"]}
    assert world.occurrences() == [(four, "fired", None)]
    assert world.next_at() == four + DAY
    # Held back by the queue until then.
    assert (aws.queued(), aws.delayed()) == ([], 1)


def test_a_tick_sees_a_minute_ahead(world: FiringWorld) -> None:
    world.schedule(AT_SIX, begins=MIDNIGHT)
    assert fire(world, SIX - 62 * SECOND) == Fired()
    assert fire(world, SIX - 60 * SECOND) == Fired(fired=1)


def test_a_run_of_a_tick_for_another_time_need_not_wait_for_it(
    world: FiringWorld, aws: Aws
) -> None:
    world.schedule(AT_SIX, begins=MIDNIGHT)
    assert tick(SIX + 10 * DAY)["fired"] == 1
    assert world.fired() == [SIX + 10 * DAY]
    assert [message["runId"] for message in aws.queued()] == [str(world.the_run()["id"])]
    world.execute()
    assert world.the_run()["status"] == "SUCCEEDED"


def test_two_schedules_of_one_automation_at_one_instant_are_two_runs(world: FiringWorld) -> None:
    world.schedule(AT_SIX, {"cron": "0 */6 * * *"}, begins=MIDNIGHT)
    assert tick(SIX)["fired"] == 2
    assert world.fired() == [SIX, SIX]


def test_an_interval_is_anchored_and_first_fires_an_interval_later(world: FiringWorld) -> None:
    begins = MIDNIGHT.replace(microsecond=123_456)
    world.schedule({"runEvery": 90}, begins=begins)
    first = world.next_at()
    assert first is not None
    anchor = first - 90 * SECOND
    # Whole milliseconds, since texts hold no more.
    assert (anchor - begins < SECOND, anchor.microsecond % 1_000) == (True, 0)
    late = [anchor + seconds * SECOND for seconds in (29, 95, 211, 300)]
    assert [tick(now)["fired"] for now in late] == [0, 1, 2, 1]
    assert world.fired() == [anchor + n * 90 * SECOND for n in (1, 2, 3, 4)]
    assert world.next_at() == anchor + 5 * 90 * SECOND


def test_case_018_an_interval_of_two_days_goes_on_from_its_anchor_after_an_outage(
    world: FiringWorld,
) -> None:
    world.schedule({"runEvery": 2 * 86_400}, begins=MIDNIGHT)
    first = world.next_at()
    assert first is not None
    assert tick(first + 10 * MINUTE) == {"aligned": 0, "fired": 0, "missed": 1, "deduped": 0}
    assert world.next_at() == first + 2 * DAY


def test_case_025_runs_that_may_overlap_all_run(world: FiringWorld) -> None:
    # No run of these five minutes has ended when the next one is due.
    world.schedule({"cron": "* * * * *"}, begins=MIDNIGHT + SECOND)
    for n in range(1, 6):
        assert tick(MIDNIGHT + n * MINUTE - 30 * SECOND)["fired"] == 1
    world.turn_clock(60)
    world.execute()
    assert [run["status"] for run in world.runs()] == ["SUCCEEDED"] * 5
    assert world.fired() == [MIDNIGHT + n * MINUTE for n in range(1, 6)]


def test_a_schedule_whose_automation_is_not_active_fires_nothing(world: FiringWorld) -> None:
    paused = world.schedule(AT_SIX, begins=MIDNIGHT)
    world.sql("update automations set status = 'PAUSED' where id = :a", a=paused)
    active = world.schedule(AT_SIX, begins=MIDNIGHT)
    # Without the alignment that takes such a row away.
    assert fire(world, SIX) == Fired(fired=1)
    assert world.the_run()["automation_id"] == active
    rows = world.sql("select automation_id from schedules where next_at is null")
    assert [row["automation_id"] for row in rows] == [paused]


# --------------------------------------------------------------------------------- exactly once


def test_case_021_a_tick_that_comes_three_times_fires_once(world: FiringWorld) -> None:
    world.schedule(AT_SIX, begins=MIDNIGHT)
    with ThreadPoolExecutor(2) as both:
        answers = list(both.map(tick, [SIX, SIX]))
    answers.append(tick(SIX + 11 * MINUTE))
    assert sum(answer["fired"] for answer in answers) == 1
    assert world.fired() == [SIX]
    # What it was planned for, and not when the tick came.
    assert world.the_run()["input"]["firedAt"] == "2026-06-01T06:00:00.000Z"


def test_two_ticks_at_once_take_different_schedules(world: FiringWorld) -> None:
    for _ in range(3):
        world.schedule(AT_SIX, begins=MIDNIGHT)

    def hold_one(connection: Connection) -> None:
        assert len(due_schedules.claim(connection, 1, 0)) == 1
        with ThreadPoolExecutor(1) as other:
            assert other.submit(fire_due, world.context, lambda: True).result().fired == 2

    with world.clock_at(SIX):
        world.in_transaction(hold_one)
        assert fire_due(world.context, lambda: True).fired == 1


def test_an_instant_that_is_there_already_is_not_fired_again(world: FiringWorld) -> None:
    world.schedule(AT_SIX, begins=MIDNIGHT)
    assert tick(SIX)["fired"] == 1
    before = world.occurrences()
    # As after a restored backup of one table.
    world.sql("update schedules set next_at = :at", at=SIX)
    assert tick(SIX) == {"aligned": 0, "fired": 0, "missed": 0, "deduped": 0}
    assert (world.occurrences(), world.next_at()) == (before, SIX + DAY)


def test_an_instant_whose_run_is_there_already_is_deduped(
    world: FiringWorld, capsys: pytest.CaptureFixture[str]
) -> None:
    world.schedule(AT_SIX, begins=MIDNIGHT)
    tick(SIX)
    world.sql("delete from schedule_occurrences")
    world.sql("update schedules set next_at = :at", at=SIX)
    capsys.readouterr()
    assert tick(SIX)["deduped"] == 1
    assert len(world.runs()) == 1
    assert world.occurrences() == [(SIX, "deduped", None)]
    assert metric_values(capsys.readouterr().out) == {"schedules.deduped": 1}


# ------------------------------------------------------------------------------ late and missed


# The last tick before four hours of nothing, and the first one after them.
FOUR = SIX - timedelta(hours=2)
LAST_TICK = FOUR - 40 * SECOND
AFTER = FOUR + timedelta(hours=4, minutes=3)
EVERY_TEN: Config = {"cron": "*/10 * * * *"}


@pytest.mark.parametrize(
    ("catch_up", "fires"), [("none", 0), ("last", 1), ("all", 6)], ids=["none", "last", "all"]
)
def test_case_023_an_outage_leaves_rows_and_catches_up_as_the_trigger_says(
    world: FiringWorld, capsys: pytest.CaptureFixture[str], catch_up: str, fires: int
) -> None:
    world.schedule({**EVERY_TEN, "catchUp": catch_up}, begins=FOUR - MINUTE)
    assert tick(LAST_TICK)["fired"] == 1
    capsys.readouterr()
    assert tick(AFTER) == {"aligned": 0, "fired": fires, "missed": 24 - fires, "deduped": 0}
    outage = previewed(EVERY_TEN, FOUR, AFTER)
    assert len(outage) == 24
    caught = outage[24 - fires :]
    assert world.occurrences() == [
        (FOUR, "fired", None),
        *((at, "missed", None) for at in outage[: 24 - fires]),
        *((at, "fired", "caught up") for at in caught),
    ]
    found = metric_values(capsys.readouterr().out)
    assert found.get("schedules.missed") == 24 - fires
    assert found.get("schedules.fired", 0) == fires
    assert tick(AFTER)["fired"] == 0


def test_what_a_tick_had_no_time_for_is_late_and_not_missed(
    world: FiringWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whenthen.domain.limits.FIRE_BATCH_MAX", 2)
    for _ in range(5):
        world.schedule(AT_SIX, begins=MIDNIGHT)
    moments = iter([True, True, False])
    early = SIX - 30 * SECOND
    with world.clock_at(early):
        world.sql("insert into ticks values ('schedules', whenthen_now())")
        assert fire_due(world.context, lambda: next(moments)) == Fired(fired=4)
    # It had started, so the rest is owed, however long it takes.
    assert tick(SIX + timedelta(hours=5)) == {
        "aligned": 0,
        "fired": 1,
        "missed": 0,
        "deduped": 0,
    }
    assert world.fired() == [SIX] * 5


def test_a_tick_without_time_leaves_everything_to_the_next_one(world: FiringWorld) -> None:
    world.schedule(AT_SIX, begins=MIDNIGHT)
    assert tick(SIX, remaining_ms=20_000)["fired"] == 0
    assert tick(SIX + 3 * MINUTE, remaining_ms=20_001)["fired"] == 1


def test_of_a_long_gap_the_older_instants_are_one_row_with_their_number(
    world: FiringWorld, capsys: pytest.CaptureFixture[str]
) -> None:
    world.schedule({"cron": "* * * * *"}, begins=MIDNIGHT)
    now = MIDNIGHT + 30 * DAY
    older = 30 * 24 * 60 + 1 - 1_000
    assert tick(now)["fired"] == 4
    rows = world.occurrences()
    assert rows[0] == (MIDNIGHT + MINUTE, "missed", f"{older} older occurrences")
    assert [at for at, _, _ in rows[1:]] == [now - n * MINUTE for n in range(998, -2, -1)]
    assert metric_values(capsys.readouterr().out) == {
        "schedules.fired": 4,
        "schedules.missed": older + 996,
    }


def test_a_transaction_takes_no_more_schedules_once_it_has_many_instants(
    world: FiringWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whenthen.domain.limits.FIRE_BATCH_MAX_INSTANTS", 24)
    for _ in range(3):
        world.schedule(EVERY_TEN, begins=FOUR)
    once = iter([True, False])
    with world.clock_at(AFTER):
        assert fire_due(world.context, lambda: next(once)).missed == 24
        assert fire_due(world.context, lambda: True).missed == 48


def test_a_schedule_that_cannot_be_read_stops_no_other(world: FiringWorld) -> None:
    broken = world.schedule({"cron": "0 5 * * *"}, begins=MIDNIGHT)
    world.sql("update schedules set time_zone = 'Mars/Olympus' where automation_id = :a", a=broken)
    world.schedule(AT_SIX, begins=MIDNIGHT)
    assert tick(SIX) == {"aligned": 0, "fired": 1, "missed": 1, "deduped": 0}
    assert world.occurrences() == [
        (SIX - timedelta(hours=1), "missed", "TIME_ZONE_INVALID"),
        (SIX, "fired", None),
    ]
    assert tick(SIX)["missed"] == 0


# --------------------------------------------------------------------------------- on their way


def test_a_message_that_cannot_be_sent_is_sent_by_the_sweep(world: FiringWorld, aws: Aws) -> None:
    settings = settings_for(
        str(world.context.settings.database_url), RUN_QUEUE_URL=f"{aws.queue_url}-none"
    )
    cut_off = Context(settings, "test")
    world.schedule(AT_SIX, begins=MIDNIGHT)
    with world.clock_at(SIX):
        cut_off.database.clock_offset_s = world.context.database.clock_offset_s
        assert fire_due(cut_off, lambda: True) == Fired(fired=1)
        cut_off.database.close()
        assert aws.queued() == []
        world.turn_clock(62)
        assert world.sweep() == 1
    assert [message["runId"] for message in aws.queued()] == [str(world.the_run()["id"])]


def test_what_an_activation_has_due_within_a_minute_it_fires_itself(
    world: FiringWorld, aws: Aws
) -> None:
    other = world.schedule(AT_SIX, begins=MIDNIGHT)
    mine = world.schedule(AT_SIX, {"cron": "1 6 * * *"}, begins=MIDNIGHT)
    with world.clock_at(SIX - 20 * SECOND):
        fire_soon(world.context, mine)
    assert world.fired() == [SIX]
    assert (world.the_run()["automation_id"], aws.delayed()) == (mine, 1)
    assert tick(SIX)["fired"] == 2
    assert {run["automation_id"] for run in world.runs()} == {mine, other}


def test_an_activation_that_cannot_reach_the_database_again_has_succeeded_all_the_same() -> None:
    nowhere = Context(settings_for("postgresql://postgres@127.0.0.1:1/none"), "test")
    fire_soon(nowhere, new_id())


def test_a_batch_costs_two_statements_and_one_commit(world: FiringWorld) -> None:
    for _ in range(3):
        world.schedule(EVERY_TEN, begins=FOUR)
    with world.clock_at(FOUR + 10 * MINUTE), counted(world.context.database) as cost:
        assert fire_due(world.context, lambda: True).fired == 3
    assert (len(cost.statements), cost.commits) == (2, 1)
    # Asks when ticks started only if something is old enough to have been missed.
    with world.clock_at(AFTER), counted(world.context.database) as cost:
        fire_due(world.context, lambda: True)
    assert (len(cost.statements), cost.commits) == (3, 1)


# ------------------------------------------------------------------------------- the tick's time


def test_a_deployment_that_does_not_say_so_takes_no_time_from_an_event(
    world: FiringWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.schedule(AT_SIX, begins=MIDNIGHT)
    for value in ("", "false"):
        monkeypatch.setenv("ACCEPT_TICK_NOW", value)
        composition.process_context(SERVICE).database.close()
        composition.process_context.cache_clear()
        with pytest.raises(ForbiddenError, match="ACCEPT_TICK_NOW"):
            tick(SIX)
    assert (world.runs(), world.sql("select * from ticks")) == ([], [])


@pytest.mark.parametrize(
    "now",
    [
        None,
        5,
        "",
        "tomorrow",
        "2026-02-30T00:00:00Z",
        "9000-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
    ],
)
def test_a_time_that_is_none_is_refused(context: Context, now: object) -> None:
    accepting = replace(context.settings, accept_tick_now=True)
    with pytest.raises(BadRequestError, match="not an instant"):
        asked_for({"now": now}, accepting)


def test_eventbridges_own_event_ticks_by_the_databases_clock(world: FiringWorld) -> None:
    now: datetime = world.in_transaction(clock.now)
    soon = now + 30 * SECOND
    world.schedule({"cron": f"{soon.second} {soon.minute} {soon.hour} * * *"}, begins=now)
    event = json_text.loads((EVENTS / "schedule_tick.json").read_text())
    assert schedule_reconciler.handler.lambda_handler(event, Remaining())["fired"] == 1
    (started,) = world.sql("select started_at from ticks where name = 'schedules'")
    assert abs(started["started_at"] - now) < MINUTE
