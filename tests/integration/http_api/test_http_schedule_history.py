"""The schedules of an automation over HTTP: next instants, occurrences, and what edits send."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.integration.conftest import Aws
from tests.integration.http_api.client import CREATED_TRIGGER, NOTIFY, Answer, Api
from tests.integration.standing_clock import StandingAt
from tests.integration.statements import counted
from whenthen.domain import instants
from whenthen.engine.tick_schedules import tick

CLOCK = {"cron": "0 12 * * *", "timeZone": "Europe/Berlin"}
DAILY = {"type": "SCHEDULE", "config": CLOCK}
EVERY = {"type": "SCHEDULE", "config": {"runEvery": 600}}
MINUTE = timedelta(minutes=1)


def made(api: Api, *triggers: Any, status: str = "ACTIVE") -> str:
    automation = api.mine.create_automation(triggers=list(triggers), actions=[NOTIFY])
    path = f"/automations/{automation['id']}"
    if status != "DRAFT":
        take(api, path, status)
    return path


def take(api: Api, path: str, status: str) -> Answer:
    answer = api.mine.editor.post(f"{path}/status", {"status": status})
    assert answer.status == 200, answer.text
    return answer


def shown(api: Api, path: str) -> Any:
    answer = api.mine.viewer.get(f"{path}/schedule")
    assert answer.status == 200, answer.text
    return answer.json["schedules"]


def noon_at(api: Api, seconds: float) -> datetime:
    """Let the clock stand so many seconds from a noon in Berlin; return that noon."""
    database = api.context.database
    database.clock_offset_s = 0
    (row,) = api.sql("select whenthen_now() as now")
    noon: datetime = row["now"] + timedelta(days=2)
    # January and July differ; the instant is what the preview says.
    body = {**CLOCK, "after": instants.to_text(noon), "count": 1}
    (first,) = api.mine.viewer.post("/schedules/preview", body).json["next"]
    found = datetime.fromisoformat(first)
    database.clock_offset_s = StandingAt(found + timedelta(seconds=seconds))
    return found


def test_schedules_are_shown_by_their_place_among_the_triggers(api: Api) -> None:
    noon = noon_at(api, -600)
    path = made(api, DAILY, CREATED_TRIGGER, EVERY)
    daily, every = shown(api, path)
    assert daily == {
        "position": 0,
        "cron": "0 12 * * *",
        "runEvery": None,
        "timeZone": "Europe/Berlin",
        "next": daily["next"],
        "occurrences": [],
    }
    assert daily["next"][0] == instants.to_text(noon)
    preview = {**CLOCK, "after": instants.to_text(noon - MINUTE)}
    assert daily["next"] == api.mine.viewer.post("/schedules/preview", preview).json["next"]
    assert (every["position"], every["cron"], every["runEvery"]) == (2, None, 600)
    (row,) = api.sql("select anchor_at from schedules where run_every_s = 600")
    fires = [row["anchor_at"] + n * 600 * timedelta(seconds=1) for n in range(1, 6)]
    assert every["next"] == [instants.to_text(at) for at in fires]


@pytest.mark.parametrize("status", ["DRAFT", "PAUSED", "ARCHIVED"])
def test_what_is_not_active_fires_at_no_time(api: Api, status: str) -> None:
    path = made(api, DAILY, status="DRAFT")
    if status == "PAUSED":
        take(api, path, "ACTIVE")
    if status != "DRAFT":
        take(api, path, status)
    assert [one["next"] for one in shown(api, path)] == [[]]


def test_an_automation_without_schedules_shows_none(api: Api) -> None:
    assert shown(api, made(api, CREATED_TRIGGER)) == []


def test_a_zone_that_is_known_no_more_shows_no_next(api: Api) -> None:
    path = made(api, DAILY)
    lost = '{"cron": "0 12 * * *", "timeZone": "Atlantis/P"}'
    api.sql("update automation_triggers set config = cast(:c as jsonb)", c=lost)
    assert [(one["next"], one["timeZone"]) for one in shown(api, path)] == [([], "Atlantis/P")]


def test_the_newest_twenty_occurrences_are_shown_newest_first(api: Api) -> None:
    path = made(api, DAILY)
    (row,) = api.sql("select id from schedules")
    first, run_id = datetime(2026, 1, 1, 11, 0, 0, 250_000, tzinfo=UTC), uuid4()
    for n in range(25):
        outcome = ("fired", "missed", "deduped", "skipped")[n % 4]
        api.sql(
            "insert into schedule_occurrences (schedule_id, version, scheduled_for, outcome,"
            " reason, run_id) values (:s, :v, :at, :o, :r, :run)",
            s=row["id"],
            v=1 + n // 10,
            at=first + n * timedelta(days=1),
            o=outcome,
            r="overlap" if outcome == "skipped" else None,
            run=run_id if outcome in {"fired", "skipped"} else None,
        )
    (schedule,) = shown(api, path)
    found = schedule["occurrences"]
    assert [one["scheduledFor"] for one in found] == [
        instants.to_text(first + n * timedelta(days=1)) for n in range(24, 4, -1)
    ]
    assert found[0] == {
        "scheduledFor": "2026-01-25T11:00:00.250Z",
        "outcome": "fired",
        "reason": None,
        "runId": str(run_id),
    }
    assert {one["outcome"]: (one["reason"], one["runId"]) for one in found} == {
        "fired": (None, str(run_id)),
        "missed": (None, None),
        "deduped": (None, None),
        "skipped": ("overlap", str(run_id)),
    }


def test_schedules_of_another_workspace_are_not_there(api: Api) -> None:
    path = made(api, DAILY)
    assert api.other.owner.get(f"{path}/schedule").code == "NOT_FOUND"


def test_it_is_read_in_three_statements(api: Api) -> None:
    path = made(api, DAILY, EVERY)
    with counted(api.context.database) as cost:
        shown(api, path)
    # who, now, the triggers with their occurrences
    assert len(cost.statements) == 3


def test_an_edit_within_the_minute_sends_what_it_fires_and_tells_what_it_took_back(
    api: Api, aws: Aws
) -> None:
    noon = noon_at(api, -30)
    path = made(api, DAILY)
    (before,) = api.sql("select id, status, due_at from automation_runs")
    assert (before["status"], before["due_at"]) == ("PENDING", noon)
    assert aws.delayed() == 1
    answer = api.mine.editor.put(f"{path}/actions", {"actions": [NOTIFY, NOTIFY]})
    assert answer.json["version"] == 2
    assert aws.delayed() == 2
    told = [(event["type"], event["payload"]["runId"]) for event in aws.stream_records()]
    assert told == [("automation.executed", str(before["id"]))]
    (schedule,) = shown(api, path)
    assert schedule["next"][0] == instants.to_text(noon)
    assert [(one["outcome"], one["reason"]) for one in schedule["occurrences"]] == [
        ("fired", None),
        ("skipped", "superseded"),
    ]
    run = api.mine.viewer.get(f"{path}/runs/{before['id']}").json
    assert (run["status"], run["output"]) == ("SUCCEEDED", {"skipped": "superseded"})
    assert run["triggerType"] == "schedule"


EDITS = [
    ("PATCH", "", {"name": "Y"}),
    (
        "PUT",
        "/conditions",
        {"condition": {"field": {"ref": "event", "path": "a"}, "operator": "is_empty"}},
    ),
    ("PUT", "/actions", {"actions": [NOTIFY, NOTIFY]}),
    ("PUT", "/triggers", {"triggers": [EVERY]}),
    ("POST", "/versions/1/restore", None),
    ("POST", "/status", {"status": "PAUSED"}),
    ("POST", "/status", {"status": "ARCHIVED"}),
    ("DELETE", "", None),
]


@pytest.mark.parametrize(("method", "tail", "body"), EDITS)
def test_every_edit_takes_back_what_was_fired_ahead_of_its_instant(
    api: Api, aws: Aws, method: str, tail: str, body: Any
) -> None:
    noon_at(api, -300)
    path = made(api, DAILY)
    if "restore" in tail:
        api.mine.editor.put(f"{path}/actions", {"actions": [NOTIFY, NOTIFY]})
    noon_at(api, -30)
    tick(api.context, lambda: True)
    (run,) = api.sql("select id from automation_runs")
    answer = api.mine.editor.call(method, f"{path}{tail}", body)
    assert answer.status in {200, 204}, answer.text
    (after,) = api.sql("select output from automation_runs where id = :r", r=run["id"])
    assert after["output"] == {"skipped": "superseded"}
    assert [event["payload"]["runId"] for event in aws.stream_records()] == [str(run["id"])]
    (automation,) = api.sql("select status, version from automations where id = :a", a=id_in(path))
    versions = [row["version"] for row in api.sql("select version from schedules")]
    assert versions == ([automation["version"]] if automation["status"] == "ACTIVE" else [])


def id_in(path: str) -> UUID:
    return UUID(path.rsplit("/", 1)[1])
