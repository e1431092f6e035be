"""Cancelling a run over HTTP, and pausing or archiving beside one."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest

from tests.integration.conftest import Aws
from tests.integration.http_api.client import NOTIFY, Answer, Api
from tests.integration.http_api.some_runs import (
    audited,
    detail,
    execute,
    lines,
    row_of,
    run_in,
    run_path,
    started,
)
from whenthen.actions.registry import clear_test_executors, register_test_executor
from whenthen.actions.requests import StepRequest, StepSuccess
from whenthen.domain.errors import RetryableError
from whenthen.domain.kinds import ActionType, Role, RunStatus

OUTSIDE = {"type": "AI_GENERATE", "config": {"prompt": "x"}}


@pytest.fixture(autouse=True)
def _no_executors_left() -> Iterator[None]:
    yield
    clear_test_executors()


def cancel(api: Api, automation: Any, run_id: str) -> Answer:
    return api.mine.editor.post(run_path(automation, run_id, "cancel"))


def test_a_cancel_over_the_whole_product_of_states(api: Api) -> None:
    made = api.mine.create_automation()
    for status in RunStatus:
        run_id = run_in(api, made, status)
        answer = cancel(api, made, run_id)
        now = {"PENDING": "FAILED", "RUNNING": "RUNNING"}.get(status)
        if now is not None:
            assert (answer.status, answer.json) == (202, {"runId": run_id, "status": now})
        else:
            assert answer.status == 409
            assert answer.error == {
                "code": "INVALID_TRANSITION",
                "message": f"a run that is {status} has ended",
                "details": {"reason": "invalid_transition", "from": status, "to": "FAILED"},
            }
        assert row_of(api, run_id)["status"] == (now or status)


def test_a_waiting_run_ends_at_once_and_says_so(api: Api, aws: Aws) -> None:
    made = api.mine.create_automation(actions=[NOTIFY])
    run_id = started(api, made)
    assert cancel(api, made, run_id).json["status"] == "FAILED"
    shown = detail(api, made, run_id)
    assert shown["error"] == {
        "code": "CANCELLED",
        "message": "the run was cancelled",
        "actionIndex": None,
        "actionType": None,
        "attempts": 0,
    }
    assert shown["finishedAt"] is not None
    assert lines(api, run_id) == ["run created", "run cancelled", "run failed: CANCELLED"]
    assert shown["logs"][1]["data"] == {"userId": str(api.mine.user_ids[Role.EDITOR])}
    assert audited(api)[-1][:2] == ("run.cancelled", f"automation_run:{run_id}")
    (event,) = aws.stream_records()
    assert (event["type"], event["payload"]["status"]) == ("automation.executed", "FAILED")
    execute(api, run_id)
    assert api.sql("select * from notifications") == []


def test_a_run_that_waits_in_a_later_step_keeps_what_it_has_done(api: Api) -> None:
    def unavailable(_: StepRequest) -> StepSuccess:
        raise RetryableError("AWS_Busy", "not now")

    register_test_executor(ActionType.AI_GENERATE, unavailable)
    made = api.mine.create_automation(actions=[NOTIFY, OUTSIDE])
    run_id = started(api, made)
    execute(api, run_id)
    assert row_of(api, run_id)["status"] == "PENDING"
    assert cancel(api, made, run_id).json["status"] == "FAILED"
    assert detail(api, made, run_id)["steps"][0]["status"] == "SUCCEEDED"


def test_a_running_run_ends_before_its_next_step(api: Api) -> None:
    made = api.mine.create_automation(actions=[OUTSIDE, NOTIFY])
    run_id = started(api, made)

    def cancels(_: StepRequest) -> StepSuccess:
        for _again in range(2):
            answer = cancel(api, made, run_id)
            assert (answer.status, answer.json["status"]) == (202, "RUNNING")
        return StepSuccess({"text": "done"})

    register_test_executor(ActionType.AI_GENERATE, cancels)
    execute(api, run_id)
    shown = detail(api, made, run_id)
    assert (shown["status"], shown["error"]["code"]) == ("FAILED", "CANCELLED")
    assert [step["status"] for step in shown["steps"]] == ["SUCCEEDED"]
    assert lines(api, run_id).count("run cancelled") == 1
    assert api.sql("select * from notifications") == []


def test_a_run_in_its_last_step_may_still_succeed(api: Api) -> None:
    made = api.mine.create_automation(actions=[OUTSIDE])
    run_id = started(api, made)

    def cancels(_: StepRequest) -> StepSuccess:
        assert cancel(api, made, run_id).status == 202
        return StepSuccess({"text": "done"})

    register_test_executor(ActionType.AI_GENERATE, cancels)
    execute(api, run_id)
    assert row_of(api, run_id)["status"] == "SUCCEEDED"
    assert cancel(api, made, run_id).status == 409


def test_of_many_cancels_at_once_one_ends_the_run(api: Api) -> None:
    made = api.mine.create_automation()
    run_id = started(api, made)
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda _: cancel(api, made, run_id), range(10)))
    assert sorted(answer.status for answer in answers) == [202] + [409] * 9
    assert lines(api, run_id).count("run failed: CANCELLED") == 1


def test_a_run_of_an_archived_automation_may_be_cancelled(api: Api) -> None:
    made = api.mine.create_automation()
    run_id = started(api, made)
    api.mine.editor.delete(f"/automations/{made['id']}")
    assert cancel(api, made, run_id).json == {"runId": run_id, "status": "FAILED"}


def test_case_113_only_a_run_of_this_automation_is_cancelled(api: Api) -> None:
    made, sibling = api.mine.create_automation(), api.mine.create_automation()
    theirs = api.other.create_automation()
    foreign = api.other.editor.post(f"/automations/{theirs['id']}/run").json["runId"]
    for run_id in (started(api, sibling), foreign, str(uuid4()), "nonsense"):
        answer = cancel(api, made, run_id)
        assert (answer.status, answer.error) == (404, {"code": "NOT_FOUND", "message": "not found"})
    rows = api.sql("select status, cancelled_by from automation_runs")
    assert {(row["status"], row["cancelled_by"]) for row in rows} == {("PENDING", None)}


def to_status(api: Api, automation: Any, status: str) -> Answer:
    return api.mine.editor.post(f"/automations/{automation['id']}/status", {"status": status})


def test_case_108_of_two_pauses_at_once_one_succeeds(api: Api) -> None:
    made = api.mine.create_automation()
    to_status(api, made, "ACTIVE")
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda _: to_status(api, made, "PAUSED"), range(2)))
    lost, won = sorted(answers, key=lambda answer: -answer.status)
    assert won.json["status"] == "PAUSED"
    assert lost.json["error"]["details"] == {"reason": "no_op", "from": "PAUSED", "to": "PAUSED"}


@pytest.mark.parametrize(
    ("status", "reason"),
    [("PAUSED", "automation_paused"), ("ARCHIVED", "automation_archived")],
)
def test_case_108_a_claim_finds_the_automation_as_it_is_by_then(
    api: Api, status: str, reason: str
) -> None:
    made = api.mine.create_automation(actions=[NOTIFY])
    to_status(api, made, "ACTIVE")
    run_id = started(api, made)
    # As if an event had started it: a person's run would ignore the pause.
    api.sql("update automation_runs set forced = false")
    to_status(api, made, status)
    execute(api, run_id)
    assert detail(api, made, run_id)["output"] == {"skipped": reason}
    assert api.sql("select * from notifications") == []


def test_case_108_a_pause_while_a_run_waits_for_its_retry_skips_it_when_due(api: Api) -> None:
    def unavailable(_: StepRequest) -> StepSuccess:
        raise RetryableError("AWS_Busy", "not now", retry_after_s=256)

    register_test_executor(ActionType.AI_GENERATE, unavailable)
    made = api.mine.create_automation(actions=[OUTSIDE])
    to_status(api, made, "ACTIVE")
    run_id = started(api, made)
    api.sql("update automation_runs set forced = false")
    execute(api, run_id)
    assert row_of(api, run_id)["status"] == "PENDING"
    to_status(api, made, "PAUSED")
    execute(api, run_id)
    assert row_of(api, run_id)["status"] == "PENDING"
    api.context.database.clock_offset_s = 300
    execute(api, run_id)
    assert detail(api, made, run_id)["output"] == {"skipped": "automation_paused"}
