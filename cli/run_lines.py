"""How a run, its steps and its log look on a console."""

from collections.abc import Mapping
from typing import Any, Final

from cli import json_text
from cli.terminal import printable

TERMINAL: Final = frozenset({"SUCCEEDED", "FAILED", "DEAD_LETTER"})
_MARKS: Final = {
    "SUCCEEDED": "✓",
    "FAILED": "✗",
    "DEAD_LETTER": "✗",
    "STARTED": "…",
    "WAITING": "…",
}


def run_lines(run: Mapping[str, Any]) -> list[str]:
    """Return a run as lines for people: its head, its steps, its log, how it ended."""
    return [
        printable(f"run {run['id']}  {run['triggerType']}  version {run['version']}"),
        *(step_line(step) for step in run["steps"]),
        *(log_line(line) for line in run["logs"]),
        end_line(run),
    ]


def end_line(run: Mapping[str, Any]) -> str:
    """Return how a run has ended, or where it stands: `SUCCEEDED  {…}`."""
    return printable(f"{run['status']}  {json_text.dumps(run['error'] or run['output'])}")


def step_line(step: Mapping[str, Any]) -> str:
    """Return one step as a line: `  ✓ 1 UPDATE_RECORD {"recordId": …}`."""
    mark = _MARKS.get(step["status"], "?")
    told = json_text.dumps(step["error"] or step["output"])
    head = f"  {mark} {step['index'] + 1} {step['type']}  attempts {step['attempts']}"
    return printable(f"{head}  {told}")


def log_line(line: Mapping[str, Any]) -> str:
    """Return one log line as people read it."""
    data = json_text.dumps(line["data"]) if line["data"] else ""
    head = f"    {line['createdAt'][11:23]} {line['level']:<5} {line['message']}"
    return printable(f"{head}  {data}".rstrip())
