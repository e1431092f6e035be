"""`whenthen runs`: list, show, tail, retry."""

import argparse
from collections.abc import Mapping
from typing import Any, Final

from cli import tail
from cli.api import Api, api_from_environment, segment
from cli.automations import automation_of
from cli.exits import NOT_FOUND, CommandError
from cli.run_lines import run_lines
from cli.terminal import print_json, print_table
from cli.workspaces import workspace_of

LIMIT: Final = 50
_COLUMNS: Final = ("id", "status", "triggerType", "createdAt", "retryCount")


def list_runs(options: argparse.Namespace) -> int:
    """Print runs, newest first: those of an automation, or of the workspace."""
    api = api_from_environment()
    rows = _found(api, options)
    if options.json:
        print_json(rows)
        return 0
    columns = (*_COLUMNS, "automationName") if "automationName" in (rows or [{}])[0] else _COLUMNS
    print_table(columns, [[row[name] for name in columns] for row in rows])
    return 0


def show_run(options: argparse.Namespace) -> int:
    """Print one run with its steps and log lines."""
    api = api_from_environment()
    run = api.call("GET", run_path(api, options))
    if options.json:
        print_json(run)
    else:
        print("\n".join(run_lines(run)))
    return 0


def retry_run(options: argparse.Namespace) -> int:
    """Bring an ended run back; with `--tail` follow it to its new end."""
    api = api_from_environment()
    path = run_path(api, options)
    wanted = {"from": retry_point(options.from_), "version": options.version}
    seen = api.call("GET", path)["logs"] if options.tail else []
    answer = api.call("POST", f"{path}/retry", wanted)
    if options.tail:
        return tail.follow(api, path, options.timeout, as_json=options.json, seen=seen)
    if options.json:
        print_json(answer)
    else:
        print(f"run {answer['runId']} is {answer['status']}")
    return 0


def tail_run(options: argparse.Namespace) -> int:
    """Follow one run until it has ended; 0 only when it SUCCEEDED."""
    api = api_from_environment()
    return tail.follow(api, run_path(api, options), options.timeout, as_json=options.json)


def run_path(api: Api, options: argparse.Namespace) -> str:
    """Return the path of the run that is named, or of its automation's newest one.

    Raises:
        CommandError: the automation is unknown, or has no run.

    """
    automation_id = automation_of(api, options.automation, options.workspace)
    run_id = options.run
    if run_id is None:
        newest = api.all(f"/automations/{automation_id}/runs", most=1)
        if not newest:
            raise CommandError(f"{options.automation} has no run yet", NOT_FOUND)
        run_id = newest[0]["id"]
    return f"/automations/{automation_id}/runs/{segment(run_id)}"


def retry_point(text: str) -> str | int:
    """Return where a retry begins, as the API takes it: a word, or an index counted from 0."""
    return int(text) if text.isdecimal() else text


def _found(api: Api, options: argparse.Namespace) -> list[Any]:
    query = run_filter(options) | {"rootRunId": options.root}
    if options.automation is None:
        return _of_workspace(api, options, query)
    automation_id = automation_of(api, options.automation, options.workspace)
    if any(value for name, value in query.items() if name != "status"):
        return _of_workspace(api, options, {**query, "automationId": automation_id})
    path = f"/automations/{automation_id}/runs"
    return api.all(path, {"status": options.status}, options.limit)


def _of_workspace(api: Api, options: argparse.Namespace, query: Mapping[str, Any]) -> list[Any]:
    workspace_id = workspace_of(api, options.workspace)
    return api.all(f"/workspaces/{segment(workspace_id)}/runs", query, options.limit)


def run_filter(options: argparse.Namespace) -> dict[str, Any]:
    """Return what the options narrow runs to, without their automation."""
    return {
        "status": options.status,
        "recordId": options.record,
        "from": options.from_,
        "to": options.to,
    }
