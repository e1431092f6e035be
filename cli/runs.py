"""`whenthen runs list` and `runs show`, and how a run looks on a console."""

import argparse
import json
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from cli.api import api_from_environment

MARKS = {"SUCCEEDED": "✓", "FAILED": "✗", "DEAD_LETTER": "✗", "STARTED": "…", "WAITING": "…"}
COLUMNS = ("id", "status", "triggerType", "createdAt", "retryCount")


def list_runs(options: argparse.Namespace) -> int:
    """Print the newest runs of an automation."""
    query = f"?{urlencode({'status': options.status})}" if options.status else ""
    path = f"/automations/{quote(options.automation_id, safe='')}/runs{query}"
    page = api_from_environment().call("GET", path)
    if options.json:
        print(json.dumps(page, indent=2, ensure_ascii=False))
    else:
        print_table(page["data"])
    return 0


def show_run(options: argparse.Namespace) -> int:
    """Print one run with its steps and log lines."""
    automation_id, run_id = quote(options.automation_id, safe=""), quote(options.run_id, safe="")
    run = api_from_environment().call("GET", f"/automations/{automation_id}/runs/{run_id}")
    if options.json:
        print(json.dumps(run, indent=2, ensure_ascii=False))
    else:
        print("\n".join(run_lines(run)))
    return 0


def print_table(rows: Iterable[Mapping[str, Any]]) -> None:
    """Print runs in columns as wide as their widest cell."""
    cells = [COLUMNS, *(tuple(str(row[name]) for name in COLUMNS) for row in rows)]
    widths = [max(len(line[n]) for line in cells) for n in range(len(COLUMNS))]
    for line in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)))


def run_lines(run: Mapping[str, Any]) -> list[str]:
    """Return a run as lines for people: its head, its steps, its log, how it ended."""
    return [
        f"run {run['id']}  {run['triggerType']}  version {run['version']}",
        *(step_line(step) for step in run["steps"]),
        *(log_line(line) for line in run["logs"]),
        f"{run['status']}  {json.dumps(run['error'] or run['output'], ensure_ascii=False)}",
    ]


def step_line(step: Mapping[str, Any]) -> str:
    """Return one step as a line: `  ✓ 1 UPDATE_RECORD {"recordId": …}`."""
    mark = MARKS.get(step["status"], "?")
    told = json.dumps(step["error"] or step["output"], ensure_ascii=False)
    return f"  {mark} {step['index'] + 1} {step['type']}  attempts {step['attempts']}  {told}"


def log_line(line: Mapping[str, Any]) -> str:
    """Return one log line as people read it."""
    data = json.dumps(line["data"], ensure_ascii=False) if line["data"] else ""
    return f"    {line['createdAt'][11:23]} {line['level']:<5} {line['message']}  {data}".rstrip()
