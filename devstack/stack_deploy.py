"""Creates the stack in moto and reads from it what has to run: functions, mappings, routes."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from moto.cloudformation.models import cloudformation_backends
from moto.cloudformation.parsing import clean_json

from devstack.emulated_aws import ACCOUNT_ID
from devstack.errors import StackError
from devstack.stack_template import REGION, Json, SplitTemplate

STACK_NAME = "whenthen"
DEFAULT_TIMEOUT_S = 3
DEFAULT_MEMORY_MB = 128
PARTIAL = "ReportBatchItemFailures"

_COMMON_KEYS = frozenset(
    {
        "BatchSize",
        "Enabled",
        "EventSourceArn",
        "FunctionName",
        "FunctionResponseTypes",
        "MaximumBatchingWindowInSeconds",
    }
)
_SQS_KEYS = _COMMON_KEYS | {"ScalingConfig"}
_KINESIS_KEYS = _COMMON_KEYS | {
    "BisectBatchOnFunctionError",
    "DestinationConfig",
    "MaximumRecordAgeInSeconds",
    "MaximumRetryAttempts",
    "StartingPosition",
}
_RULE_KEYS = frozenset({"Description", "Name", "ScheduleExpression", "State", "Targets"})
_TARGET_KEYS = frozenset({"Arn", "Id", "Input", "RetryPolicy"})
_INVOKE_KEYS = frozenset(
    {"FunctionName", "MaximumEventAgeInSeconds", "MaximumRetryAttempts", "Qualifier"}
)
_RATE = re.compile(r"rate\((\d+) (minute|hour|day)s?\)")
_UNIT_S = {"minute": 60, "hour": 3_600, "day": 86_400}


@dataclass(frozen=True, slots=True)
class FunctionSpec:
    """One function as the template describes it, every reference resolved."""

    logical_id: str
    name: str
    handler: str
    timeout_s: int
    memory_mb: int
    role_arn: str
    environment: Mapping[str, str]

    @property
    def arn(self) -> str:
        return f"arn:aws:lambda:{REGION}:{ACCOUNT_ID}:function:{self.name}"

    @property
    def role_name(self) -> str:
        return self.role_arn.split("/")[-1]


@dataclass(frozen=True, slots=True)
class QueueMapping:
    """An SQS queue that feeds a function."""

    function: str
    queue_arn: str
    batch_size: int
    window_s: float
    partial: bool
    max_concurrency: int | None


@dataclass(frozen=True, slots=True)
class StreamMapping:
    """A Kinesis stream that feeds a function; -1 means without limit, as in AWS."""

    function: str
    stream_arn: str
    batch_size: int
    window_s: float
    partial: bool
    bisect: bool
    max_age_s: int
    max_retries: int
    failure_bucket_arn: str | None


@dataclass(frozen=True, slots=True)
class RateRule:
    """An EventBridge rule that invokes a function every `every_s` seconds, trying nothing again.

    `event` is what the function gets; None for EventBridge's own scheduled event.
    """

    name: str
    function: str
    every_s: int
    event: Any


@dataclass(frozen=True, slots=True)
class Stack:
    """What the template asked for: functions by logical id, and what feeds them."""

    functions: Mapping[str, FunctionSpec]
    queue_mappings: tuple[QueueMapping, ...]
    stream_mappings: tuple[StreamMapping, ...]
    rate_rules: tuple[RateRule, ...]
    http_function: str | None


def deploy(template: SplitTemplate, name: str = STACK_NAME) -> Stack:
    """Create the stack and return what has to run.

    Raises:
        StackError: moto could not create it, or a mapping asks for what no poller does.

    """
    created = cloudformation_backends[ACCOUNT_ID][REGION].create_stack(
        name, json.dumps(template.moto), dict(template.parameters)
    )
    if created.status != "CREATE_COMPLETE":
        raise StackError(f"the stack ended as {created.status}")
    _write_policies(template, created.resource_map)
    return _read_stack(template, created.resource_map)


def _write_policies(template: SplitTemplate, resources: Any) -> None:
    # moto keeps a template's inline policies as Python objects, which its own IAM cannot read, and
    # with holes where a statement's condition is false.
    for logical_id, resource in template.moto["Resources"].items():
        if resource["Type"] == "AWS::IAM::Role":
            for policy in clean_json(resource["Properties"].get("Policies", []), resources):
                document = policy["PolicyDocument"]
                document["Statement"] = [part for part in document["Statement"] if part]
                resources[logical_id].policies[policy["PolicyName"]] = json.dumps(document)


def _read_stack(template: SplitTemplate, resources: Any) -> Stack:
    functions = {
        logical_id: _function(logical_id, clean_json(resource["Properties"], resources), resources)
        for logical_id, resource in template.moto["Resources"].items()
        if resource["Type"] == "AWS::Lambda::Function"
    }
    by_name = {spec.name: logical_id for logical_id, spec in functions.items()}
    queues: list[QueueMapping] = []
    streams: list[StreamMapping] = []
    for logical_id, properties in _played(template, resources, "AWS::Lambda::EventSourceMapping"):
        function = by_name[str(properties["FunctionName"])]
        if ":sqs:" in properties["EventSourceArn"]:
            queues.append(_queue_mapping(logical_id, function, properties))
        else:
            streams.append(_stream_mapping(logical_id, function, properties))
    for logical_id, properties in _played(template, resources, "AWS::Lambda::EventInvokeConfig"):
        _refuse_unknown(logical_id, properties, _INVOKE_KEYS)
        _refuse_retries(logical_id, properties)
    by_arn = {spec.arn: logical_id for logical_id, spec in functions.items()}
    rules = [
        _rate_rule(logical_id, by_arn, properties)
        for logical_id, properties in _played(template, resources, "AWS::Events::Rule")
    ]
    http = [name for name in functions if _serves_http(name, template)]
    return Stack(functions, tuple(queues), tuple(streams), tuple(rules), http[0] if http else None)


def _played(template: SplitTemplate, resources: Any, kind: str) -> Iterator[tuple[str, Json]]:
    """Return the stack's own resources of a type, with every reference resolved."""
    for logical_id, resource in template.played.items():
        if resource["Type"] == kind:
            yield logical_id, clean_json(resource["Properties"], resources)


