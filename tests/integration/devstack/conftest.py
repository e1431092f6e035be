"""A small stack of its own: sample handlers behind a sample template."""

import base64
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from moto.kinesis.models import kinesis_backends
from moto.moto_api._internal.models import moto_api_backend
from moto.sqs.models import sqs_backends

from devstack.emulated_aws import ACCOUNT_ID, EmulatedAws, allow_everything, enforce_iam, start_aws
from devstack.sandbox import Invocation
from devstack.stack import Listeners, RunningStack, RunPlan
from devstack.stack_deploy import Stack, deploy
from devstack.stack_template import split_template

FIXTURES = Path(__file__).parent / "fixtures"
SAMPLE_TEMPLATE = FIXTURES / "template.yaml"
HANDLERS = FIXTURES / "handlers"
PATIENCE_S = 60
Found = TypeVar("Found")


def eventually(look: Callable[[], Found], what: str) -> Found:
    """Return the first truthy answer of `look`; fail when there is none in time."""
    deadline = time.monotonic() + PATIENCE_S
    pause = threading.Event()
    while time.monotonic() < deadline:
        if found := look():
            return found
        pause.wait(0.02)
    raise AssertionError(f"not within {PATIENCE_S} s: {what}")


def send(arn: str, body: str, group: str) -> None:
    """Send one message to a queue, past IAM."""
    region, name = arn.split(":")[3], arn.split(":")[5]
    sqs_backends[ACCOUNT_ID][region].send_message(name, body, group_id=group)


def put(arn: str, partition_key: str, data: bytes) -> None:
    """Put one record on a stream, past IAM."""
    region = arn.split(":")[3]
    stream = kinesis_backends[ACCOUNT_ID][region].describe_stream(stream_arn=arn, stream_name=None)
    stream.put_record(partition_key, "", base64.b64encode(data).decode())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # moto's state is the process's: these modules must not run beside each other in one worker.
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group(f"devstack-{item.path.stem}"))


@pytest.fixture(scope="module")
def aws() -> Iterator[EmulatedAws]:
    """An emulated account in which nothing is, IAM not deciding yet."""
    moto_api_backend.reset()
    server = start_aws()
    yield server
    allow_everything()
    server.stop()
    moto_api_backend.reset()


@dataclass
class Witness:
    """What a running stack told: its invocations, its functions' lines, their failures."""

    invocations: list[tuple[str, Any, Invocation]] = field(default_factory=list)
    lines: list[tuple[str, str]] = field(default_factory=list)
    failures: list[tuple[str, str]] = field(default_factory=list)

    def listeners(self) -> Listeners:
        return Listeners(
            on_line=lambda *line: self.lines.append(line),
            on_invocation=lambda *invocation: self.invocations.append(invocation),
            on_failure=lambda *failure: self.failures.append(failure),
        )

    def receive_counts(self, body: str) -> list[int]:
        """How often a message with this body had been received, at each delivery."""
        return [
            int(record["attributes"]["ApproximateReceiveCount"])
            for _, event, _ in list(self.invocations)
            for record in event.get("Records", [])
            if record.get("body") == body
        ]


@dataclass(frozen=True)
class SampleStack:
    aws: EmulatedAws
    stack: Stack
    running: RunningStack
    witness: Witness


@pytest.fixture(scope="module")
def sample(aws: EmulatedAws) -> Iterator[SampleStack]:
    """The sample template, running."""
    stack = deploy(split_template(SAMPLE_TEMPLATE, {}, {"GREETING": "from outside"}, {}))
    witness = Witness()
    plan = RunPlan(
        code=(HANDLERS, HANDLERS), processes={"QueueFunction": 2}, overrides={"GREETING": "hi"}
    )
    running = RunningStack(aws, stack, plan, witness.listeners())
    enforce_iam()
    try:
        running.start_functions()
        running.start_sources()
        yield SampleStack(aws, stack, running, witness)
    finally:
        running.stop()
