"""The running stack: what the template asks for, started in order and stopped in reverse."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from devstack.emulated_aws import ACCOUNT_ID, EmulatedAws
from devstack.errors import StackError
from devstack.function_environment import function_environment
from devstack.function_pool import FunctionPool
from devstack.iam_rules import Need, missing_permissions
from devstack.kinesis_poller import Keep, KinesisPoller
from devstack.kinesis_poller import needs_of as stream_needs
from devstack.rate_ticker import RateTicker
from devstack.sandbox import Invocation, Sandbox, error_text
from devstack.sqs_poller import SqsPoller
from devstack.sqs_poller import needs_of as queue_needs
from devstack.stack_deploy import FunctionSpec, Stack, StreamMapping

START_TIMEOUT_S = 240
DRAIN_S = 5.0

LineSink = Callable[[str, str], None]
InvocationSink = Callable[[str, Any, Invocation], None]


Source = SqsPoller | KinesisPoller | RateTicker


def _ignore(*_: object) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Listeners:
    """Who hears what: output lines, invocations, processes that came or went, failures."""

    on_line: LineSink = _ignore
    on_invocation: InvocationSink = _ignore
    on_change: Callable[[], None] = _ignore
    on_failure: LineSink = _ignore


@dataclass(frozen=True, slots=True)
class RunPlan:
    """How the template's functions are run here.

    `code` is the functions' folder and the layer's; `processes` names how many processes a function
    gets, one when not named; `overrides` are settings of the developer's environment.
    """

    code: tuple[Path, Path]
    processes: Mapping[str, int] = field(default_factory=dict)
    overrides: Mapping[str, str] = field(default_factory=dict)


class RunningStack:
    """Processes and pollers of one deployed stack."""

    def __init__(self, aws: EmulatedAws, stack: Stack, plan: RunPlan, listeners: Listeners) -> None:
        _check_permissions(stack)
        self._aws = aws
        self._stack = stack
        self._plan = plan
        self._listeners = listeners
        self.pools = {name: self._pool(spec) for name, spec in stack.functions.items()}
        self._fed: list[Source] = []
        self.sources: list[Source] = [
            *(self._sqs_poller(mapping) for mapping in stack.queue_mappings),
            *(self._kinesis_poller(mapping) for mapping in stack.stream_mappings),
            *(
                RateTicker(ACCOUNT_ID, rule, partial(self.invoke, rule.function))
                for rule in stack.rate_rules
            ),
        ]

    def start_functions(self) -> None:
        """Start every process; nothing but `invoke` reaches one yet.

        Raises:
            StackError: a handler could not be imported.

        """
        for pool in self.pools.values():
            pool.start()
        for name, pool in self.pools.items():
            if not pool.wait_until_ready(START_TIMEOUT_S):
                raise StackError(f"{name} does not start; its output says why")

    def start_sources(self) -> None:
        """Start what feeds the functions: queues, streams, rates."""
        for source in self.sources:
            source.start()
            self._fed.append(source)

    def stop(self) -> None:
        """Let batches in work end for a moment, then kill every process."""
        with ExitStack() as steps:
            for pool in self.pools.values():
                steps.callback(pool.close)
            for source in self._fed:
                source.stop()
            for source in self._fed:
                source.join(DRAIN_S)

    def invoke(self, function: str, event: Any, wait_s: float | None = None) -> Invocation:
        """Return what a function made of `event`, its failure said aloud."""
        invocation = self.pools[function].invoke(event, wait_s)
        if invocation.error is not None:
            self._listeners.on_failure(function, error_text(invocation.error))
        self._listeners.on_invocation(function, event, invocation)
        return invocation

    def _pool(self, spec: FunctionSpec) -> FunctionPool:
        plan, listeners = self._plan, self._listeners
        environment = function_environment(self._aws, spec, plan.code, plan.overrides)

        def make() -> Sandbox:
            return Sandbox(
                spec.handler,
                environment,
                spec.timeout_s,
                lambda line: listeners.on_line(spec.logical_id, line),
            )

        size = plan.processes.get(spec.logical_id, 1)
        return FunctionPool(spec.logical_id, size, make, listeners.on_change)

    def _sqs_poller(self, mapping: Any) -> SqsPoller:
        size = self.pools[mapping.function].size
        return SqsPoller(ACCOUNT_ID, mapping, size, partial(self.invoke, mapping.function))

    def _kinesis_poller(self, mapping: StreamMapping) -> KinesisPoller:
        return KinesisPoller(
            ACCOUNT_ID,
            mapping,
            partial(self.invoke, mapping.function),
            self._failure_keeper(mapping),
        )

    def _failure_keeper(self, mapping: StreamMapping) -> Keep | None:
        if mapping.failure_bucket_arn is None:
            return None
        bucket = mapping.failure_bucket_arn.removeprefix("arn:aws:s3:::")
        role_arn = self._stack.functions[mapping.function].role_arn
        s3 = self._aws.client("s3", self._aws.role_credentials(role_arn, "failed-batches"))
        return lambda key, body: s3.put_object(Bucket=bucket, Key=key, Body=body)


def _check_permissions(stack: Stack) -> None:
    """Refuse mappings whose function's role may not read their source, as AWS does."""
    needs: list[tuple[str, list[Need]]] = [
        *((mapping.function, queue_needs(mapping)) for mapping in stack.queue_mappings),
        *((mapping.function, stream_needs(mapping)) for mapping in stack.stream_mappings),
    ]
    for function, wanted in needs:
        missing = missing_permissions(ACCOUNT_ID, stack.functions[function].role_name, wanted)
        if missing:
            told = ", ".join(f"{need.action} on {need.resource}" for need in missing)
            raise StackError(f"the role of {function} does not allow {told}")
