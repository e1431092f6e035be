"""Edit, pause, resume and archive at any moment around an instant."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from uuid import UUID

import pytest

from tests.integration.schedule_world import NOTIFY, SECOND, ScheduleWorld
from whenthen.engine import align_schedules
from whenthen.engine.context import Context
from whenthen.store import schedules
from whenthen.store.new_id import new_id

NOON, HALF_PAST = {"cron": "0 12 * * *"}, {"cron": "30 12 * * *"}
MINUTE = timedelta(minutes=1)


@pytest.fixture
def world(acting_context: Context) -> Iterator[ScheduleWorld]:
    made = ScheduleWorld(acting_context)
    yield made
    made.clear()


Edit = Callable[[ScheduleWorld, UUID], None]


def resume(world: ScheduleWorld, automation_id: UUID) -> None:
    world.take(automation_id, "PAUSED")
    world.take(automation_id, "ACTIVE")


EDITS: dict[str, Edit] = {
    "another cron": lambda world, id_: world.put(id_, HALF_PAST),
    "the same cron": lambda world, id_: world.put_actions(id_, NOTIFY, NOTIFY),
    "pause": lambda world, id_: world.take(id_, "PAUSED"),
    "pause and resume": resume,
    "archive": lambda world, id_: world.archive(id_),
}
# Seconds from noon. The tick sees an instant from 60 s before it, a worker claims from 2 s before.
MOMENTS = (-61, -60, -59, -30, -3, -1, 0, 1, 30)
# What has happened when the edit comes: no tick yet, a tick, a tick and the run.
STATES = ("unseen", "fired", "done")
# (edit, before noon or not, state) → the versions that act at noon.
ACTS: dict[tuple[str, bool, str], list[int]] = {
    **{("another cron", before, state): [] for before in (True, False) for state in STATES},
    ("another cron", False, "fired"): [1],
    **{("the same cron", before, state): [2] for before in (True, False) for state in STATES},
    ("the same cron", False, "fired"): [1],
    **{("pause", before, state): [] for before in (True, False) for state in STATES},
    **{("pause and resume", True, state): [1] for state in STATES},
    ("pause and resume", False, "unseen"): [],
    ("pause and resume", False, "fired"): [1],
    **{("archive", before, state): [] for before in (True, False) for state in STATES},
    **{(edit, before, "done"): [1] for edit in EDITS for before in (True, False)},
}


def table() -> Iterator[tuple[str, int, str]]:
    for edit in EDITS:
        for moment in MOMENTS:
            for state in STATES:
                possible = {"unseen": True, "fired": moment >= -60, "done": moment >= -1}
                if possible[state]:
                    yield edit, moment, state


@pytest.mark.parametrize(("edit", "moment", "state"), list(table()))
def test_an_edit_around_an_instant_loses_doubles_and_hurries_nothing(
    world: ScheduleWorld, edit: str, moment: int, state: str
) -> None:
    noon = world.noon()
    world.at(noon - 10 * MINUTE)
    automation_id = world.scheduled(NOON)
    at = noon + moment * SECOND
    world.at(at)
    if state != "unseen":
        world.tick()
    if state == "done":
        world.execute([run["id"] for run in world.runs_of(automation_id)])
    world.at(at)
    before = len(world.runs_of(automation_id))
    EDITS[edit](world, automation_id)
    # Nothing that is due at once comes of it.
    assert [run for run in world.runs_of(automation_id)[before:] if run["due_at"] <= at] == []
    later = (at + SECOND, noon - SECOND, noon + SECOND, noon + MINUTE, noon + 29.5 * MINUTE)
    for instant in (*(one for one in later if one > at), noon + 31 * MINUTE):
        world.tick_at(instant)
    acted = world.acted(automation_id)
    expected = [(noon, version) for version in ACTS[edit, moment < 0, state]]
    if edit == "another cron":
        expected.append((noon + 30 * MINUTE, 2))
    assert acted == expected
    outcomes = [row for row in world.occurrences(automation_id) if row[2] == "fired"]
    assert len(outcomes) == len(expected) + world.skips(automation_id).count(
        "automation_paused"
    ) + world.skips(automation_id).count("automation_archived")
    assert {run["status"] for run in world.runs_of(automation_id)} <= {"SUCCEEDED"}


def test_an_activation_within_the_minute_before_an_instant_does_not_wait_for_the_tick(
    world: ScheduleWorld,
) -> None:
    noon = world.noon()
    world.at(noon - 20 * SECOND)
    automation_id = world.scheduled(NOON)
    (run,) = world.runs_of(automation_id)
    assert (run["status"], run["due_at"]) == ("PENDING", noon)
    world.execute([run["id"]])
    assert world.acted(automation_id) == []
    world.at(noon)
    world.execute([run["id"]])
    assert world.acted(automation_id) == [(noon, 1)]


def test_a_draft_has_no_schedule_and_a_second_activation_begins_another_rhythm(
    world: ScheduleWorld,
) -> None:
    automation_id = world.scheduled({"runEvery": 600}, status="DRAFT")
    assert world.schedules(automation_id) == []
    begun = []
    for status in ("ACTIVE", "PAUSED", "ACTIVE"):
        world.turn_clock(100)
        world.take(automation_id, status)
        if status == "PAUSED":
            assert world.schedules(automation_id) == []
            continue
        row = world.schedule(automation_id)
        assert row["anchor_at"].microsecond % 1000 == 0
        assert timedelta(0) <= world.now() - row["anchor_at"] < MINUTE
        assert row["next_at"] == row["anchor_at"] + 600 * SECOND
        begun.append(row["anchor_at"])
    assert begun[1] - begun[0] >= 200 * SECOND


def test_a_pause_before_an_interval_is_over_keeps_its_occurrence(world: ScheduleWorld) -> None:
    automation_id = world.scheduled({"runEvery": 60})
    world.tick()
    for status in ("PAUSED", "ACTIVE"):
        world.turn_clock(1.5)
        world.take(automation_id, status)
    world.tick()
    rows = world.sql(
        "select o.outcome, o.reason, r.status from schedule_occurrences o"
        " join automation_runs r on r.id = o.run_id order by o.scheduled_for"
    )
    assert [tuple(row.values()) for row in rows] == [
        ("skipped", "superseded", "SUCCEEDED"),
        ("fired", None, "PENDING"),
    ]


def test_a_new_version_does_not_shift_an_interval_and_another_interval_begins_now(
    world: ScheduleWorld,
) -> None:
    automation_id = world.scheduled({"runEvery": 600})
    before = world.schedule(automation_id)
    world.turn_clock(100)
    world.put_actions(automation_id, NOTIFY, NOTIFY)
    world.put(automation_id, {"runEvery": 600, "overlap": "skip", "catchUp": "all"})
    after = world.schedule(automation_id)
    changed = {"version": 3, "overlap": "skip", "catch_up": "all"}
    assert after == {**before, **changed}
    world.put(automation_id, {"runEvery": 700})
    assert world.schedule(automation_id)["anchor_at"] >= before["anchor_at"] + 100 * SECOND


def test_of_several_schedules_an_edit_withdraws_only_what_it_changes(world: ScheduleWorld) -> None:
    noon = world.noon()
    world.at(noon - 10 * MINUTE)
    automation_id = world.scheduled(NOON, {"cron": "0 12 * * *", "timeZone": "Etc/UTC"})
    world.at(noon - 30 * SECOND)
    world.tick()
    assert len(world.runs_of(automation_id)) == 2
    world.put(automation_id, NOON, HALF_PAST)
    for instant in (noon, noon + 29.5 * MINUTE, noon + 31 * MINUTE):
        world.tick_at(instant)
    assert world.skips(automation_id) == ["superseded"] * 2
    # The first is fired by the new version, the second is no more.
    assert world.acted(automation_id) == [(noon, 2), (noon + 30 * MINUTE, 2)]


def test_a_trigger_that_is_taken_away_leaves_its_occurrences(world: ScheduleWorld) -> None:
    noon = world.noon()
    world.at(noon - 10 * MINUTE)
    automation_id = world.scheduled(NOON, HALF_PAST)
    (gone,) = (
        row["id"] for row in world.schedules(automation_id) if row["cron"] == HALF_PAST["cron"]
    )
    world.tick_at(noon)
    world.at(noon + 29.5 * MINUTE)
    world.tick()
    world.put(automation_id, NOON)
    assert world.schedule(automation_id)["cron"] == NOON["cron"]
    rows = world.sql("select outcome from schedule_occurrences where schedule_id = :s", s=gone)
    assert [row["outcome"] for row in rows] == ["skipped"]
    world.tick_at(noon + 31 * MINUTE)
    assert world.acted(automation_id) == [(noon, 1)]


@pytest.mark.parametrize("stale", [False, True])
def test_case_019_after_an_edit_only_the_new_cron_fires(
    world: ScheduleWorld,
    stale: bool,  # noqa: FBT001
) -> None:
    """With `stale`, a reconciler acts on what it had read before the edit."""
    hour = world.noon()
    world.at(hour - 10 * MINUTE)
    automation_id = world.scheduled({"cron": "25 * * * *"})
    world.sql("update schedules set version = 0")
    seen = world.in_transaction(lambda c: schedules.drifted(c, 10))
    world.sql("update schedules set version = 1")
    world.at(hour - 2 * SECOND)
    world.put(automation_id, {"cron": "*/15 * * * *"})
    if stale:
        world.in_transaction(partial(align_schedules._align_free, seen))
    for minute in range(59):
        world.tick_at(hour + minute * MINUTE)
    assert world.acted(automation_id) == [(hour + n * 15 * MINUTE, 2) for n in range(4)]
    assert len(world.runs_of(automation_id)) == 4


@pytest.mark.parametrize("edit", ["another cron", "the same cron"])
def test_case_023_an_edit_in_an_outage_bursts_into_nothing_and_accounts_for_all(
    world: ScheduleWorld, edit: str
) -> None:
    four = world.noon()
    world.at(four - 15 * MINUTE)
    automation_id = world.scheduled({"cron": "*/10 * * * *"})
    world.tick_at(four - 10.5 * MINUTE)
    world.tick_at(four - 9 * MINUTE)
    # Nothing ticks from here on for four hours.
    world.at(four + 165 * MINUTE)
    if edit == "the same cron":
        world.put_actions(automation_id, NOTIFY, NOTIFY)
    else:
        world.put(automation_id, {"cron": "5 * * * *"})
    assert len(world.runs_of(automation_id)) == 1
    world.tick_at(four + 243 * MINUTE)
    gap = [four + n * 10 * MINUTE for n in range(25)]
    rows = [row for row in world.occurrences(automation_id) if four <= row[0] < four + 243 * MINUTE]
    if edit == "the same cron":
        assert [(at, outcome) for at, _, outcome, _ in rows] == [(at, "missed") for at in gap]
        assert {version for _, version, _, _ in rows} == {2}
    else:
        assert rows[:17] == [(at, 1, "missed", "superseded") for at in gap[:17]]
        assert [(at, version, outcome) for at, version, outcome, _ in rows[17:]] == [
            (four + 185 * MINUTE, 2, "missed")
        ]
    assert len(world.acted(automation_id)) == 1


def test_case_020_a_schedule_without_an_automation_is_removed(world: ScheduleWorld) -> None:
    world.sql(
        "insert into schedules (id, automation_id, trigger_id, version, cron, time_zone, anchor_at,"
        " next_at) values (:i, :a, :i, 1, '* * * * *', 'UTC', now(), now())",
        i=new_id(),
        a=new_id(),
    )
    world.tick()
    assert world.sql("select id from schedules") == []
    assert world.sql("select id from automation_runs") == []


@pytest.mark.parametrize("how", ["PAUSED", "ARCHIVED", "DELETE"])
def test_case_020_what_is_paused_or_archived_is_fired_by_no_further_tick(
    world: ScheduleWorld, how: str
) -> None:
    noon = world.noon()
    world.at(noon - 10 * MINUTE)
    automation_id = world.scheduled(NOON)
    if how == "DELETE":
        world.archive(automation_id)
        world.archive(automation_id)
    else:
        world.take(automation_id, how)
    assert world.schedules(automation_id) == []
    world.tick_at(noon)
    assert world.runs_of(automation_id) == []


def test_a_pause_by_other_than_an_edit_is_made_good_by_the_tick_and_by_the_resume(
    world: ScheduleWorld,
) -> None:
    """The breaker pauses in the matcher, which has nothing to do with schedules."""
    noon = world.noon()
    world.at(noon - 10 * MINUTE)
    ticked, resumed = world.scheduled(NOON), world.scheduled(NOON)
    world.at(noon - 30 * SECOND)
    world.tick()
    world.sql("update automations set status = 'PAUSED' where status = 'ACTIVE'")
    world.take(resumed, "ACTIVE")
    world.tick()
    assert world.schedules(ticked) == []
    world.tick_at(noon)
    assert world.skips(ticked) == ["superseded"]
    assert world.acted(ticked) == []
    assert world.acted(resumed) == [(noon, 1)]


def test_what_waits_for_another_try_or_was_brought_back_stays(world: ScheduleWorld) -> None:
    noon = world.noon()
    world.at(noon - 10 * MINUTE)
    ids = [world.scheduled(NOON) for _ in range(3)]
    world.at(noon - 30 * SECOND)
    world.tick()
    waiting, brought_back, ahead = (world.runs_of(one)[0]["id"] for one in ids)
    world.claim([waiting])
    world.sql(
        "update automation_runs set status = 'PENDING', started_at = now() where id = :r", r=waiting
    )
    world.cancel(brought_back)
    world.retry(brought_back)
    for one in ids:
        world.put_actions(one, NOTIFY, NOTIFY)
    rows = world.sql("select id, status, output from automation_runs where version = 1")
    assert {row["id"] for row in rows if row["status"] == "PENDING"} == {waiting, brought_back}
    assert [row["output"] for row in rows if row["id"] == ahead] == [{"skipped": "superseded"}]


def test_a_zone_that_is_known_no_more_stops_its_schedule_and_no_other(
    world: ScheduleWorld,
) -> None:
    broken, whole = world.scheduled(NOON, status="DRAFT"), world.scheduled(NOON, status="DRAFT")
    world.sql(
        'update automation_triggers set config = config || \'{"timeZone": "Atlantis/P"}\''
        " where automation_id = :a",
        a=broken,
    )
    world.sql("update automations set status = 'ACTIVE' where status = 'DRAFT'")
    world.tick()
    assert world.schedule(broken)["next_at"] is None
    assert world.schedule(whole)["next_at"] is not None
