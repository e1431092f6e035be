"""The template is followed whole, or refused."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from devstack.emulated_aws import EmulatedAws
from devstack.errors import StackError
from devstack.stack_conditions import conditions_of
from devstack.stack_deploy import RateRule, Stack, deploy
from devstack.stack_template import split_template
from tests.integration.devstack.conftest import SAMPLE_TEMPLATE

pytestmark = pytest.mark.usefixtures("aws")


def with_resource(folder: Path, name: str, resource: dict[str, Any]) -> Path:
    """Return the path of the sample template with one resource more."""
    indented = yaml.safe_dump({name: resource}).replace("\n", "\n  ")
    path = folder / "template.yaml"
    path.write_text(f"{SAMPLE_TEMPLATE.read_text()}\n  {indented}\n")
    return path


@pytest.fixture(scope="module")
def stack(aws: EmulatedAws) -> Stack:
    assert aws
    return deploy(split_template(SAMPLE_TEMPLATE, {}, {}, {}))


def test_case_120_an_unknown_resource_type_is_an_error(tmp_path: Path) -> None:
    path = with_resource(tmp_path, "Table", {"Type": "AWS::DynamoDB::Table", "Properties": {}})
    with pytest.raises(StackError, match="Table: the local stack does not know AWS::DynamoDB"):
        split_template(path, {}, {}, {})


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"FilterCriteria": {"Filters": []}}, "does not follow FilterCriteria"),
        ({"StartingPosition": "LATEST"}, "TRIM_HORIZON only"),
    ],
)
def test_a_mapping_that_asks_for_more_than_the_pollers_do_is_an_error(
    tmp_path: Path, properties: dict[str, Any], message: str
) -> None:
    mapping = {
        "EventSourceArn": {"Fn::GetAtt": ["Stream", "Arn"]},
        "FunctionName": {"Ref": "StreamFunction"},
        "StartingPosition": "TRIM_HORIZON",
        **properties,
    }
    resource = {"Type": "AWS::Lambda::EventSourceMapping", "Properties": mapping}
    path = with_resource(tmp_path, "Another", resource)
    with pytest.raises(StackError, match=message):
        deploy(split_template(path, {}, {}, {}), name=f"refused-{len(message)}")


RULE: dict[str, Any] = {
    "ScheduleExpression": "rate(1 minute)",
    "Targets": [
        {
            "Arn": {"Fn::GetAtt": ["StreamFunction", "Arn"]},
            "Id": "1",
            "RetryPolicy": {"MaximumRetryAttempts": 0},
        }
    ],
}


@pytest.mark.parametrize(
    ("kind", "properties", "message"),
    [
        ("Events::Rule", {"ScheduleExpression": "cron(0 9 * * ? *)"}, "follows rates with one"),
        ("Events::Rule", {"EventPattern": {"source": ["x"]}}, "does not follow EventPattern"),
        ("Events::Rule", {"Targets": [{**RULE["Targets"][0], "RetryPolicy": {}}]}, "say 0 retries"),
        ("Lambda::EventInvokeConfig", {"MaximumRetryAttempts": 1}, "say 0 retries"),
        (
            "Lambda::EventInvokeConfig",
            {"DestinationConfig": {"OnFailure": {}}},
            "not follow DestinationConfig",
        ),
    ],
)
def test_a_rule_that_asks_for_more_than_the_ticker_does_is_an_error(
    tmp_path: Path, kind: str, properties: dict[str, Any], message: str
) -> None:
    function = {"FunctionName": {"Ref": "StreamFunction"}, "Qualifier": "$LATEST"}
    whole = {**(RULE if kind == "Events::Rule" else function), **properties}
    path = with_resource(tmp_path, "Another", {"Type": f"AWS::{kind}", "Properties": whole})
    with pytest.raises(StackError, match=message):
        deploy(split_template(path, {}, {}, {}), name=f"refused-{abs(hash(str(properties)))}")


@pytest.mark.parametrize(
    ("rate", "seconds"),
    [("1 minute", 60), ("5 minutes", 300), ("1 hour", 3_600), ("2 days", 172_800)],
)
def test_a_rate_is_read_in_seconds(tmp_path: Path, rate: str, seconds: int) -> None:
    rule = {**RULE, "ScheduleExpression": f"rate({rate})"}
    rule["Targets"] = [{**RULE["Targets"][0], "Input": '{"a": 1}'}]
    path = with_resource(tmp_path, "Another", {"Type": "AWS::Events::Rule", "Properties": rule})
    stack = deploy(split_template(path, {}, {}, {}), name=f"every-{seconds}")
    (found,) = (rule for rule in stack.rate_rules if rule.name == "Another")
    assert found == RateRule("Another", "StreamFunction", seconds, {"a": 1})


def test_a_custom_resource_is_left_out_of_moto(tmp_path: Path) -> None:
    resource = {"Type": "Custom::Thing", "Properties": {"ServiceToken": "x"}}
    split = split_template(with_resource(tmp_path, "Thing", resource), {}, {}, {})
    assert "Thing" in split.played
    assert "Thing" not in split.moto["Resources"]


@pytest.mark.parametrize(
    ("decided", "environ", "defaults", "value"),
    [
        ({}, {}, {}, "5"),
        ({}, {}, {"QueueBatchSize": "6"}, "6"),
        ({}, {"QUEUE_BATCH_SIZE": "7"}, {"QueueBatchSize": "6"}, "7"),
        ({"QueueBatchSize": "8"}, {"QUEUE_BATCH_SIZE": "7"}, {"QueueBatchSize": "6"}, "8"),
    ],
)
def test_a_parameter_is_decided_then_taken_from_the_environment_then_proposed(
    decided: dict[str, str], environ: dict[str, str], defaults: dict[str, str], value: str
) -> None:
    split = split_template(SAMPLE_TEMPLATE, decided, environ, defaults)
    assert split.parameters["QueueBatchSize"] == value


def test_a_parameter_without_a_value_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "template.yaml"
    path.write_text(SAMPLE_TEMPLATE.read_text().replace("    Default: hello\n", ""))
    with pytest.raises(StackError, match="parameter Greeting has no value"):
        split_template(path, {}, {}, {})


def test_functions_and_mappings_are_read_with_every_reference_resolved(stack: Stack) -> None:
    assert set(stack.functions) == {"HttpFunction", "QueueFunction", "StreamFunction"}
    assert stack.http_function == "HttpFunction"
    queue = stack.functions["QueueFunction"]
    assert (queue.handler, queue.timeout_s) == ("queue_sample.handler.lambda_handler", 1)
    assert queue.environment == {"GREETING": "hello"}
    (from_queue,), (from_stream,) = stack.queue_mappings, stack.stream_mappings
    assert from_queue.function == "QueueFunction"
    assert from_queue.queue_arn.startswith("arn:aws:sqs:eu-west-1:123456789012:")
    assert (from_queue.batch_size, from_queue.partial) == (5, True)
    assert (from_stream.batch_size, from_stream.bisect, from_stream.max_retries) == (10, True, 1)
    assert from_stream.max_age_s == -1
    (rule,) = stack.rate_rules
    assert (rule.function, rule.every_s, rule.event) == ("HttpFunction", 7_200, None)


CONDITIONS: dict[str, Any] = {
    "Named": {"Fn::Not": [{"Fn::Equals": [{"Ref": "Name"}, ""]}]},
    "Listed": {"Fn::Not": [{"Fn::Equals": [{"Fn::Join": ["", {"Ref": "List"}]}, ""]}]},
    "Both": {"Fn::And": [{"Condition": "Named"}, {"Condition": "Listed"}]},
    "One": {"Fn::Or": [{"Condition": "Named"}, {"Condition": "Listed"}]},
    "Zero": {"Fn::Equals": [{"Ref": "Name"}, 0]},
}


@pytest.mark.parametrize(
    ("name", "listed", "true"),
    [
        ("", "", set()),
        ("a", "", {"Named", "One"}),
        ("", "a,b", {"Listed", "One"}),
        ("a", "a,b", {"Named", "Listed", "Both", "One"}),
        ("0", "", {"Named", "One", "Zero"}),
    ],
)
def test_conditions_hold_as_in_cloudformation(name: str, listed: str, true: set[str]) -> None:
    holds = conditions_of({"Conditions": CONDITIONS}, {"Name": name, "List": listed})
    assert {condition for condition in CONDITIONS if holds(condition)} == true


@pytest.mark.parametrize(
    "condition",
    [{"Fn::Contains": [["a"], "a"]}, {"Fn::Equals": [{"Fn::Select": [0, ["a"]]}, "a"]}],
)
def test_a_condition_with_a_function_that_is_not_followed_is_an_error(
    condition: dict[str, Any],
) -> None:
    holds = conditions_of({"Conditions": {"Odd": condition}}, {})
    with pytest.raises(StackError, match="does not follow Fn::"):
        holds("Odd")


def test_a_resource_whose_condition_fails_is_left_out_whatever_its_type(tmp_path: Path) -> None:
    table = {"Type": "AWS::DynamoDB::Table", "Condition": "Never", "Properties": {}}
    path = with_resource(tmp_path, "Table", table)
    path.write_text(f"{path.read_text()}\nConditions:\n  Never: !Equals [a, b]\n")
    split = split_template(path, {}, {}, {})
    assert "Table" not in {**split.moto["Resources"], **split.played}
