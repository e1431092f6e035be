"""The template in every form that its parameters give it."""

import json
import tomllib
from typing import Any

import pytest

from tests.contract.template_forms import (
    ROOT,
    Json,
    Truth,
    form_of,
    references,
    transformed,
    truths,
)


@pytest.fixture(scope="module")
def template() -> Json:
    return transformed()


@pytest.fixture(scope="module")
def possible(template: Json) -> dict[Truth, Json]:
    return truths(template)


def test_every_condition_can_hold_and_can_fail(template: Json, possible: dict[Truth, Json]) -> None:
    conditions = set(template["Conditions"])
    assert frozenset[str]().union(*possible) == conditions
    assert frozenset(conditions).intersection(*possible) == frozenset()


def test_in_every_form_a_reference_finds_what_it_names(
    template: Json, possible: dict[Truth, Json]
) -> None:
    resources, known = template["Resources"], set(template["Parameters"])
    holders = {**resources, **template["Outputs"]}
    for name, part in holders.items():
        own = part.get("Condition")
        needs = list(references(part))
        needs += [(target, frozenset()) for target in depends_on(part)]
        for target, path in needs:
            if target in known or target.startswith("AWS::"):
                continue
            wanted = resources[target].get("Condition")
            for true in possible:
                if wanted and is_there(own, path, true):
                    assert wanted in true, f"{name} names {target} when {sorted(true)}"


def depends_on(part: Json) -> list[str]:
    named = part.get("DependsOn", [])
    return [named] if isinstance(named, str) else named


def is_there(own: str | None, path: Truth, true: Truth) -> bool:
    return (own is None or own in true) and all(
        step[1:] not in true if step.startswith("!") else step in true for step in path
    )


def test_each_way_to_give_a_network_gives_every_function_one(template: Json) -> None:
    ways = {
        "none": ({}, None),
        "existing": ({"SubnetIds": "subnet-0123456789abcdef0"}, {"Ref": "SubnetIds"}),
        "created": (
            {"CreateDatabase": "true"},
            [{"Ref": "PrivateSubnetA"}, {"Ref": "PrivateSubnetB"}],
        ),
    }
    for values, subnets in ways.values():
        form = form_of(template, values)
        for function in of_type(form, "AWS::Lambda::Function").values():
            assert function.get("VpcConfig", {}).get("SubnetIds") == subnets


def of_type(form: Json, kind: str) -> dict[str, Any]:
    return {
        name: resource["Properties"]
        for name, resource in form["Resources"].items()
        if resource["Type"] == kind
    }


def test_without_a_created_database_nothing_of_its_kind_is_made(template: Json) -> None:
    kinds = {r["Type"] for r in form_of(template, {})["Resources"].values()}
    assert not [kind for kind in kinds if kind.startswith(("AWS::EC2::", "AWS::RDS::"))]


@pytest.fixture(scope="module")
def created(template: Json) -> Json:
    return form_of(template, {"CreateDatabase": "true"})


def test_a_created_network_has_two_zones_one_nat_and_a_private_way_to_s3(created: Json) -> None:
    subnets = of_type(created, "AWS::EC2::Subnet")
    assert sorted(subnets) == [
        "PrivateSubnetA",
        "PrivateSubnetB",
        "PublicSubnetA",
        "PublicSubnetB",
    ]
    assert len({json.dumps(subnet["CidrBlock"]) for subnet in subnets.values()}) == 4
    assert len({json.dumps(subnet["AvailabilityZone"]) for subnet in subnets.values()}) == 2
    assert list(of_type(created, "AWS::EC2::NatGateway")) == ["NatGateway"]
    (endpoint,) = of_type(created, "AWS::EC2::VPCEndpoint").values()
    assert (endpoint["VpcEndpointType"], endpoint["ServiceName"]["Fn::Sub"][-3:]) == (
        "Gateway",
        ".s3",
    )


