"""What a workspace's runs amount to, over HTTP."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from tests.integration.http_api.client import Answer, Api
from tests.integration.http_api.test_http_workspace_runs import add_run
from whenthen.domain.kinds import RunStatus, SkipReason
from whenthen.store import run_stats

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
DAY = {"from": "2026-01-02", "to": "2026-01-03"}
KEYS = [
    "from",
    "to",
    "runs",
    "perHour",
    "byAutomation",
    "byTriggerType",
    "skipped",
    "durationMs",
    "deadLettered",
    "topFailures",
]
NO_RUNS = dict.fromkeys([status.value for status in RunStatus], 0)
NO_SKIPS = dict.fromkeys([reason.value for reason in SkipReason], 0)


def stats(api: Api, **query: str) -> Answer:
    path = f"/workspaces/{api.mine.workspace_id}/automations/stats"
    return api.mine.viewer.get(path, **query)


def ended(took_ms: int, **columns: Any) -> dict[str, Any]:
    return {
        "created_at": AT,
        "started_at": AT,
        "finished_at": AT + timedelta(milliseconds=took_ms),
        "output": '{"actions": [], "totalMs": 1}',
        **columns,
    }


def with_error(status: str, code: str, **columns: Any) -> dict[str, Any]:
    error = f'{{"code": "{code}", "message": "x"}}'
    return ended(100, status=status, error=error, output=None, **columns)


def test_a_workspace_without_runs_has_all_keys_and_hours(api: Api) -> None:
    body = stats(api, **DAY).json
    assert list(body) == KEYS
    assert (body["from"], body["to"]) == ("2026-01-02T00:00:00.000Z", "2026-01-03T00:00:00.000Z")
    assert body["runs"] == NO_RUNS
    assert len(body["perHour"]) == 24
    assert body["perHour"][23] == {"hour": "2026-01-02T23:00:00.000Z", "runs": NO_RUNS}
    assert (body["byAutomation"], body["byTriggerType"], body["topFailures"]) == ([], {}, [])
    assert body["skipped"] == NO_SKIPS
    assert (body["durationMs"], body["deadLettered"]) == ({"p50": None, "p95": None}, 0)


def test_runs_are_counted_by_status_hour_automation_type_and_skip(api: Api) -> None:
    busy, calm = api.mine.create_automation(), api.mine.create_automation(name="Calm")
    skip = '{"skipped": "conditions_not_met"}'
    rows: list[dict[str, Any]] = [
        ended(10),
        ended(0, output=skip),
        ended(0, output='{"skipped": "overlap"}', trigger_type="schedule"),
        {"status": "PENDING", "created_at": AT + timedelta(hours=2)},
        {"status": "RUNNING", "created_at": AT + timedelta(hours=2), "started_at": AT},
        {"created_at": AT - timedelta(days=1)},
        {"created_at": datetime(2026, 1, 3, tzinfo=UTC)},
    ]
    for row in rows:
        add_run(api, api.mine, busy, **row)
    add_run(api, api.mine, calm, **ended(30, trigger_type="manual"))
    add_run(api, api.other, api.other.create_automation(), **ended(30))
    body = stats(api, **DAY).json
    assert body["runs"] == {**NO_RUNS, "SUCCEEDED": 4, "PENDING": 1, "RUNNING": 1}
    hours = {one["hour"][11:13]: one["runs"] for one in body["perHour"] if one["runs"] != NO_RUNS}
    assert hours == {
        "03": {**NO_RUNS, "SUCCEEDED": 4},
        "05": {**NO_RUNS, "PENDING": 1, "RUNNING": 1},
    }
    assert body["byAutomation"] == [
        {
            "automationId": busy["id"],
            "name": "Triage",
            "runs": {**NO_RUNS, "SUCCEEDED": 3, "PENDING": 1, "RUNNING": 1},
        },
        {"automationId": calm["id"], "name": "Calm", "runs": {**NO_RUNS, "SUCCEEDED": 1}},
    ]
    assert body["byTriggerType"] == {"record.created": 4, "schedule": 1, "manual": 1}
    assert body["skipped"] == {**NO_SKIPS, "conditions_not_met": 1, "overlap": 1}


def test_durations_are_of_runs_that_ended_and_were_not_skipped(api: Api) -> None:
    made = api.mine.create_automation()
    for took_ms in range(1, 101):
        add_run(api, api.mine, made, **ended(took_ms))
    add_run(api, api.mine, made, **ended(0, output='{"skipped": "overlap"}'))
    add_run(api, api.mine, made, status="RUNNING", created_at=AT, started_at=AT)
    # Cancelled before it began.
    add_run(api, api.mine, made, status="FAILED", created_at=AT, finished_at=AT)
    assert stats(api, **DAY).json["durationMs"] == {"p50": 50, "p95": 95}


def test_failures_are_counted_by_automation_and_code_the_most_frequent_first(api: Api) -> None:
    first, second = api.mine.create_automation(), api.mine.create_automation(name="B")
    for n in range(12):
        for _ in range(n + 1):
            add_run(api, api.mine, first, **with_error("FAILED", f"CODE_{n:02}"))
    add_run(api, api.mine, second, **with_error("DEAD_LETTER", "CODE_11", deaths=1))
    # Dead once, brought back since: its error is gone, its death is not.
    add_run(api, api.mine, second, status="PENDING", created_at=AT, deaths=2)
    # A retry that waits shows no failure yet.
    body = stats(api, **DAY).json
    assert body["deadLettered"] == 2
    assert [(one["code"], one["count"]) for one in body["topFailures"]] == [
        (f"CODE_{n:02}", n + 1) for n in range(11, 1, -1)
    ]
    assert body["topFailures"][0] == {
        "automationId": first["id"],
        "name": "Triage",
        "code": "CODE_11",
        "count": 12,
    }


def test_words_of_strangers_do_not_fill_the_answer(api: Api) -> None:
    made = api.mine.create_automation()
    api.sql(
        "insert into automation_runs (id, automation_id, version, workspace_id, event_id,"
        " trigger_type, status, input, root_run_id, created_at)"
        " select gen_random_uuid(), :a, 1, :w, n, 'type' || mod(n, 150), 'PENDING', '{}',"
        " gen_random_uuid(), :t from generate_series(1, 200) n",
        a=UUID(made["id"]),
        w=api.mine.workspace_id,
        t=AT,
    )
    shown = stats(api, **DAY).json["byTriggerType"]
    assert len(shown) == run_stats.TRIGGER_TYPES_MAX
    assert sorted(shown.values())[-50:] == [2] * 50


def test_the_window_is_the_last_day_unless_asked_otherwise(api: Api) -> None:
    made = api.mine.create_automation()
    now = datetime.now(UTC)
    for hours in (1, 23, 25):
        add_run(api, api.mine, made, created_at=now - timedelta(hours=hours))
    body = stats(api).json
    assert body["runs"]["SUCCEEDED"] == 2
    since, until = (datetime.fromisoformat(body[key]) for key in ("from", "to"))
    assert until - since == timedelta(hours=24)
    assert len(body["perHour"]) == 25
    until_text = "2026-01-02T00:00:00Z"
    assert stats(api, to=until_text).json["from"] == "2026-01-01T00:00:00.000Z"


WINDOWS = [
    ({"from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z"}, 200),
    ({"from": "2025-12-31T23:59:59.999Z", "to": "2026-02-01T00:00:00Z"}, 422),
    ({"from": "2026-01-01", "to": "2026-01-01"}, 422),
    ({"from": "2026-01-01T00:00:00.001Z", "to": "2026-01-01"}, 422),
    ({"from": "2026-01-01", "to": "2026-01-01T00:00:00.001Z"}, 200),
    ({"from": "9999-12-31"}, 422),
    ({"from": "2000-01-01"}, 422),
    ({"to": "0001-01-01T00:00:00Z"}, 422),
    ({"to": "9999-12-31T23:59:59Z"}, 200),
    ({"from": "0001-01-01T00:00:00Z", "to": "0001-01-01T00:00:01Z"}, 200),
    ({"from": "x"}, 422),
]


def test_a_window_has_a_beginning_before_its_end_and_at_most_31_days(api: Api) -> None:
    for query, status in WINDOWS:
        answer = stats(api, **query)
        assert answer.status == status, query
        if status == 422:
            assert answer.code == "VALIDATION_FAILED"
