"""Functions run in processes of their own: their environment, their role, their end."""

import json
import os
import signal
import subprocess
import sys
from typing import Any

from devstack.function_pool import FunctionPool
from devstack.sandbox import ROOT, Sandbox
from tests.integration.devstack.conftest import HANDLERS, SampleStack, eventually

ENVIRONMENT = {
    "AWS_LAMBDA_FUNCTION_NAME": "f",
    "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
    "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "128",
    "AWS_LAMBDA_LOG_GROUP_NAME": "g",
    "AWS_LAMBDA_LOG_STREAM_NAME": "s",
    "DEVSTACK_FUNCTION_ARN": "arn:aws:lambda:eu-west-1:123456789012:function:f",
    "LAMBDA_TASK_ROOT": str(HANDLERS),
    "PYTHONPATH": str(HANDLERS),
}


def ask(sample: SampleStack, event: Any = None) -> dict[str, Any]:
    invocation = sample.running.invoke("HttpFunction", event)
    answer: dict[str, Any] = json.loads(invocation.result["body"])
    return answer


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_function_sees_the_templates_environment_and_nothing_of_the_stacks(
    sample: SampleStack,
) -> None:
    os.environ["OF_THE_STACK"] = "private"
    seen = ask(sample)["environment"]
    del os.environ["OF_THE_STACK"]
    assert "OF_THE_STACK" not in seen
    assert "HOME" not in seen
    # The developer's own setting wins over the template's variable of that name.
    assert seen["GREETING"] == "hi"
    assert seen["AWS_ENDPOINT_URL"] == sample.aws.endpoint
    assert seen["AWS_LAMBDA_FUNCTION_NAME"] == sample.stack.functions["HttpFunction"].name
    assert seen["AWS_SESSION_TOKEN"]


def test_a_function_has_a_clock_that_runs_down_and_a_request_id_each_time(
    sample: SampleStack,
) -> None:
    first, second = ask(sample), ask(sample)
    assert 0 < first["remainingMs"] <= 5_000
    assert first["requestId"] != second["requestId"]
    assert first["function"] == sample.stack.functions["HttpFunction"].name


def test_a_process_stays_warm(sample: SampleStack) -> None:
    first, second = ask(sample), ask(sample)
    assert (second["pid"], second["calls"]) == (first["pid"], first["calls"] + 1)


def test_an_event_arrives_as_it_was_sent(sample: SampleStack) -> None:
    event = {"text": "é \u2028 \ud800", "number": 12345678901234567890, "deep": [[{}]]}
    assert ask(sample, event)["event"] == event


def test_what_a_function_prints_is_heard(sample: SampleStack) -> None:
    ask(sample)
    eventually(lambda: ("HttpFunction", "a log line") in sample.witness.lines, "the line")


def test_a_killed_process_is_replaced_and_no_call_is_lost(sample: SampleStack) -> None:
    pid = ask(sample)["pid"]
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: not alive(pid), "the end of the process")
    replacement = ask(sample)
    assert (replacement["pid"] != pid, replacement["calls"]) == (True, 1)


def test_a_handler_that_cannot_be_imported_is_said_so_at_once() -> None:
    lines: list[str] = []
    pool = FunctionPool(
        "broken",
        1,
        lambda: Sandbox("nowhere.handler.f", ENVIRONMENT, 1, lines.append),
        lambda: None,
    )
    pool.start()
    try:
        assert pool.wait_until_ready(60) is False
    finally:
        pool.close()
    assert any("No module named 'nowhere'" in line for line in lines)


def test_processes_end_with_the_stack_however_it_ends() -> None:
    program = f"""
import json, threading
from devstack.sandbox import Sandbox
sandbox = Sandbox("http_sample.handler.lambda_handler", {ENVIRONMENT!r}, 30, lambda line: None)
sandbox.wait_until_ready()
print(sandbox.pid, flush=True)
threading.Event().wait()
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, cwd=ROOT
    ) as stack:
        assert stack.stdout is not None
        pid = int(stack.stdout.readline())
        assert alive(pid)
        stack.kill()
    eventually(lambda: not alive(pid), "the end of the worker")
