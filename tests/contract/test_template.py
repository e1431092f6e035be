"""What template.yaml promises: checked on the template that CloudFormation would get."""

import ast
import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from samtranslator.yaml_helper import yaml_parse

from devstack.stack_template import split_template
from whenthen import settings as settings_module
from whenthen.domain import limits

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "template.yaml"

# Powertools reads its own; WHENTHEN_BUILD only makes a layer change visible to CloudFormation.
NOT_SETTINGS = frozenset({"POWERTOOLS_SERVICE_NAME", "WHENTHEN_BUILD"})
# Actions that AWS lets nobody narrow to a resource.
STAR_ACTIONS = frozenset(
    {
        "ec2:CreateNetworkInterface",
        "ec2:DeleteNetworkInterface",
        "ec2:DescribeNetworkInterfaces",
        "xray:PutTelemetryRecords",
        "xray:PutTraceSegments",
    }
)
DATABASE = {"DatabaseHost": "h", "DatabaseSecretArn": "arn:aws:secretsmanager:x"}

Json = dict[str, Any]


@pytest.fixture(scope="module")
def source() -> Json:
    parsed: Json = yaml_parse(TEMPLATE.read_text("utf-8"))
    return parsed


@pytest.fixture(scope="module")
def resources() -> Json:
    """Every resource of the transformed template, as shipped."""
    split = split_template(TEMPLATE, DATABASE, {}, {})
    return {**split.moto["Resources"], **split.played}


def of_type(resources: Json, kind: str) -> dict[str, Json]:
    return {
        name: resource["Properties"]
        for name, resource in resources.items()
        if resource["Type"] == kind
    }


def functions(resources: Json) -> dict[str, Json]:
    return of_type(resources, "AWS::Lambda::Function")


def mappings(resources: Json) -> list[Json]:
    return list(of_type(resources, "AWS::Lambda::EventSourceMapping").values())


def source_of(mapping: Json) -> str:
    return str(mapping["EventSourceArn"]["Fn::GetAtt"][0])


def statements(role: Json) -> Iterator[Json]:
    for policy in role["Policies"]:
        for statement in policy["PolicyDocument"]["Statement"]:
            yield statement["Fn::If"][1] if "Fn::If" in statement else statement


def actions_of(statement: Json) -> list[str]:
    actions = statement["Action"]
    return actions if isinstance(actions, list) else [actions]


def test_a_message_stays_invisible_six_times_as_long_as_its_function_may_run(
    resources: Json,
) -> None:
    queues = of_type(resources, "AWS::SQS::Queue")
    fed = [m for m in mappings(resources) if source_of(m) in queues]
    assert fed
    for mapping in fed:
        timeout_s = functions(resources)[mapping["FunctionName"]["Ref"]]["Timeout"]
        assert queues[source_of(mapping)]["VisibilityTimeout"] >= 6 * timeout_s


def test_every_queue_that_feeds_a_function_gives_up_into_another_queue(resources: Json) -> None:
    queues = of_type(resources, "AWS::SQS::Queue")
    for mapping in mappings(resources):
        if source_of(mapping) in queues:
            policy = queues[source_of(mapping)]["RedrivePolicy"]
            target = queues[policy["deadLetterTargetArn"]["Fn::GetAtt"][0]]
            assert policy["maxReceiveCount"] == 20
            assert target["MessageRetentionPeriod"] == 14 * 24 * 3600
            # A message keeps its age when it moves.
            kept_s = queues[source_of(mapping)]["MessageRetentionPeriod"]
            assert kept_s == 4 * 24 * 3600 < target["MessageRetentionPeriod"]


def test_every_mapping_reports_partial_failures(resources: Json) -> None:
    for mapping in mappings(resources):
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_the_executor_is_bounded_and_may_feed_its_own_queue(resources: Json) -> None:
    (mapping,) = (m for m in mappings(resources) if source_of(m) == "RunQueue")
    assert mapping["ScalingConfig"] == {"MaximumConcurrency": {"Ref": "ExecutorMaximumConcurrency"}}
    assert mapping["BatchSize"] == {"Ref": "AutomationsWorkerConcurrency"}
    assert functions(resources)["RunExecutorFunction"]["RecursiveLoop"] == "Allow"


