"""The redrive over HTTP: every failed run that matches comes back, at a pace."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.integration.conftest import Aws
from tests.integration.http_api.client import NOTIFY, Answer, Api
from tests.integration.http_api.some_runs import (
    FAILS,
    audited,
    detail,
    execute,
    failed,
    lines,
    row_of,
    run_in,
    sweep,
)
from tests.integration.http_api.test_http_workspace_runs import add_run
from whenthen.domain.kinds import Role, RunStatus

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def redrive(api: Api, **body: Any) -> Answer:
    path = f"/workspaces/{api.mine.workspace_id}/runs/redrive"
    return api.mine.clients[Role.ADMIN].post(path, body)


def statuses(api: Api, *run_ids: str) -> list[str]:
    return [row_of(api, run_id)["status"] for run_id in run_ids]


def test_a_dry_redrive_counts_and_changes_nothing(api: Api) -> None:
    made = api.mine.create_automation()
    ended = [run_in(api, made, status) for status in ("FAILED", "DEAD_LETTER", "DEAD_LETTER")]
    run_in(api, made, "SUCCEEDED")
    answer = redrive(api, dryRun=True)
    assert (answer.status, answer.json) == (200, {"count": 3, "dryRun": True})
    assert redrive(api, dryRun=True, status="FAILED").json["count"] == 1
    assert statuses(api, *ended) == ["FAILED", "DEAD_LETTER", "DEAD_LETTER"]
    assert [action for action, _, _ in audited(api)] == ["automation.created"]


def test_a_redrive_brings_back_failed_and_dead_runs_and_no_others(api: Api, aws: Aws) -> None:
    made = api.mine.create_automation()
    runs = {status: run_in(api, made, status) for status in RunStatus}
    aws.queued()
    answer = redrive(api)
    assert (answer.status, answer.json) == (202, {"count": 2, "dryRun": False})
    assert statuses(api, *runs.values()) == [
        "PENDING",
        "RUNNING",
        "SUCCEEDED",
        "PENDING",
        "PENDING",
    ]
    # The rows wake themselves, each in its turn.
    assert aws.queued() == []
    assert audited(api)[-1] == (
        "runs.redriven",
        f"workspace:{api.mine.workspace_id}",
        {"count": 2},
    )
    assert redrive(api).json == {"count": 0, "dryRun": False}


def test_a_redriven_run_goes_on_from_its_failed_step(api: Api, aws: Aws) -> None:
    made = api.mine.create_automation(actions=[NOTIFY, FAILS])
    run_id = failed(api, made)
    told = len(api.sql("select * from notifications"))
    aws.queued()
    redrive(api)
    assert lines(api, run_id)[-1] == "run retried manually"
    assert sweep(api, aws, offset_s=1) == 1
    assert aws.queued() == [{"v": 1, "runId": run_id}]
    execute(api, run_id)
    shown = detail(api, made, run_id)
    assert (shown["status"], shown["error"]["actionIndex"]) == ("FAILED", 1)
    assert [step["attempts"] for step in shown["steps"]] == [1, 1]
    assert len(api.sql("select * from notifications")) == told


def test_redriven_runs_become_due_fifty_a_second_oldest_first(api: Api) -> None:
    made = api.mine.create_automation()
    runs = [add_run(api, api.mine, made, status="FAILED") for _ in range(120)]
    assert redrive(api).json["count"] == 120
    rows = api.sql(
        "select extract(epoch from due_at - min(due_at) over ()) as after_s,"
        " enqueue_after - due_at < interval '1 second' as wakes_itself from automation_runs"
        " where id = any(cast(:ids as uuid[])) order by id",
        ids=[UUID(run_id) for run_id in runs],
    )
    waits = [float(row["after_s"]) for row in rows]
    assert waits == pytest.approx([n / 50 for n in range(120)], abs=0.1)
    assert all(row["wakes_itself"] for row in rows)


def test_each_filter_narrows_a_redrive(api: Api) -> None:
    made, other = api.mine.create_automation(), api.mine.create_automation()
    hour = timedelta(hours=1)
    columns: list[dict[str, Any]] = [
        {},
        {"status": "DEAD_LETTER"},
        {"automation_id": UUID(other["id"])},
        {"record_id": "r-1"},
        {"created_at": NOW - hour},
        {"created_at": NOW + hour},
    ]
    for one in columns:
        add_run(api, api.mine, made, **{"status": "FAILED", "created_at": NOW, **one})
    counts: list[tuple[dict[str, Any], int]] = [
        ({}, 6),
        ({"status": None, "recordId": None, "from": None}, 6),
        ({"status": "DEAD_LETTER"}, 1),
        ({"automationId": other["id"]}, 1),
        ({"recordId": "r-1"}, 1),
        ({"recordId": "\0"}, 0),
        ({"from": "2026-01-02T03:04:05Z"}, 5),
        ({"to": "2026-01-02T03:04:05Z"}, 1),
        ({"from": "2026-01-02T03:04:05Z", "to": "2026-01-02T03:04:06Z"}, 4),
        ({"status": "FAILED", "automationId": made["id"], "recordId": "r-1"}, 1),
    ]
    for body, count in counts:
        assert redrive(api, dryRun=True, **body).json["count"] == count, body
    assert redrive(api, automationId=other["id"]).json["count"] == 1
    rows = api.sql("select automation_id from automation_runs where status = 'PENDING'")
    assert [row["automation_id"] for row in rows] == [UUID(other["id"])]


def test_runs_of_archived_automations_and_of_other_workspaces_stay_ended(api: Api) -> None:
    made, theirs = api.mine.create_automation(), api.other.create_automation()
    ended = [
        add_run(api, api.mine, made, status="FAILED"),
        add_run(api, api.other, theirs, status="FAILED"),
    ]
    api.mine.editor.delete(f"/automations/{made['id']}")
    assert redrive(api).json["count"] == 0
    assert redrive(api, automationId=theirs["id"]).json["count"] == 0
    assert statuses(api, *ended) == ["FAILED", "FAILED"]


def test_at_most_ten_thousand_runs_come_back_at_once(api: Api) -> None:
    made = api.mine.create_automation()
    api.sql(
        "insert into automation_runs (id, automation_id, version, workspace_id, event_id,"
        " trigger_type, status, input, root_run_id)"
        " select gen_random_uuid(), :a, 1, :w, n, 'record.created', 'FAILED', '{}',"
        " gen_random_uuid() from generate_series(1, 10001) n",
        a=UUID(made["id"]),
        w=api.mine.workspace_id,
    )
    assert redrive(api, dryRun=True).json["count"] == 10_000
    assert [redrive(api).json["count"] for _ in range(3)] == [10_000, 1, 0]


BAD_BODIES: list[dict[str, Any]] = [
    {"status": "SUCCEEDED"},
    {"status": "PENDING"},
    {"automationId": "x"},
    {"recordId": 1},
    {"from": "yesterday"},
    {"to": 0},
    {"dryRun": "true"},
    {"dryRun": None},
    {"rootRunId": "019cafe0-0000-7000-8000-000000000000"},
]


def test_a_body_that_is_no_redrive_is_422(api: Api) -> None:
    for body in BAD_BODIES:
        answer = redrive(api, **body)
        assert (answer.status, answer.code) == (422, "VALIDATION_FAILED"), body
        assert [one["path"] for one in answer.error["details"]] == list(body)


def test_an_editor_may_not_redrive(api: Api) -> None:
    path = f"/workspaces/{api.mine.workspace_id}/runs/redrive"
    answer = api.mine.editor.post(path, {"dryRun": True})
    assert (answer.status, answer.code) == (403, "FORBIDDEN")
