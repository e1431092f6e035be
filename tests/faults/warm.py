"""Functions that stay warm, as Lambda keeps them: one process serves invocation after invocation.

This process has loaded everything. For each line of its standard input it forks one that connects
to the Unix socket named on the command line, says its process id, and answers each plan with
`{"answer": …}` or `{"error": …}`, until it is killed or has been asked to end.
"""

import importlib
import json
import os
import signal
import socket
import sys
import traceback
from typing import Any, NoReturn

from tests.faults.child import Lambda, warm_up
from whenthen.actions import registry
from whenthen.actions.requests import StepRequest
from whenthen.domain.kinds import ActionType
from whenthen.engine import composition


def die(_request: StepRequest) -> NoReturn:
    """Kill the process that carries out this step, as a payload does that exhausts its memory."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable")


def answer(plan: dict[str, Any]) -> dict[str, Any]:
    """Return what the handler of the plan's function returns, or how it failed."""
    service = plan["function"]
    composition.process_context(service).database.clock_offset_s = plan["offset_s"]
    handler = importlib.import_module(f"{service.replace('-', '_')}.handler")
    try:
        return {"answer": handler.lambda_handler(plan["event"], Lambda(180))}
    except Exception:  # noqa: BLE001  # what a Lambda runtime reports as the invocation's error
        return {"error": traceback.format_exc()}


def serve(address: str) -> None:
    """Answer one plan after the other until there are none left."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    registry.register_test_executor(ActionType.AI_GENERATE, die)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        with connection.makefile("rw") as wire:
            wire.write(f"{os.getpid()}\n")
            wire.flush()
            for line in wire:
                wire.write(json.dumps(answer(json.loads(line))) + "\n")
                wire.flush()


def main(address: str) -> None:
    """Fork one process per line of standard input."""
    warm_up()
    # Nobody here waits for them.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for _ in sys.stdin:
        if not os.fork():
            serve(address)
            os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
