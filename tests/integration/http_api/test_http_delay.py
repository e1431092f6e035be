"""A DELAY as people see it: saved, waited for, and tried out."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.integration.http_api.client import NOTIFY, Api
from tests.integration.http_api.some_runs import execute, started


def delay(**config: Any) -> dict[str, Any]:
    return {"type": "DELAY", "config": config}


def test_a_run_shows_the_step_that_waits_and_until_when(api: Api) -> None:
    made = api.mine.create_automation(actions=[NOTIFY, delay(seconds=3_600), NOTIFY])
    run_id = started(api, made)
    execute(api, run_id)
    run = api.mine.viewer.get(f"/automations/{made['id']}/runs/{run_id}").json
    notified, waiting = run["steps"]
    assert (run["status"], run["finishedAt"]) == ("PENDING", None)
    assert "resumeAt" not in notified
    assert (waiting["type"], waiting["status"], waiting["attempts"]) == ("DELAY", "WAITING", 1)
    assert (waiting["output"], waiting["error"], waiting["finishedAt"]) == (None, None, None)
    assert waiting["resumeAt"] == run["dueAt"]
    (line,) = [line for line in run["logs"] if line["message"] == "action 2/3 DELAY waiting"]
    assert line["data"] == {"actionId": waiting["actionId"], "resumeAt": run["dueAt"]}


def test_a_delay_that_is_over_shows_when_it_was_to_end_and_when_it_did(api: Api) -> None:
    made = api.mine.create_automation(actions=[delay(until="2026-01-01"), NOTIFY])
    run_id = started(api, made)
    execute(api, run_id)
    run = api.mine.viewer.get(f"/automations/{made['id']}/runs/{run_id}").json
    step = run["steps"][0]
    assert (run["status"], step["status"], step["resumeAt"]) == ("SUCCEEDED", "SUCCEEDED", None)
    assert list(step["output"]) == ["resumedAt"]


@pytest.mark.parametrize(
    "config",
    [{"seconds": 1}, {"seconds": "{{record.Wait}}"}, {"until": "{{record.Due}} 09:00"}],
)
def test_a_delay_is_kept_as_it_was_written(api: Api, config: dict[str, Any]) -> None:
    made = api.mine.create_automation(actions=[delay(**config)])
    assert made["actions"][0]["config"] == config


def test_a_dry_run_shows_until_when_it_would_wait_and_does_not_wait(api: Api) -> None:
    later = (datetime.now(UTC) + timedelta(days=40)).isoformat()
    made = api.mine.create_automation(
        actions=[
            delay(seconds="{{trigger.wait}}"),
            delay(seconds="{{trigger.later}}"),
            delay(until="{{trigger.later}}"),
            delay(until="{{trigger.nothing}}"),
        ]
    )
    event = {"type": "manual", "payload": {"wait": 60, "later": later}}
    answer = api.mine.editor.post(f"/automations/{made['id']}/dry-run", {"event": event})
    shown = answer.json["actions"]
    assert [one["config"] for one in shown[:3]] == [
        {"seconds": 60},
        {"seconds": later},
        {"until": later},
    ]
    assert [[problem["code"] for problem in one["problems"]] for one in shown] == [
        [],
        ["DELAY_INVALID"],
        ["DELAY_INVALID"],
        ["TEMPLATE_MISSING"],
    ]
    assert [one["problems"][0]["path"] for one in shown[1:]] == ["seconds", "until", "until"]