def test_a_created_database_is_private_encrypted_backed_up_and_kept_as_a_snapshot(
    created: Json,
) -> None:
    cluster = created["Resources"]["DatabaseCluster"]
    assert (cluster["DeletionPolicy"], cluster["UpdateReplacePolicy"]) == ("Snapshot", "Snapshot")
    properties = cluster["Properties"]
    assert properties["StorageEncrypted"] is True
    assert properties["ManageMasterUserPassword"] is True
    assert properties["BackupRetentionPeriod"] >= 7
    (instance,) = of_type(created, "AWS::RDS::DBInstance").values()
    assert instance["PubliclyAccessible"] is False
    (proxy,) = of_type(created, "AWS::RDS::DBProxy").values()
    assert proxy["RequireTLS"] is True


def test_only_functions_and_the_proxy_reach_a_created_database(created: Json) -> None:
    groups = of_type(created, "AWS::EC2::SecurityGroup")
    assert not any("SecurityGroupIngress" in group for group in groups.values())
    doors = of_type(created, "AWS::EC2::SecurityGroupIngress").values()
    assert {door["SourceSecurityGroupId"]["Ref"] for door in doors} == {
        "FunctionSecurityGroup",
        "DatabaseSecurityGroup",
    }
    assert {(door["FromPort"], door["ToPort"]) for door in doors} == {(5432, 5432)}
    assert not any("CidrIp" in door for door in doors)


def test_functions_go_through_the_proxy_and_the_migrator_past_it(created: Json) -> None:
    hosts = {
        name: function["Environment"]["Variables"]["DATABASE_HOST"]["Fn::GetAtt"]
        for name, function in of_type(created, "AWS::Lambda::Function").items()
    }
    assert hosts.pop("DbMigratorFunction") == ["DatabaseCluster", "Endpoint.Address"]
    assert set(map(tuple, hosts.values())) == {("DatabaseProxy", "Endpoint")}


@pytest.mark.parametrize(
    ("create", "port", "ssl"),
    [
        ("true", "5432", "true"),
        ("false", {"Ref": "DatabasePort"}, {"Ref": "DatabaseSsl"}),
    ],
)
def test_a_created_database_is_reached_as_it_was_made_whatever_the_parameters_say(
    template: Json, create: str, port: Json | str, ssl: Json | str
) -> None:
    form = form_of(
        template, {"CreateDatabase": create, "DatabasePort": "6432", "DatabaseSsl": "false"}
    )
    for function in of_type(form, "AWS::Lambda::Function").values():
        variables = function["Environment"]["Variables"]
        assert (variables["DATABASE_PORT"], variables["DATABASE_SSL"]) == (port, ssl)


@pytest.mark.parametrize("values", [{}, {"CreateDatabase": "true"}])
def test_a_role_reads_the_secret_that_its_function_is_told_of(template: Json, values: Json) -> None:
    form = form_of(template, values)
    roles = of_type(form, "AWS::IAM::Role")
    for function in of_type(form, "AWS::Lambda::Function").values():
        (policy,) = roles[function["Role"]["Fn::GetAtt"][0]]["Policies"]
        readable = [
            statement["Resource"]
            for statement in policy["PolicyDocument"]["Statement"]
            if statement["Sid"] == "ReadDatabaseSecret"
        ]
        assert readable == [function["Environment"]["Variables"]["DATABASE_SECRET_ARN"]]


def test_no_database_is_a_mistake_that_cloudformation_tells_at_once(template: Json) -> None:
    rule = template["Rules"]["AnExistingDatabaseIsNamed"]
    asked = json.dumps(rule["Assertions"])
    assert rule["RuleCondition"] == {"Fn::Equals": [{"Ref": "CreateDatabase"}, "false"]}
    assert '{"Ref": "DatabaseHost"}' in asked
    # What the rule compares with is the parameter's default.
    assert template["Parameters"]["DatabaseSecretArn"]["Default"] in asked