def test_the_stream_is_read_from_its_beginning_and_as_long_as_it_keeps_a_record(
    resources: Json, source: Json
) -> None:
    (mapping,) = (m for m in mappings(resources) if source_of(m) == "EventStream")
    assert mapping["StartingPosition"] == "TRIM_HORIZON"
    assert mapping["BatchSize"] == 100
    assert mapping["BisectBatchOnFunctionError"] is True
    assert "MaximumRetryAttempts" not in mapping
    bucket = mapping["DestinationConfig"]["OnFailure"]["Destination"]["Fn::GetAtt"][0]
    assert bucket in of_type(resources, "AWS::S3::Bucket")
    assert mapping["MaximumRecordAgeInSeconds"] == {
        "Fn::FindInMap": ["RetentionSeconds", "Hours", {"Ref": "StreamRetentionHours"}]
    }
    hours = source["Mappings"]["RetentionSeconds"]["Hours"]
    assert hours == {str(hour): int(hour) * 3600 for hour in hours}
    assert list(hours) == source["Parameters"]["StreamRetentionHours"]["AllowedValues"]


def test_every_function_logs_to_a_group_that_forgets(resources: Json) -> None:
    groups = of_type(resources, "AWS::Logs::LogGroup")
    for function in functions(resources).values():
        group = groups[function["LoggingConfig"]["LogGroup"]["Ref"]]
        assert group["RetentionInDays"] == {"Ref": "LogRetentionDays"}


def test_every_function_has_a_role_of_its_own(resources: Json) -> None:
    roles = [function["Role"]["Fn::GetAtt"][0] for function in functions(resources).values()]
    assert len(set(roles)) == len(roles)
    assert set(roles) == set(of_type(resources, "AWS::IAM::Role"))


def test_roles_name_their_resources_except_where_aws_knows_none(resources: Json) -> None:
    for role in of_type(resources, "AWS::IAM::Role").values():
        assert "ManagedPolicyArns" not in role
        for statement in statements(role):
            assert not any("*" in action for action in actions_of(statement))
            if statement["Resource"] == "*":
                assert set(actions_of(statement)) <= STAR_ACTIONS
            else:
                assert json.dumps(statement["Resource"]).count("*") <= 1


@pytest.mark.parametrize(
    ("role", "actions"),
    [
        ("HttpApiRole", {"kinesis:PutRecords", "sqs:SendMessage"}),
        (
            "StreamMatcherRole",
            {
                "kinesis:DescribeStream",
                "kinesis:DescribeStreamSummary",
                "kinesis:GetRecords",
                "kinesis:GetShardIterator",
                "kinesis:ListShards",
                "s3:ListBucket",
                "s3:PutObject",
                "sqs:SendMessage",
            },
        ),
        (
            "RunExecutorRole",
            {
                "kinesis:PutRecords",
                "sqs:DeleteMessage",
                "sqs:GetQueueAttributes",
                "sqs:ReceiveMessage",
                "sqs:SendMessage",
            },
        ),
    ],
)
def test_a_role_allows_what_its_function_does_and_no_more(
    resources: Json, role: str, actions: set[str]
) -> None:
    common = {"logs:CreateLogStream", "logs:PutLogEvents", "secretsmanager:GetSecretValue"}
    allowed = {
        action
        for statement in statements(of_type(resources, "AWS::IAM::Role")[role])
        for action in actions_of(statement)
    }
    assert allowed - STAR_ACTIONS - common == actions
    assert common | STAR_ACTIONS <= allowed


def test_every_handler_can_be_imported(resources: Json) -> None:
    for function in functions(resources).values():
        module, _, name = function["Handler"].rpartition(".")
        assert callable(getattr(importlib.import_module(module), name))


