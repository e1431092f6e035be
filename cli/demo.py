"""`whenthen demo`: when a ticket with Status B arrives, then it becomes C and people are told."""

import argparse
import os
import time
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from cli.api import Api, api_from_environment
from cli.demo_stack import stack_of_its_own
from cli.exits import FAILED, NOT_FOUND, CommandError
from cli.run_lines import TERMINAL, log_line, step_line

NAME = "Demo: triage new tickets"
PATIENCE_S = 60
POLL_S = 0.1

Json = dict[str, Any]


def run(_options: argparse.Namespace) -> int:
    """Fire one event and show its run; 0 only when the run SUCCEEDED."""
    with _deployment() as api:
        workspace_id, database_id = _tickets(api)
        return _fire(api, _automation(api, workspace_id, database_id), database_id)


def _deployment() -> AbstractContextManager[Api]:
    if os.environ.get("WHENTHEN_URL"):
        return nullcontext(api_from_environment())
    return stack_of_its_own()


def _fire(api: Api, automation_id: str, database_id: str) -> int:
    before = _run_ids(api, automation_id)
    print(f"when   a record of Tickets is created with Status B  ({automation_id})")
    print("then   UPDATE_RECORD Status C, CREATE_NOTIFICATION")
    record = api.call(
        "POST",
        f"/databases/{database_id}/records",
        {"properties": {"Name": "Printer on fire", "Status": "B", "Priority": 1}},
    )
    print(f"event  record.created {record['id']}")
    finished = _follow(api, automation_id, _new_run(api, automation_id, before))
    after = api.call("GET", f"/records/{record['id']}")
    print(f"record Status is {after['properties'].get('Status')}")
    print(f"done   {finished['status']}", flush=True)
    return 0 if finished["status"] == "SUCCEEDED" else FAILED


def _tickets(api: Api) -> tuple[str, str]:
    """Return the ids of a workspace and of its database *Tickets*."""
    for workspace in api.call("GET", "/me")["workspaces"]:
        for database in api.call("GET", f"/workspaces/{workspace['id']}/databases")["data"]:
            if database["name"] == "Tickets":
                return workspace["id"], database["id"]
    raise CommandError("no workspace of yours has a database Tickets", NOT_FOUND)


def _automation(api: Api, workspace_id: str, database_id: str) -> str:
    """Return the id of the demo's automation: the one of an earlier demo, else a new one."""
    path = f"/workspaces/{workspace_id}/automations"
    for known in api.call("GET", f"{path}?status=ACTIVE&limit=200")["data"]:
        if known["name"] == NAME and known["databaseId"] == database_id:
            return str(known["id"])
    created = api.call("POST", path, _definition(database_id))
    api.call("POST", f"/automations/{created['id']}/status", {"status": "ACTIVE"})
    return str(created["id"])


def _definition(database_id: str) -> Json:
    return {
        "name": NAME,
        "databaseId": database_id,
        "triggers": [{"type": "RECORD_CREATED", "config": {"databaseId": database_id}}],
        "condition": {
            "field": {"ref": "property", "name": "Status"},
            "operator": "eq",
            "value": "B",
        },
        "actions": [
            {
                "type": "UPDATE_RECORD",
                "config": {"recordId": "from_trigger", "propertyValues": {"Status": "C"}},
            },
            {"type": "CREATE_NOTIFICATION", "config": {"title": "Ticket {{record.Name}}"}},
        ],
    }


def _run_ids(api: Api, automation_id: str) -> set[str]:
    return {run["id"] for run in api.call("GET", f"/automations/{automation_id}/runs")["data"]}


def _new_run(api: Api, automation_id: str, before: set[str]) -> str:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if new := _run_ids(api, automation_id) - before:
            return min(new)
        time.sleep(POLL_S)
    raise CommandError(f"no run after {PATIENCE_S} s", FAILED)


def _follow(api: Api, automation_id: str, run_id: str) -> Json:
    """Print log lines as they come, then the steps; return the run once it has ended."""
    print(f"run    {run_id}")
    deadline = time.monotonic() + PATIENCE_S
    shown = 0
    while time.monotonic() < deadline:
        run_now: Json = api.call("GET", f"/automations/{automation_id}/runs/{run_id}")
        for line in run_now["logs"][shown:]:
            print(log_line(line), flush=True)
        shown = len(run_now["logs"])
        if run_now["status"] in TERMINAL:
            for step in run_now["steps"]:
                print(step_line(step))
            return run_now
        time.sleep(POLL_S)
    raise CommandError(f"the run has not ended after {PATIENCE_S} s", FAILED)