def test_subnets_without_security_groups_are_a_mistake_that_cloudformation_tells_at_once(
    template: Json,
) -> None:
    def named(parameter: str) -> Json:
        return {"Fn::Not": [{"Fn::EachMemberEquals": [{"Ref": parameter}, ""]}]}

    rule = template["Rules"]["SubnetsComeWithSecurityGroups"]
    (assertion,) = rule["Assertions"]
    assert rule["RuleCondition"] == named("SubnetIds")
    assert assertion["Assert"] == named("SecurityGroupIds")
    for name in ("SubnetIds", "SecurityGroupIds"):
        assert template["Parameters"][name]["Default"] == ""


def test_no_function_runs_on_a_schema_older_than_its_code(template: Json) -> None:
    resources = template["Resources"]
    migration = resources["Migration"]["Properties"]
    assert migration["ServiceToken"] == {"Fn::GetAtt": ["DbMigratorFunction", "Arn"]}
    functions = {
        name: resource
        for name, resource in resources.items()
        if resource["Type"] == "AWS::Lambda::Function"
    }
    timeout_s = functions.pop("DbMigratorFunction")["Properties"]["Timeout"]
    # CloudFormation otherwise waits an hour for an answer that never comes.
    assert migration["ServiceTimeout"] > timeout_s
    for function in functions.values():
        assert function["DependsOn"] == "Migration"


def test_another_layer_migrates_again_and_publishes_another_version() -> None:
    one, two = transformed(layer="one")["Resources"], transformed(layer="two")["Resources"]
    changed = set(one) ^ set(two)
    assert {one.get(name, two.get(name))["Type"] for name in changed} == {
        "AWS::Lambda::LayerVersion",
        "AWS::Lambda::Version",
    }
    assert len(changed) == 4
    assert one["Migration"]["Properties"]["Layer"] != two["Migration"]["Properties"]["Layer"]
    assert transformed(layer="one")["Resources"].keys() == one.keys()


def test_requests_go_to_the_alias_whose_versions_may_be_snapshots(template: Json) -> None:
    resources = template["Resources"]
    assert "${HttpApiFunctionAliaslive}" in json.dumps(resources["HttpApi"]["Properties"]["Body"])
    assert resources["HttpApiFunction"]["Properties"]["SnapStart"] == {
        "Fn::If": ["ApiSnapStarts", {"ApplyOn": "PublishedVersions"}, {"Ref": "AWS::NoValue"}]
    }


def test_nothing_is_reserved_unless_asked(template: Json) -> None:
    assert template["Parameters"]["ApiReservedConcurrency"]["Default"] == 0
    form = form_of(template, {})
    for function in of_type(form, "AWS::Lambda::Function").values():
        assert "ReservedConcurrentExecutions" not in function


def test_the_dashboard_is_json_and_names_functions_and_queues_of_the_template(
    template: Json,
) -> None:
    (dashboard,) = of_type(template, "AWS::CloudWatch::Dashboard").values()
    body = dashboard["DashboardBody"]["Fn::Sub"]
    assert json.loads(body)["widgets"]
    for function in of_type(template, "AWS::Lambda::Function"):
        assert function == "DbMigratorFunction" or f"${{{function}}}" in body
    for queue in of_type(template, "AWS::SQS::Queue"):
        assert f"${{{queue}.QueueName}}" in body


def test_both_stages_are_validated_tagged_and_ask_for_what_the_template_has(
    template: Json,
) -> None:
    stages = tomllib.loads((ROOT / "samconfig.toml").read_text("utf-8"))
    parameters = set(template["Parameters"])
    assert stages["default"]["global"]["parameters"]["stack_name"] == "whenthen"
    for name in ("dev", "prod"):
        deploy = stages[name]["deploy"]["parameters"]
        assert deploy["capabilities"] == "CAPABILITY_IAM"
        assert dict(tag.split("=") for tag in deploy["tags"]) == {
            "project": "whenthen",
            "stage": name,
        }
        assert {pair.split("=")[0] for pair in deploy["parameter_overrides"]} <= parameters
        assert stages[name]["global"]["parameters"]["stack_name"] == f"whenthen-{name}"
        assert stages[name]["validate"]["parameters"]["lint"] is True