def test_every_variable_is_a_setting(resources: Json) -> None:
    known = setting_names()
    for function in functions(resources).values():
        assert set(function["Environment"]["Variables"]) - NOT_SETTINGS <= known


def setting_names() -> set[str]:
    """Every name in capitals that settings.py mentions as a string."""
    tree = ast.parse(Path(settings_module.__file__).read_text("utf-8"))
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {text for text in texts if isinstance(text, str) and re.fullmatch("[A-Z_]+", text)}


def test_defaults_are_those_of_the_engine(source: Json) -> None:
    defaults = {name: p.get("Default") for name, p in source["Parameters"].items()}
    assert defaults["AutoRunMaxRetries"] == limits.MAX_RETRIES_DEFAULT
    assert defaults["AutomationMaxDepth"] == limits.MAX_DEPTH_DEFAULT
    assert defaults["AutomationsWorkerConcurrency"] == limits.WORKER_CONCURRENCY_DEFAULT


def test_a_function_may_run_longer_than_the_longest_action(resources: Json) -> None:
    timeout_s = functions(resources)["RunExecutorFunction"]["Timeout"]
    assert timeout_s == 180 > limits.ACTION_TIMEOUT_MAX_MS / 1000


def test_the_access_log_holds_the_route_and_never_the_path(source: Json) -> None:
    log_format = source["Resources"]["HttpApi"]["Properties"]["AccessLogSettings"]["Format"]
    assert "$context.routeKey" in log_format
    assert "$context.path" not in log_format
    assert json.loads(log_format)["status"] == "$context.status"


def test_a_change_of_the_layer_changes_every_functions_environment(resources: Json) -> None:
    (layer,) = of_type(resources, "AWS::Lambda::LayerVersion")
    for function in functions(resources).values():
        assert function["Environment"]["Variables"]["WHENTHEN_BUILD"] == {"Ref": layer}
        assert function["Layers"] == [{"Ref": layer}]


def test_the_template_uses_no_yaml_aliases() -> None:
    # CloudFormation does not read them (AWS, "CloudFormation template formats").
    assert not re.search(r"(^|[\s\[{,])[&*][A-Za-z]", TEMPLATE.read_text("utf-8"))


def test_the_layers_lock_has_the_versions_that_were_tested() -> None:
    tested = pins(ROOT / "requirements.lock")
    shipped = pins(ROOT / "layers" / "whenthen" / "requirements.lock")
    assert shipped.items() <= tested.items()
    assert not {"boto3", "botocore", "s3transfer", "urllib3"} & shipped.keys()


def pins(path: Path) -> dict[str, str]:
    text = path.read_text("utf-8")
    assert "://" not in text
    assert "--hash=sha256:" in text
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text, re.MULTILINE))


@pytest.mark.parametrize(
    ("name", "event_source"),
    [
        ("http_create_automation.json", None),
        ("stream_record_created.json", "aws:kinesis"),
        ("queue_run.json", "aws:sqs"),
    ],
)
def test_every_function_has_a_golden_event(name: str, event_source: str | None) -> None:
    event = json.loads((ROOT / "events" / name).read_text("utf-8"))
    if event_source is None:
        assert event["version"] == "2.0"
    else:
        assert [record["eventSource"] for record in event["Records"]] == [event_source]


def test_the_local_invocation_environment_names_only_what_the_template_declares(
    resources: Json,
) -> None:
    environment = json.loads((ROOT / "events" / "env.json").read_text("utf-8"))
    declared = functions(resources)
    assert set(environment) == set(declared)
    for name, variables in environment.items():
        assert set(variables) <= set(declared[name]["Environment"]["Variables"])


def test_sams_own_validation_and_linter_have_nothing_to_say() -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "samcli", "validate", "--lint", "--region", "eu-west-1"],
        cwd=ROOT,
        env={**os.environ, "SAM_CLI_TELEMETRY": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (checked.returncode, "is a valid SAM Template" in checked.stdout) == (0, True), (
        checked.stdout + checked.stderr
    )
