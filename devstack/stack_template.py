"""Turns the shipped SAM template into what moto's CloudFormation can create, and nothing else."""

import copy
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse

from devstack.errors import StackError
from devstack.stack_conditions import conditions_of
from devstack.stream_rules import ON_DEMAND_SHARDS

Json = dict[str, Any]

REGION = "eu-west-1"
CODE_BUCKET = "devstack-code"
CODE_KEY = "code.zip"

# What moto creates from the template, with its names, attributes and policies.
CREATED_BY_MOTO = frozenset(
    {
        "AWS::IAM::Role",
        "AWS::KMS::Key",
        "AWS::Kinesis::Stream",
        "AWS::Lambda::Function",
        "AWS::Lambda::LayerVersion",
        "AWS::Logs::LogGroup",
        "AWS::S3::Bucket",
        "AWS::SQS::Queue",
    }
)
# What the stack plays itself: moto would run mappings on its own and so eat the queue (measured),
# runs no rules, and its CloudFormation knows no HTTP APIs. Alarms ring nowhere on one machine, and
# an alias leads to the one version that there is.
PLAYED_BY_STACK = frozenset(
    {
        "AWS::ApiGatewayV2::Api",
        "AWS::ApiGatewayV2::Stage",
        "AWS::CloudWatch::Alarm",
        "AWS::CloudWatch::Dashboard",
        "AWS::Events::Rule",
        "AWS::Lambda::Alias",
        "AWS::Lambda::EventInvokeConfig",
        "AWS::Lambda::EventSourceMapping",
        "AWS::Lambda::Permission",
        "AWS::Lambda::Version",
    }
)


@dataclass(frozen=True, slots=True)
class SplitTemplate:
    """`moto`: the template that moto creates; `played`: logical id → resource, left to the stack.

    `parameters` holds every parameter's value as text.
    """

    moto: Json
    played: dict[str, Json]
    parameters: dict[str, str]


def split_template(
    path: Path,
    decided: Mapping[str, str],
    environ: Mapping[str, str],
    defaults: Mapping[str, str],
) -> SplitTemplate:
    """Return the template of `path`, transformed and divided; what no condition wants is left out.

    A parameter's value is what the stack has `decided`, else the one that `environ` has under its
    name in capitals (`AUTO_RUN_MAX_RETRIES` for `AutoRunMaxRetries`), else the stack's own of
    `defaults`, else the template's.

    Raises:
        StackError: a parameter has no value, or a resource's type is neither moto's nor ours.

    """
    source = yaml_parse(path.read_text("utf-8"))
    parameters = {
        name: _parameter_value(name, parameter, (decided, _by_parameter(environ), defaults))
        for name, parameter in source.get("Parameters", {}).items()
    }
    # The translator asks boto3 for the region, which looks here.
    os.environ["AWS_DEFAULT_REGION"] = REGION
    translated = transform(_with_code_in_s3(source), dict(parameters), _NoManagedPolicies())
    moto_template = copy.deepcopy(translated)
    # Outputs name parts that moto does not create; the stack asks for physical ids instead.
    moto_template.pop("Outputs", None)
    holds = conditions_of(translated, parameters)
    played = {}
    for logical_id, resource in translated["Resources"].items():
        kind = resource["Type"]
        if "Condition" in resource and not holds(resource["Condition"]):
            del moto_template["Resources"][logical_id]
            continue
        if kind in PLAYED_BY_STACK or kind.startswith("Custom::"):
            played[logical_id] = moto_template["Resources"].pop(logical_id)
        elif kind not in CREATED_BY_MOTO:
            raise StackError(f"{logical_id}: the local stack does not know {kind}")
    for resource in moto_template["Resources"].values():
        _fill_in_for_moto(resource)
        # Such as the migration, which the stack plays.
        resource.pop("DependsOn", None)
    return SplitTemplate(moto_template, played, parameters)


class _NoManagedPolicies:
    """Handed to the translator; the template's roles are explicit, so it never asks."""

    def load(self) -> Json:
        return {}


def _parameter_value(name: str, declared: Json, sources: Sequence[Mapping[str, str]]) -> str:
    for source in sources:
        if name in source:
            return source[name]
    if "Default" not in declared:
        raise StackError(f"the template's parameter {name} has no value")
    return str(declared["Default"])


def _by_parameter(environ: Mapping[str, str]) -> dict[str, str]:
    """Return settings under the names of parameters: `AUTO_RUN` as `AutoRun`."""
    return {name.title().replace("_", ""): value for name, value in environ.items()}


def _with_code_in_s3(source: Json) -> Json:
    """Point code at a bucket, as `sam package` would: the translator takes no local folders."""
    uri = f"s3://{CODE_BUCKET}/{CODE_KEY}"
    template = copy.deepcopy(source)
    holders = [template.get("Globals", {}).get("Function", {})]
    holders += [resource.get("Properties", {}) for resource in template["Resources"].values()]
    for holder in holders:
        for key in ("CodeUri", "ContentUri"):
            if key in holder:
                holder[key] = uri
    return template


def _fill_in_for_moto(resource: Json) -> None:
    properties = resource.get("Properties", {})
    if resource["Type"] == "AWS::Kinesis::Stream":
        # moto's CloudFormation does not read the stream's mode.
        mode = properties.get("StreamModeDetails", {}).get("StreamMode")
        properties.setdefault("ShardCount", ON_DEMAND_SHARDS if mode == "ON_DEMAND" else 1)
    if resource["Type"] == "AWS::Lambda::Function":
        # moto would look the subnets up in its EC2.
        properties.pop("VpcConfig", None)
