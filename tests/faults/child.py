"""Runs real handlers in processes that may die: one fork per invocation, so that each is cheap.

Reads one plan per line from standard input; answers `{"pid": …}` when the process is started, and
`{"exit": …, "points": […], "error": …}` when it has ended.
"""

import importlib
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

import boto3.session

from tests.faults.outside import Outside
from tests.faults.points import Fault, Points, instrument
from whenthen.actions import registry
from whenthen.domain.kinds import ActionType
from whenthen.engine import composition

SERVICES = (
    "stream-matcher",
    "run-executor",
    "schedule-reconciler",
    "run-watchdog",
    "dlq-notifier",
)


class Lambda:
    """The context of an invocation that has `remaining_s` left."""

    def __init__(self, remaining_s: float) -> None:
        self._remaining_s = remaining_s

    def get_remaining_time_in_millis(self) -> int:
        return round(self._remaining_s * 1000)


def invoke(plan: dict[str, Any], report: Any) -> None:
    """Carry out `plan` in this process, its fault included."""
    os.environ.update(plan["environment"])
    fault = Fault(**plan["fault"]) if plan["fault"] else None
    points = Points(fault, lambda kind: report(f"point {kind}\n"))
    instrument(points)
    registry.register_test_executor(
        ActionType.SEND_WEBHOOK,
        Outside(Path(plan["hits"]), lambda hit: points.pass_through("call", hit)),
    )
    service = plan["function"]
    composition.process_context(service).database.clock_offset_s = plan["offset_s"]
    handler = importlib.import_module(f"{service.replace('-', '_')}.handler")
    handler.lambda_handler(plan["event"], Lambda(plan["remaining_s"]))


def start(plan: dict[str, Any]) -> tuple[int, int]:
    """Fork a process for `plan`; return its id and where its report is to be read."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    os.close(reading)
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    code = 0
    try:
        invoke(plan, lambda line: os.write(writing, line.encode()))
    except BaseException:  # noqa: BLE001  # what a Lambda runtime reports as the invocation's error
        os.write(writing, f"error {json.dumps(traceback.format_exc())}\n".encode())
        code = 1
    os._exit(code)


def serve() -> None:
    """Answer one plan after the other until there are none left."""
    for line in sys.stdin:
        pid, reading = start(json.loads(line))
        sys.stdout.write(json.dumps({"pid": pid}) + "\n")
        sys.stdout.flush()
        with os.fdopen(reading) as told:
            report = [entry.rstrip("\n").split(" ", 1) for entry in told]
        _, status = os.waitpid(pid, 0)
        answer = {
            "exit": os.waitstatus_to_exitcode(status),
            "points": [text for word, text in report if word == "point"],
            "error": "".join(json.loads(text) for word, text in report if word == "error"),
        }
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def warm_up() -> None:
    """Load what every invocation needs once, before the first fork."""
    for service in SERVICES:
        importlib.import_module(f"{service.replace('-', '_')}.handler")
    for action in registry._MODULES.values():
        importlib.import_module(action)
    session = boto3.session.Session()
    for name in ("sqs", "kinesis"):
        session.client(name)
    # Its loaders hold the services' models, which take longer to read than a whole invocation.
    boto3.session.Session = lambda: session  # type: ignore[misc,assignment]


if __name__ == "__main__":
    warm_up()
    serve()
