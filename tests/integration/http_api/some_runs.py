"""Runs in whatever state a test needs, and the worker and the sweep that move them on."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from tests.integration.conftest import Aws
from tests.integration.http_api.client import Api
from whenthen.engine.context import Context
from whenthen.engine.execute_runs import execute_runs
from whenthen.engine.sweep import sweep_runs

# A step that fails for good: no record has this id.
FAILS = {
    "type": "DELETE_RECORD",
    "config": {"recordId": "019cafe0-0000-7000-8000-000000000000"},
}


def run_path(automation: Any, run_id: str, *parts: str) -> str:
    return "/".join(["/automations", automation["id"], "runs", run_id, *parts])


def started(api: Api, automation: Any, **payload: Any) -> str:
    answer = api.mine.editor.post(f"/automations/{automation['id']}/run", {"input": payload})
    assert answer.status == 202, answer.text
    return str(answer.json["runId"])


def run_in(api: Api, automation: Any, status: str) -> str:
    """The id of a run that is simply said to be in `status`."""
    run_id = started(api, automation)
    api.sql(
        "update automation_runs set status = :s, lease_token = gen_random_uuid(),"
        " lease_expires_at = whenthen_now() + interval '1 minute' where id = :r",
        s=status,
        r=UUID(run_id),
    )
    return run_id


def execute(api: Api, *run_ids: str) -> None:
    execute_runs(api.context, [UUID(run_id) for run_id in run_ids], lambda: 180)


def failed(api: Api, automation: Any) -> str:
    """The id of a run that a worker has failed."""
    run_id = started(api, automation)
    execute(api, run_id)
    assert row_of(api, run_id)["status"] == "FAILED"
    return run_id


def row_of(api: Api, run_id: str) -> Mapping[str, Any]:
    (row,) = api.sql("select * from automation_runs where id = :r", r=UUID(run_id))
    return dict(row)


def detail(api: Api, automation: Any, run_id: str) -> Any:
    return api.mine.viewer.get(run_path(automation, run_id)).json


def lines(api: Api, run_id: str) -> list[str]:
    rows = api.sql(
        "select message from automation_logs where run_id = :r order by seq", r=UUID(run_id)
    )
    return [row["message"] for row in rows]


def audited(api: Api) -> list[tuple[str, str, Any]]:
    """(action, `type:id` of the resource, data) of every entry, oldest first."""
    rows = api.sql("select * from audit_log order by created_at, id")
    return [
        (row["action"], f"{row['resource_type']}:{row['resource_id']}", row["data"]) for row in rows
    ]


def sweep(api: Api, aws: Aws, offset_s: float = 0) -> int:
    """What one tick of the watchdog looks at, with its clock turned on by `offset_s`."""
    settings = replace(api.context.settings, notice_queue_url=aws.notice_url)
    watchdog = Context(settings, "watchdog")
    watchdog.database.clock_offset_s = offset_s
    try:
        return sweep_runs(watchdog, lambda: True)
    finally:
        watchdog.database.close()