def _function(logical_id: str, properties: Json, resources: Any) -> FunctionSpec:
    variables = properties.get("Environment", {}).get("Variables", {})
    return FunctionSpec(
        logical_id=logical_id,
        name=str(resources[logical_id].physical_resource_id),
        handler=properties["Handler"],
        timeout_s=int(properties.get("Timeout", DEFAULT_TIMEOUT_S)),
        memory_mb=int(properties.get("MemorySize", DEFAULT_MEMORY_MB)),
        role_arn=properties["Role"],
        # moto has no physical id for a layer, but an ARN.
        environment={name: str(getattr(value, "arn", value)) for name, value in variables.items()},
    )


def _queue_mapping(logical_id: str, function: str, properties: Json) -> QueueMapping:
    _refuse_unknown(logical_id, properties, _SQS_KEYS)
    limit = properties.get("ScalingConfig", {}).get("MaximumConcurrency")
    return QueueMapping(
        function=function,
        queue_arn=properties["EventSourceArn"],
        batch_size=int(properties.get("BatchSize", 10)),
        window_s=float(properties.get("MaximumBatchingWindowInSeconds", 0)),
        partial=PARTIAL in properties.get("FunctionResponseTypes", []),
        max_concurrency=int(limit) if limit is not None else None,
    )


def _stream_mapping(logical_id: str, function: str, properties: Json) -> StreamMapping:
    _refuse_unknown(logical_id, properties, _KINESIS_KEYS)
    if properties.get("StartingPosition") != "TRIM_HORIZON":
        raise StackError(f"{logical_id}: the local stack reads streams from TRIM_HORIZON only")
    failure = properties.get("DestinationConfig", {}).get("OnFailure", {}).get("Destination")
    if failure is not None and not failure.startswith("arn:aws:s3:::"):
        raise StackError(f"{logical_id}: the local stack keeps failed batches in S3 only")
    return StreamMapping(
        function=function,
        stream_arn=properties["EventSourceArn"],
        batch_size=int(properties.get("BatchSize", 100)),
        window_s=float(properties.get("MaximumBatchingWindowInSeconds", 0)),
        partial=PARTIAL in properties.get("FunctionResponseTypes", []),
        bisect=bool(properties.get("BisectBatchOnFunctionError", False)),
        max_age_s=int(properties.get("MaximumRecordAgeInSeconds", -1)),
        max_retries=int(properties.get("MaximumRetryAttempts", -1)),
        failure_bucket_arn=failure,
    )


def _rate_rule(logical_id: str, by_arn: Mapping[str, str], properties: Json) -> RateRule:
    _refuse_unknown(logical_id, properties, _RULE_KEYS)
    rate = _RATE.fullmatch(str(properties.get("ScheduleExpression")))
    if rate is None or len(properties["Targets"]) != 1:
        raise StackError(f"{logical_id}: the local stack follows rates with one target only")
    (target,) = properties["Targets"]
    _refuse_unknown(logical_id, target, _TARGET_KEYS)
    _refuse_retries(logical_id, target.get("RetryPolicy", {}))
    return RateRule(
        name=logical_id,
        function=by_arn[str(target["Arn"])],
        every_s=int(rate[1]) * _UNIT_S[rate[2]],
        event=json.loads(target["Input"]) if "Input" in target else None,
    )


def _refuse_retries(logical_id: str, policy: Json) -> None:
    if int(policy.get("MaximumRetryAttempts", -1)) != 0:
        raise StackError(f"{logical_id}: the local stack tries no event again; say 0 retries")


def _refuse_unknown(logical_id: str, properties: Json, known: frozenset[str]) -> None:
    # The translator writes properties that are empty, and ask for nothing.
    unknown = sorted(name for name in set(properties) - known if properties[name] != {})
    if unknown:
        raise StackError(f"{logical_id}: the local stack does not follow {', '.join(unknown)}")


def _serves_http(logical_id: str, template: SplitTemplate) -> bool:
    bodies = [
        json.dumps(resource["Properties"].get("Body", {}))
        for resource in template.played.values()
        if resource["Type"] == "AWS::ApiGatewayV2::Api"
    ]
    # By the function's own ARN, or by that of an alias of it.
    named = (f"${{{logical_id}.Arn}}", f"${{{logical_id}Alias")
    return any(name in body for body in bodies for name in named)
