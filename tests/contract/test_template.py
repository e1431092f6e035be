"""What template.yaml promises: checked on the template that CloudFormation would get."""

import ast
import fnmatch
import importlib
import itertools
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
from tests.contract.template_forms import references
from whenthen import settings as settings_module
from whenthen.domain import limits

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "template.yaml"

# Powertools reads its own; WHENTHEN_BUILD only makes a layer change visible to CloudFormation.
NOT_SETTINGS = frozenset({"POWERTOOLS_SERVICE_NAME", "WHENTHEN_BUILD"})
# Actions that AWS lets nobody narrow to a resource.
STAR_ACTIONS = frozenset(
    {
        "ec2:AssignPrivateIpAddresses",
        "ec2:CreateNetworkInterface",
        "ec2:DeleteNetworkInterface",
        "ec2:DescribeNetworkInterfaces",
        "ec2:DescribeSubnets",
        "ec2:UnassignPrivateIpAddresses",
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


# Source queue → where it gives up, after how many receives, and how many days it keeps a message.
REDRIVES = {
    "RunQueue": ("DeadLetterQueue", 20, 4),
    "DeadLetterQueue": ("ParkingQueue", 5, 14),
    "NoticeQueue": ("ParkingQueue", 5, 4),
}


def test_every_queue_gives_up_into_another_but_the_one_that_people_read(resources: Json) -> None:
    queues = of_type(resources, "AWS::SQS::Queue")
    redrives = {}
    for name, queue in queues.items():
        if policy := queue.get("RedrivePolicy"):
            target = policy["deadLetterTargetArn"]["Fn::GetAtt"][0]
            days = queue["MessageRetentionPeriod"] / 86_400
            redrives[name] = (target, policy["maxReceiveCount"], days)
    assert redrives == REDRIVES
    assert set(queues) - set(redrives) == {"ParkingQueue"}
    assert {source_of(m) for m in mappings(resources) if source_of(m) in queues} == set(REDRIVES)


def test_where_a_queue_gives_up_a_message_is_kept_for_fourteen_days(resources: Json) -> None:
    # A message keeps its age when it moves.
    queues = of_type(resources, "AWS::SQS::Queue")
    for target, _, _ in REDRIVES.values():
        assert queues[target]["MessageRetentionPeriod"] == 14 * 24 * 3600


def test_case_062_no_queue_promises_an_order(resources: Json) -> None:
    queues = of_type(resources, "AWS::SQS::Queue")
    assert [name for name, queue in queues.items() if queue.get("FifoQueue")] == []


def test_every_queue_is_encrypted(resources: Json) -> None:
    for queue in of_type(resources, "AWS::SQS::Queue").values():
        assert queue["SqsManagedSseEnabled"] is True


def alarms(resources: Json) -> dict[str, Json]:
    return of_type(resources, "AWS::CloudWatch::Alarm")


def watched(resources: Json) -> set[tuple[str, str]]:
    """What the alarms watch, as (resource or service, metric)."""
    found = set()
    for metric in itertools.chain.from_iterable(map(metrics_of, alarms(resources).values())):
        (dimension,) = metric["Dimensions"]
        value = dimension["Value"]
        if isinstance(value, dict):
            value = value["Ref"] if "Ref" in value else value["Fn::GetAtt"][0]
        found.add((value, metric["MetricName"]))
    return found


def metrics_of(alarm: Json) -> list[Json]:
    """The metrics that an alarm watches: its own, or those that it adds up."""
    added = [
        part["MetricStat"]["Metric"] for part in alarm.get("Metrics", []) if "MetricStat" in part
    ]
    return added or [alarm]


def test_every_queue_and_every_function_has_its_alarms(resources: Json) -> None:
    seen = watched(resources)
    assert ("ParkingQueue", "ApproximateNumberOfMessagesVisible") in seen
    for queue in REDRIVES:
        assert (queue, "ApproximateAgeOfOldestMessage") in seen
    for function in functions(resources):
        assert {(function, "Errors"), (function, "Throttles")} <= seen
    for mapping in mappings(resources):
        if source_of(mapping) == "EventStream":
            assert (mapping["FunctionName"]["Ref"], "IteratorAge") in seen


def test_the_operators_page_says_of_every_alarm_what_to_do(resources: Json) -> None:
    page = (ROOT / "docs" / "operations.md").read_text("utf-8")
    documented = re.findall(r"`([\w*]+Alarm)`", page)
    for pattern in documented:
        assert fnmatch.filter(alarms(resources), pattern)
    for alarm in alarms(resources):
        assert any(fnmatch.fnmatch(alarm, pattern) for pattern in documented)


# Without a tick there is no data, and that is what they ring for.
TICK_ALARMS = {
    "RunWatchdogTicksAlarm": "RunWatchdogFunction",
    "ScheduleReconcilerTicksAlarm": "ScheduleReconcilerFunction",
}


def test_an_alarm_is_silent_without_data_and_rings_where_the_operator_says(
    resources: Json,
) -> None:
    for name, alarm in alarms(resources).items():
        no_data = "breaching" if name in TICK_ALARMS else "notBreaching"
        assert (name, alarm["TreatMissingData"]) == (name, no_data)
        assert alarm["AlarmDescription"]
        assert alarm["AlarmActions"] == {
            "Fn::If": ["HasAlarmTopic", [{"Ref": "AlarmTopicArn"}], {"Ref": "AWS::NoValue"}]
        }


def test_an_alarm_on_a_metric_of_ours_names_one_that_is_counted_with_those_dimensions(
    resources: Json,
) -> None:
    watching = [metrics_of(alarm) for alarm in alarms(resources).values()]
    ours = [a for a in itertools.chain(*watching) if a["Namespace"] == "whenthen"]
    assert {"automations.dead_letter", "schedules.missed"} <= {a["MetricName"] for a in ours}
    table = (ROOT / "docs" / "operations.md").read_text("utf-8")
    assert [a["MetricName"] for a in ours if f"| `{a['MetricName']}` |" not in table] == []
    for alarm in ours:
        (dimension,) = alarm["Dimensions"]
        folder = ROOT / "functions" / dimension["Value"].replace("-", "_")
        said = [path.read_text("utf-8") for path in folder.glob("*.py")]
        assert dimension["Name"] == "service"
        assert any(f'"{dimension["Value"]}"' in text for text in said)


# What is counted in the ordinary course of things. Everything else is a fault, and rings.
ORDINARY = {
    "automations.actions",
    "automations.matched",
    "automations.relayed",
    "automations.skipped",
    "schedules.deduped",
    "schedules.fired",
}


def test_every_metric_of_a_fault_has_an_alarm(resources: Json) -> None:
    page = (ROOT / "docs" / "operations.md").read_text("utf-8")
    counted = set(re.findall(r"^\| `((?:automations|schedules)\.\w+)` \|", page, re.MULTILINE))
    assert counted >= ORDINARY
    assert counted - ORDINARY == {
        metric for _, metric in watched(resources) if re.match(r"(automations|schedules)\.", metric)
    }


def test_a_metric_that_several_functions_count_is_added_up_over_all_of_them(
    resources: Json,
) -> None:
    for alarm in alarms(resources).values():
        if "Metrics" in alarm:
            total, *parts = alarm["Metrics"]
            assert [part["ReturnData"] for part in parts] == [False] * len(parts)
            assert total["Expression"] == " + ".join(f"FILL({part['Id']}, 0)" for part in parts)


TICKED = {"RunWatchdogFunction": 60, "ScheduleReconcilerFunction": 120}


def test_some_functions_tick_every_minute_and_a_tick_is_never_tried_again(resources: Json) -> None:
    once = {"MaximumRetryAttempts": 0, "MaximumEventAgeInSeconds": 60}
    ticked = set()
    for rule in of_type(resources, "AWS::Events::Rule").values():
        assert rule["ScheduleExpression"] == "rate(1 minute)"
        (target,) = rule["Targets"]
        ticked.add(target["Arn"]["Fn::GetAtt"][0])
        assert target["RetryPolicy"] == once
    invoking = of_type(resources, "AWS::Lambda::EventInvokeConfig").values()
    assert {one["FunctionName"]["Ref"] for one in invoking} == ticked == set(TICKED)
    assert all(once.items() <= one.items() for one in invoking)
    for function, timeout_s in TICKED.items():
        assert functions(resources)[function]["Timeout"] == timeout_s


def test_five_minutes_without_a_tick_ring(resources: Json) -> None:
    assert set(TICK_ALARMS.values()) == set(TICKED)
    for name, function in TICK_ALARMS.items():
        alarm = alarms(resources)[name]
        assert (alarm["Namespace"], alarm["MetricName"]) == ("AWS/Lambda", "Invocations")
        assert alarm["Dimensions"] == [{"Name": "FunctionName", "Value": {"Ref": function}}]
        assert (alarm["Statistic"], alarm["Threshold"]) == ("Sum", 1)
        assert alarm["ComparisonOperator"] == "LessThanThreshold"
        assert alarm["Period"] * alarm["EvaluationPeriods"] == 300


def test_one_run_that_kills_its_workers_rings_before_it_is_dead(resources: Json) -> None:
    alarm = alarms(resources)["CrashedRunsAlarm"]
    assert (alarm["Statistic"], alarm["ComparisonOperator"], alarm["Threshold"]) == (
        "Sum",
        "GreaterThanThreshold",
        0,
    )
    # Its lease outlives the function by 20 s, and the sweep comes within a minute.
    apart_s = functions(resources)["RunExecutorFunction"]["Timeout"] + 20 + 60
    # So every period has a crash of it, until the last one that it may have.
    assert apart_s <= alarm["Period"]
    assert alarm["DatapointsToAlarm"] <= alarm["EvaluationPeriods"]
    assert 1 < alarm["DatapointsToAlarm"] < limits.CRASHES_MAX


def test_the_key_and_the_bucket_are_kept_but_not_those_of_a_deployment_that_failed(
    resources: Json,
) -> None:
    kept = [r for r in resources.values() if r["Type"] in {"AWS::KMS::Key", "AWS::S3::Bucket"}]
    assert len(kept) == 2
    for resource in kept:
        policies = resource["DeletionPolicy"], resource["UpdateReplacePolicy"]
        assert policies == ("RetainExceptOnCreate", "Retain")


def test_the_key_of_secrets_is_turned(resources: Json) -> None:
    (key,) = of_type(resources, "AWS::KMS::Key").values()
    assert key["EnableKeyRotation"] is True


def test_only_the_executor_opens_secrets_and_with_one_key(resources: Json) -> None:
    roles = of_type(resources, "AWS::IAM::Role")
    opening = [
        (name, statement)
        for name, role in roles.items()
        for statement in statements(role)
        if "kms:Decrypt" in actions_of(statement)
    ]
    ((name, statement),) = opening
    assert (name, statement["Resource"]) == (
        "RunExecutorRole",
        {"Fn::GetAtt": ["SecretsKey", "Arn"]},
    )


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
        ("HttpApiRole", {"kinesis:PutRecords", "kms:Encrypt", "sqs:SendMessage"}),
        (
            "StreamMatcherRole",
            {
                "kinesis:DescribeStream",
                "kinesis:DescribeStreamSummary",
                "kinesis:GetRecords",
                "kinesis:GetShardIterator",
                "kinesis:ListShards",
                "kinesis:PutRecords",
                "s3:ListBucket",
                "s3:PutObject",
                "sqs:SendMessage",
            },
        ),
        (
            "RunExecutorRole",
            {
                "bedrock:InvokeModel",
                "kinesis:PutRecords",
                "kms:Decrypt",
                "ses:SendEmail",
                "ses:SendRawEmail",
                "sqs:DeleteMessage",
                "sqs:GetQueueAttributes",
                "sqs:ReceiveMessage",
                "sqs:SendMessage",
            },
        ),
        ("ScheduleReconcilerRole", {"kinesis:PutRecords", "sqs:SendMessage"}),
        ("RunWatchdogRole", {"kinesis:PutRecords", "sqs:SendMessage"}),
        (
            "DlqNotifierRole",
            {
                "ses:SendEmail",
                "ses:SendRawEmail",
                "sqs:DeleteMessage",
                "sqs:GetQueueAttributes",
                "sqs:ReceiveMessage",
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


@pytest.mark.parametrize(
    ("role", "senders"),
    [
        ("HttpApiRole", {"RunQueue"}),
        ("StreamMatcherRole", {"RunQueue"}),
        ("RunExecutorRole", {"RunQueue", "NoticeQueue"}),
        ("ScheduleReconcilerRole", {"RunQueue"}),
        ("RunWatchdogRole", {"RunQueue", "NoticeQueue"}),
        ("DlqNotifierRole", set()),
    ],
)
def test_a_role_sends_to_the_queues_whose_urls_its_function_has_and_no_other(
    resources: Json, role: str, senders: set[str]
) -> None:
    allowed = {
        statement["Resource"]["Fn::GetAtt"][0]
        for statement in statements(of_type(resources, "AWS::IAM::Role")[role])
        if "sqs:SendMessage" in actions_of(statement)
    }
    (function,) = (
        function
        for function in functions(resources).values()
        if function["Role"]["Fn::GetAtt"][0] == role
    )
    urls = {
        value["Ref"]
        for name, value in function["Environment"]["Variables"].items()
        if name.endswith("_QUEUE_URL")
    }
    assert allowed == urls == senders


def test_every_handler_can_be_imported(resources: Json) -> None:
    for function in functions(resources).values():
        module, _, name = function["Handler"].rpartition(".")
        assert callable(getattr(importlib.import_module(module), name))


def test_every_variable_is_a_setting(resources: Json) -> None:
    known = setting_names()
    for function in functions(resources).values():
        assert set(function["Environment"]["Variables"]) - NOT_SETTINGS <= known


# What the migrator need not check: resources and constants of the template itself.
PASSED_ON = {
    "DATABASE_ANSWER_S",
    "EVENT_STREAM_NAME",
    "NOTICE_QUEUE_URL",
    "RUN_QUEUE_URL",
    "SECRETS_KEY_ARN",
}


def test_the_migrator_has_every_setting_that_a_deployment_could_get_wrong(
    resources: Json, source: Json
) -> None:
    read_by: dict[str, set[str]] = {}
    for function in functions(resources).values():
        for name, value in function["Environment"]["Variables"].items():
            read_by.setdefault(name, set()).update(target for target, _ in references(value))
    migrators = set(functions(resources)["DbMigratorFunction"]["Environment"]["Variables"])
    assert read_by.keys() - NOT_SETTINGS - migrators == PASSED_ON
    for name in PASSED_ON:
        assert (name, read_by[name] & set(source["Parameters"])) == (name, set())


def test_another_value_of_a_setting_makes_the_migrator_look_again(
    resources: Json, source: Json
) -> None:
    environment = functions(resources)["DbMigratorFunction"]["Environment"]
    parameters = set(source["Parameters"])
    (migration,) = (r for r in resources.values() if r["Type"] == "Custom::Migration")
    read = {target for target, _ in references(environment)} & parameters
    assert {"DatabaseHost", "DatabaseDirectHost", "DatabaseName", "OidcIssuer"} <= read
    listed = {target for target, _ in references(migration["Properties"]["Settings"])}
    # Conditions are no references: which database it is decides on its host.
    assert listed == read | {"CreateDatabase"}


def test_every_setting_is_set_by_the_template_and_documented(resources: Json) -> None:
    in_template = {
        name
        for function in functions(resources).values()
        for name in function["Environment"]["Variables"]
    }
    page = (ROOT / "docs" / "configuration.md").read_text("utf-8")
    documented = set(re.findall(r"^\| `([A-Z_]+)` \|", page, re.MULTILINE))
    # The URL stands in for host, name and secret, which a deployment has.
    assert setting_names() - in_template == {"DATABASE_URL"}
    assert setting_names() ^ documented == set()


# Follows from how long a function has, which is no parameter either.
FIXED = frozenset({"DATABASE_ANSWER_S"})


def test_numbers_have_the_engines_defaults_and_ranges(source: Json) -> None:
    parameters = {name.lower(): p for name, p in source["Parameters"].items()}
    for setting, (default, low, high) in settings_module.NUMBERS.items():
        if setting in FIXED:
            continue
        parameter = parameters[setting.replace("_", "").lower()]
        assert (setting, parameter["Default"]) == (setting, default)
        assert parameter.get("MinValue", low) >= low
        assert parameter.get("MaxValue", high) <= high


@pytest.mark.parametrize("function", ["HttpApiFunction", "DlqNotifierFunction"])
def test_a_dead_connection_can_be_replaced_within_the_time_of_a_function(
    resources: Json, function: str
) -> None:
    properties = functions(resources)[function]
    answer_s = properties["Environment"]["Variables"]["DATABASE_ANSWER_S"]
    assert 2 * int(answer_s) < properties["Timeout"]


def setting_names() -> set[str]:
    """Every name in capitals, of several words, that settings.py mentions as a string."""
    tree = ast.parse(Path(settings_module.__file__).read_text("utf-8"))
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {t for t in texts if isinstance(t, str) and re.fullmatch("[A-Z]+(_[A-Z]+)+", t)}


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
        ("notice_death.json", "aws:sqs"),
    ],
)
def test_every_function_has_a_golden_event(name: str, event_source: str | None) -> None:
    event = json.loads((ROOT / "events" / name).read_text("utf-8"))
    if event_source is None:
        assert event["version"] == "2.0"
    else:
        assert [record["eventSource"] for record in event["Records"]] == [event_source]


def test_the_reconcilers_golden_events_are_a_tick_and_one_for_another_time() -> None:
    tick = json.loads((ROOT / "events" / "schedule_tick.json").read_text("utf-8"))
    assert (tick["source"], tick["detail-type"]) == ("aws.events", "Scheduled Event")
    told = json.loads((ROOT / "events" / "schedule_tick_now.json").read_text("utf-8"))
    assert told == {"now": "2026-03-08T07:00:00Z"}


def test_the_watchdogs_golden_events_are_a_tick_and_what_operators_say() -> None:
    tick = json.loads((ROOT / "events" / "watchdog_tick.json").read_text("utf-8"))
    assert (tick["source"], tick["detail-type"]) == ("aws.events", "Scheduled Event")
    told = json.loads((ROOT / "events" / "watchdog_workers_gone.json").read_text("utf-8"))
    assert told == {"workersGone": True}


def test_the_outputs_name_what_operators_need(source: Json) -> None:
    page = (ROOT / "docs" / "operations.md").read_text("utf-8")
    outputs = set(source["Outputs"])
    assert {
        f"{name}FunctionName" for name in ("StreamMatcher", "RunWatchdog", "ScheduleReconciler")
    } <= outputs
    for kind in ("URL", "ARN"):
        for word in re.findall(rf"\$([A-Z]+)_QUEUE_{kind}", page):
            assert f"{word.title()}Queue{kind.title()}" in outputs


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
