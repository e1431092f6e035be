"""Runs over HTTP: started by hand, listed in pages, looked at."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.integration.conftest import Aws
from tests.integration.http_api.client import NOTIFY, Api
from whenthen.domain import json_text
from whenthen.domain.kinds import RunStatus
from whenthen.store.new_id import new_id

KB64 = 64 * 1024
SUMMARY_KEYS = [
    "id",
    "status",
    "triggerType",
    "startedAt",
    "finishedAt",
    "retryCount",
    "error",
    "createdAt",
]
DETAIL_KEYS = [
    *SUMMARY_KEYS,
    "automationId",
    "version",
    "depth",
    "rootRunId",
    "parentRunId",
    "eventId",
    "dueAt",
    "generation",
    "input",
    "output",
    "steps",
    "logs",
    "logsTruncated",
]


def runs_path(automation: Any) -> str:
    return f"/automations/{automation['id']}/runs"


def start(api: Api, automation: Any, body: Any = None) -> str:
    answer = api.mine.editor.post(f"/automations/{automation['id']}/run", body)
    assert answer.status == 202, answer.text
    assert list(answer.json) == ["runId"]
    return str(answer.json["runId"])


def add_runs(
    api: Api, automation: Any, n: int, created_at: datetime, status: str = "SUCCEEDED"
) -> list[str]:
    ids = [str(new_id()) for _ in range(n)]
    for run_id in ids:
        api.sql(
            "insert into automation_runs (id, automation_id, version, workspace_id, event_id,"
            " trigger_type, status, input, root_run_id, created_at)"
            " values (:r, :a, 1, :w, :e, 'manual', :s, '{\"payload\": {}}', :r, :t)",
            r=UUID(run_id),
            a=UUID(automation["id"]),
            w=api.mine.workspace_id,
            e=run_id,
            s=status,
            t=created_at,
        )
    return ids


@pytest.mark.parametrize("status", ["DRAFT", "ACTIVE", "PAUSED"])
def test_a_manual_run_is_accepted_and_sent(api: Api, aws: Aws, status: str) -> None:
    made = api.mine.create_automation(actions=[NOTIFY])
    for step in {"DRAFT": [], "ACTIVE": ["ACTIVE"], "PAUSED": ["ACTIVE", "PAUSED"]}[status]:
        api.mine.editor.post(f"/automations/{made['id']}/status", {"status": step})
    run_id = start(api, made, {"input": {"recordId": "r-1", "type": "spoofed"}})
    assert aws.queued() == [{"v": 1, "runId": run_id}]
    detail = api.mine.viewer.get(f"{runs_path(made)}/{run_id}").json
    assert list(detail) == DETAIL_KEYS
    assert (detail["status"], detail["triggerType"], detail["version"]) == ("PENDING", "manual", 1)
    assert detail["input"] == {
        "recordId": "r-1",
        "type": "manual",
        "payload": {"recordId": "r-1", "type": "spoofed"},
        "workspaceId": str(api.mine.workspace_id),
        "automationContext": None,
    }
    assert detail["eventId"].startswith(f"manual:{api.mine.workspace_id}:")
    assert (detail["rootRunId"], detail["parentRunId"], detail["depth"]) == (run_id, None, 0)
    assert detail["dueAt"] is not None
    assert (detail["output"], detail["steps"], detail["logsTruncated"]) == (None, [], False)
    (line,) = detail["logs"]
    assert (line["level"], line["message"]) == ("info", "run created")
    assert line["data"] == {"eventId": detail["eventId"]}
    (row,) = api.sql("select forced, record_id from automation_runs")
    assert (row["forced"], row["record_id"]) == (True, "r-1")


def test_a_run_is_pinned_to_the_version_of_its_start(api: Api) -> None:
    made = api.mine.create_automation()
    first = start(api, made)
    api.mine.editor.put(f"/automations/{made['id']}/actions", {"actions": [NOTIFY]})
    second = start(api, made, {})
    versions = [
        api.mine.viewer.get(f"{runs_path(made)}/{run_id}").json["version"]
        for run_id in (first, second)
    ]
    assert versions == [1, 2]


def test_case_044_the_202_stands_when_the_queue_cannot_be_reached(api: Api, aws: Aws) -> None:
    made = api.mine.create_automation()
    aws.sqs.delete_queue(QueueUrl=aws.queue_url)
    run_id = start(api, made)
    (row,) = api.sql(
        "select id, status, enqueue_after - created_at < interval '2 minutes' as soon"
        " from automation_runs"
    )
    assert (str(row["id"]), row["status"], row["soon"]) == (run_id, "PENDING", True)


INPUT_FRAME = len('{"x":""}')


@pytest.mark.parametrize(
    ("size", "status"),
    [
        pytest.param(KB64 - 1, 202, id="below"),
        pytest.param(KB64, 202, id="case_098_at_64_kb"),
        pytest.param(KB64 + 1, 413, id="case_098_above_64_kb"),
    ],
)
def test_manual_input_has_at_most_64_kb(api: Api, size: int, status: int) -> None:
    made = api.mine.create_automation()
    body = {"input": {"x": "a" * (size - INPUT_FRAME)}}
    answer = api.mine.editor.post(f"/automations/{made['id']}/run", body)
    assert answer.status == status
    assert len(api.sql("select * from automation_runs")) == (status == 202)


def test_case_101_characters_that_cannot_be_stored_are_replaced_and_flagged(api: Api) -> None:
    made = api.mine.create_automation()
    run_id = start(api, made, '{"input": {"no\\u0000te": "a\\u0000b", "s": "\\ud800"}}')
    shown = api.mine.viewer.get(f"{runs_path(made)}/{run_id}").json["input"]
    assert shown["payload"] == {"no\ufffdte": "a\ufffdb", "s": "\ufffd"}
    assert shown["sanitized"] is True


def test_case_075_numbers_keep_their_digits(api: Api) -> None:
    made = api.mine.create_automation()
    numbers = '{"id":8202522731445525542,"amount":1.10,"n":9007199254740993}'
    run_id = start(api, made, f'{{"input":{numbers}}}')
    answer = api.mine.viewer.get(f"{runs_path(made)}/{run_id}")
    for digits in ("8202522731445525542", "1.10,", "9007199254740993"):
        assert digits.rstrip(",") in answer.text
    assert answer.json["input"]["payload"] == json_text.loads(numbers)


def test_the_list_of_runs_is_filtered_by_status(api: Api) -> None:
    made = api.mine.create_automation()
    now = datetime.now(UTC)
    ids = {status: add_runs(api, made, 2, now, status) for status in RunStatus}
    for status, expected in ids.items():
        body = api.mine.viewer.get(runs_path(made), status=status).json
        assert sorted(row["id"] for row in body["data"]) == sorted(expected)
        assert list(body["data"][0]) == SUMMARY_KEYS
    assert len(api.mine.viewer.get(runs_path(made)).json["data"]) == 10


def all_pages(api: Api, automation: Any, between: Any = lambda: None) -> list[str]:
    seen: list[str] = []
    query = {"limit": "3"}
    while True:
        body = api.mine.viewer.get(runs_path(automation), **query).json
        assert len(body["data"]) <= 3
        seen += [row["id"] for row in body["data"]]
        if body["nextCursor"] is None:
            return seen
        query["cursor"] = body["nextCursor"]
        between()


def test_case_104_rows_of_one_instant_are_each_shown_once(api: Api) -> None:
    made = api.mine.create_automation()
    ids = add_runs(api, made, 7, datetime(2026, 1, 2, 3, 4, 5, 678_901, UTC))
    assert all_pages(api, made) == sorted(ids, reverse=True)


def test_case_104_rows_that_come_meanwhile_move_nothing(api: Api) -> None:
    made = api.mine.create_automation()
    instant = datetime(2026, 1, 2, 3, 4, 5, 678_901, UTC)
    ids = add_runs(api, made, 7, instant)
    seen = all_pages(api, made, lambda: add_runs(api, made, 2, instant + timedelta(microseconds=1)))
    assert seen == sorted(ids, reverse=True)


def test_a_cursor_fits_only_the_list_that_gave_it(api: Api) -> None:
    made, other = api.mine.create_automation(), api.mine.create_automation()
    add_runs(api, made, 2, datetime.now(UTC))
    cursor = api.mine.viewer.get(runs_path(made), limit="1").json["nextCursor"]
    assert api.mine.viewer.get(runs_path(made), cursor=cursor).status == 200
    for path, query in [
        (runs_path(other), {}),
        (runs_path(made), {"status": "FAILED"}),
        (api.mine.automations_path, {}),
    ]:
        answer = api.mine.viewer.get(path, cursor=cursor, **query)
        assert (answer.status, answer.code) == (400, "BAD_CURSOR")


def add_steps_and_lines(api: Api, run_id: str, generation: int, lines: int) -> None:
    api.sql(
        "insert into automation_run_steps (run_id, generation, action_id, index, type, status,"
        " attempts, output, finished_at) select :r, :g, gen_random_uuid(), n,"
        " 'CREATE_NOTIFICATION', 'SUCCEEDED', 1, jsonb_build_object('n', n), whenthen_now()"
        " from generate_series(2, 0, -1) n",
        r=UUID(run_id),
        g=generation,
    )
    api.sql(
        "insert into automation_logs (run_id, level, message)"
        " select :r, 'info', n::text from generate_series(1, cast(:n as integer)) n",
        r=UUID(run_id),
        n=lines,
    )


@pytest.mark.parametrize(
    ("lines", "shown_first", "truncated"),
    [(999, "1", False), (1000, "1", False), (1001, "2", True)],
)
def test_a_run_shows_its_newest_thousand_lines_oldest_first(
    api: Api, lines: int, shown_first: str, *, truncated: bool
) -> None:
    made = api.mine.create_automation()
    (run_id,) = add_runs(api, made, 1, datetime.now(UTC))
    add_steps_and_lines(api, run_id, 0, lines)
    detail = api.mine.viewer.get(f"{runs_path(made)}/{run_id}").json
    messages = [line["message"] for line in detail["logs"]]
    assert (messages[0], messages[-1]) == (shown_first, str(lines))
    assert detail["logsTruncated"] is truncated


def test_a_run_shows_the_steps_of_its_present_generation_by_index(api: Api) -> None:
    made = api.mine.create_automation()
    (run_id,) = add_runs(api, made, 1, datetime.now(UTC))
    add_steps_and_lines(api, run_id, 0, 1)
    add_steps_and_lines(api, run_id, 1, 1)
    api.sql("update automation_runs set generation = 1")
    detail = api.mine.viewer.get(f"{runs_path(made)}/{run_id}").json
    assert detail["generation"] == 1
    assert detail["dueAt"] is None
    assert [step["index"] for step in detail["steps"]] == [0, 1, 2]
    step = dict(detail["steps"][0])
    assert step.pop("actionId")
    assert step.pop("startedAt").endswith("Z")
    assert step.pop("finishedAt").endswith("Z")
    assert step == {
        "index": 0,
        "type": "CREATE_NOTIFICATION",
        "status": "SUCCEEDED",
        "attempts": 1,
        "output": {"n": 0},
        "error": None,
    }


def test_case_113_a_run_is_found_only_under_its_own_automation(api: Api) -> None:
    made, sibling = api.mine.create_automation(), api.mine.create_automation()
    theirs = api.other.create_automation()
    mine = start(api, sibling)
    answer = api.other.editor.post(f"/automations/{theirs['id']}/run")
    foreign = answer.json["runId"]
    answers = [
        api.mine.viewer.get(f"{runs_path(made)}/{run_id}")
        for run_id in (mine, foreign, str(uuid4()), "nonsense")
    ]
    assert {answer.status for answer in answers} == {404}
    assert all(answer.error == answers[0].error for answer in answers)
