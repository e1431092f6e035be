"""The manual retry over HTTP."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID, uuid4

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
    run_path,
    started,
    sweep,
)
from whenthen.domain.kinds import Role, RunStatus


def retry(api: Api, automation: Any, run_id: str, body: Any = None) -> Answer:
    return api.mine.editor.post(run_path(automation, run_id, "retry"), body)


def test_a_retry_over_the_whole_product_of_states(api: Api) -> None:
    made = api.mine.create_automation()
    for status in RunStatus:
        run_id = run_in(api, made, status)
        answer = retry(api, made, run_id)
        reason = {"PENDING": "no_op", "RUNNING": "no_op", "SUCCEEDED": "not_retryable"}.get(status)
        if reason is None:
            assert (answer.status, answer.json) == (200, {"runId": run_id, "status": "PENDING"})
        else:
            assert answer.status == 409
            assert answer.error == {
                "code": "NOT_RETRYABLE",
                "message": f"a run that is {status} cannot be retried",
                "details": {"reason": reason, "status": status},
            }
        assert row_of(api, run_id)["status"] == ("PENDING" if reason is None else status)


def test_a_retried_run_begins_afresh_and_is_sent(api: Api, aws: Aws) -> None:
    made = api.mine.create_automation(actions=[NOTIFY, FAILS])
    run_id = failed(api, made)
    before = detail(api, made, run_id)
    aws.queued()
    assert retry(api, made, run_id).status == 200
    assert aws.queued() == [{"v": 1, "runId": run_id}]
    after = detail(api, made, run_id)
    assert before["error"]["code"] == "NOT_FOUND"
    cleared = ("error", "output", "startedAt", "finishedAt")
    assert [after[key] for key in cleared] == [None] * 4
    assert (after["status"], after["retryCount"], after["generation"]) == ("PENDING", 0, 0)
    assert [step["attempts"] for step in after["steps"]] == [1, 0]
    assert after["logs"][: len(before["logs"])] == before["logs"]
    (line,) = after["logs"][len(before["logs"]) :]
    who = str(api.mine.user_ids[Role.EDITOR])
    assert (line["message"], line["data"]) == (
        "run retried manually",
        {"userId": who, "from": "failed", "version": "original"},
    )
    assert audited(api)[-1] == (
        "run.retried",
        f"automation_run:{run_id}",
        {"from": "failed", "version": "original"},
    )


def test_finished_steps_do_not_run_again_from_the_failed_one(api: Api) -> None:
    made = api.mine.create_automation(actions=[NOTIFY, FAILS])
    run_id = failed(api, made)
    told = len(api.sql("select * from notifications"))
    retry(api, made, run_id)
    execute(api, run_id)
    assert row_of(api, run_id)["status"] == "FAILED"
    assert len(api.sql("select * from notifications")) == told
    retry(api, made, run_id, {"from": "start"})
    execute(api, run_id)
    assert len(api.sql("select * from notifications")) == 2 * told
    assert detail(api, made, run_id)["generation"] == 1


def test_case_107_of_twenty_retries_at_once_one_succeeds_and_one_execution_follows(
    api: Api, aws: Aws
) -> None:
    made = api.mine.create_automation(actions=[NOTIFY])
    run_id = run_in(api, made, "DEAD_LETTER")
    aws.queued()
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: retry(api, made, run_id), range(20)))
    (won,) = [answer for answer in answers if answer.status == 200]
    assert won.json == {"runId": run_id, "status": "PENDING"}
    lost = [answer for answer in answers if answer.status != 200]
    assert [answer.status for answer in lost] == [409] * 19
    assert all(
        answer.json["error"]["details"] == {"reason": "no_op", "status": "PENDING"}
        for answer in lost
    )
    assert aws.queued() == [{"v": 1, "runId": run_id}]
    assert row_of(api, run_id)["retry_count"] == 0
    assert lines(api, run_id).count("run retried manually") == 1
    assert [action for action, _, _ in audited(api)].count("run.retried") == 1
    execute(api, run_id, run_id)
    assert [step["attempts"] for step in detail(api, made, run_id)["steps"]] == [1]
    assert row_of(api, run_id)["status"] == "SUCCEEDED"


def test_case_107_retries_beside_the_watchdogs_tick_lead_to_one_execution(
    api: Api, aws: Aws
) -> None:
    made = api.mine.create_automation(actions=[NOTIFY])
    run_id = run_in(api, made, "DEAD_LETTER")
    api.sql("update automation_runs set deaths = 1, enqueue_after = whenthen_now()")
    aws.queued()
    with ThreadPoolExecutor(8) as pool:
        tick = pool.submit(sweep, api, aws)
        answers = list(pool.map(lambda _: retry(api, made, run_id), range(7)))
        assert tick.result() <= 1
    assert sorted(answer.status for answer in answers) == [200] + [409] * 6
    for message in aws.queued():
        execute(api, message["runId"])
    assert row_of(api, run_id)["status"] == "SUCCEEDED"
    assert [step["attempts"] for step in detail(api, made, run_id)["steps"]] == [1]


def test_case_048_a_retry_of_an_old_run_is_no_stale_run_to_the_watchdog(api: Api, aws: Aws) -> None:
    made = api.mine.create_automation(actions=[NOTIFY])
    run_id = run_in(api, made, "FAILED")
    api.sql("update automation_runs set created_at = whenthen_now() - interval '3 days'")
    retry(api, made, run_id)
    assert len(aws.queued()) >= 1
    sweep(api, aws)
    assert aws.queued() == []
    # Only when the message should long have been taken up is another one sent.
    assert sweep(api, aws, offset_s=61) == 1
    assert aws.queued() == [{"v": 1, "runId": run_id}]


def test_case_126_a_retry_keeps_the_version_that_the_run_began_with(api: Api) -> None:
    made = api.mine.create_automation(actions=[NOTIFY, FAILS])
    run_id = failed(api, made)
    told = len(api.sql("select * from notifications"))
    path = f"/automations/{made['id']}/actions"
    assert api.mine.editor.put(path, {"actions": [NOTIFY, NOTIFY, NOTIFY]}).status == 200
    retry(api, made, run_id)
    execute(api, run_id)
    again = detail(api, made, run_id)
    assert (again["version"], again["status"]) == (1, "FAILED")
    assert [step["actionId"] for step in again["steps"]] == [one["id"] for one in made["actions"]]
    assert len(api.sql("select * from notifications")) == told


def test_case_126_a_retry_with_the_latest_version_mixes_nothing(api: Api) -> None:
    made = api.mine.create_automation(actions=[NOTIFY, FAILS])
    run_id = failed(api, made)
    told = len(api.sql("select * from notifications"))
    path = f"/automations/{made['id']}/actions"
    actions = api.mine.editor.put(path, {"actions": [NOTIFY, NOTIFY, NOTIFY]}).json["actions"]
    retry(api, made, run_id, {"version": "latest"})
    execute(api, run_id)
    again = detail(api, made, run_id)
    assert (again["version"], again["status"], again["generation"]) == (2, "SUCCEEDED", 1)
    assert [step["actionId"] for step in again["steps"]] == [one["id"] for one in actions]
    assert len(api.sql("select * from notifications")) == 4 * told


def test_case_126_the_latest_version_goes_on_where_it_is_the_same_up_to_there(api: Api) -> None:
    made = api.mine.create_automation(actions=[NOTIFY, FAILS])
    run_id = failed(api, made)
    told = len(api.sql("select * from notifications"))
    path = f"/automations/{made['id']}/actions"
    api.mine.editor.put(path, {"actions": [made["actions"][0], NOTIFY]})
    retry(api, made, run_id, {"version": "latest"})
    execute(api, run_id)
    assert detail(api, made, run_id)["status"] == "SUCCEEDED"
    assert len(api.sql("select * from notifications")) == 2 * told


def test_a_point_behind_the_failed_step_is_refused(api: Api) -> None:
    made = api.mine.create_automation(actions=[NOTIFY, FAILS, NOTIFY])
    run_id = failed(api, made)
    for point in (2, 3, 50, 10**300):
        answer = retry(api, made, run_id, {"from": point})
        assert answer.status == 422
        assert answer.error == {
            "code": "RETRY_POINT_INVALID",
            "message": "the run can begin again at its step 1 or before",
            "details": [{"path": "from", "message": "must be at most 1", "type": "retry_point"}],
        }
    for point in (1, 0):
        assert retry(api, made, run_id, {"from": point}).status == 200
        execute(api, run_id)
        assert row_of(api, run_id)["status"] == "FAILED"


BAD_BODIES: list[Any] = [
    {"from": -1},
    {"from": 1.0},
    {"from": True},
    {"from": "end"},
    {"from": None},
    {"version": "newest"},
    {"version": None},
    {"x": 1},
    [],
]


def test_a_body_that_is_no_retry_is_422(api: Api) -> None:
    made = api.mine.create_automation(actions=[FAILS])
    run_id = failed(api, made)
    for body in BAD_BODIES:
        answer = retry(api, made, run_id, body)
        assert (answer.status, answer.code) == (422, "VALIDATION_FAILED"), body
    assert row_of(api, run_id)["status"] == "FAILED"
    assert retry(api, made, run_id, "").status == 200


def test_a_run_of_an_archived_automation_stays_as_it_ended(api: Api) -> None:
    made = api.mine.create_automation(actions=[FAILS])
    run_id = failed(api, made)
    api.mine.editor.delete(f"/automations/{made['id']}")
    answer = retry(api, made, run_id)
    assert (answer.status, answer.code) == (409, "ARCHIVED")
    assert row_of(api, run_id)["status"] == "FAILED"


def test_a_retried_run_of_a_paused_automation_runs(api: Api) -> None:
    made = api.mine.create_automation(actions=[NOTIFY])
    run_id = run_in(api, made, "FAILED")
    api.sql("update automation_runs set forced = false")
    for status in ("ACTIVE", "PAUSED"):
        api.mine.editor.post(f"/automations/{made['id']}/status", {"status": status})
    retry(api, made, run_id)
    execute(api, run_id)
    assert detail(api, made, run_id)["output"]["actions"][0]["status"] == "SUCCEEDED"


def test_a_cancelled_run_may_be_retried_and_is_no_longer_cancelled(api: Api) -> None:
    made = api.mine.create_automation(actions=[NOTIFY])
    run_id = started(api, made)
    assert api.mine.editor.post(run_path(made, run_id, "cancel")).status == 202
    assert retry(api, made, run_id).status == 200
    execute(api, run_id)
    assert row_of(api, run_id)["status"] == "SUCCEEDED"


def test_case_113_only_a_run_of_this_automation_is_retried(api: Api) -> None:
    made, sibling = api.mine.create_automation(), api.mine.create_automation()
    theirs = api.other.create_automation()
    foreign = api.other.editor.post(f"/automations/{theirs['id']}/run").json["runId"]
    mine = run_in(api, sibling, "FAILED")
    api.sql("update automation_runs set status = 'FAILED'")
    for run_id in (mine, foreign, str(uuid4()), "nonsense"):
        answer = retry(api, made, run_id)
        assert (answer.status, answer.error) == (404, {"code": "NOT_FOUND", "message": "not found"})
    rows = api.sql("select id, status from automation_runs")
    assert {(row["id"], row["status"]) for row in rows} == {
        (UUID(mine), "FAILED"),
        (UUID(foreign), "FAILED"),
    }


def test_case_044_the_answer_stands_when_the_queue_cannot_be_reached(api: Api, aws: Aws) -> None:
    made = api.mine.create_automation()
    run_id = run_in(api, made, "FAILED")
    aws.sqs.delete_queue(QueueUrl=aws.queue_url)
    assert retry(api, made, run_id).status == 200
    row = row_of(api, run_id)
    assert row["status"] == "PENDING"
    assert (row["enqueue_after"] - row["due_at"]).total_seconds() == pytest.approx(60, abs=1)
