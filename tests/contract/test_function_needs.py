"""What a function's code may call, its environment and its role must have."""

import ast
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from samtranslator.yaml_helper import yaml_parse

ROOT = Path(__file__).parents[2]
PACKAGES = {"whenthen": ROOT / "shared/whenthen"}

# Whatever imports the one has to have the others: a setting, and an action that the role allows.
NEEDS = {
    "whenthen.engine.publish": ("EVENT_STREAM_NAME", "kinesis:PutRecords"),
    "whenthen.aws.event_stream": ("EVENT_STREAM_NAME", "kinesis:PutRecords"),
    "whenthen.engine.send": ("RUN_QUEUE_URL", "sqs:SendMessage"),
}
# The doors are at hand wherever there is a context; who opens them is what counts.
DOORS = frozenset({"whenthen.engine.context"})


@pytest.fixture(scope="module")
def resources() -> dict[str, Any]:
    parsed = yaml_parse((ROOT / "template.yaml").read_text("utf-8"))
    found: dict[str, Any] = parsed["Resources"]
    return found


def functions(resources: dict[str, Any]) -> dict[str, Any]:
    return {
        name: resource["Properties"]
        for name, resource in resources.items()
        if resource["Type"] == "AWS::Serverless::Function"
    }


def file_of(module: str) -> Path | None:
    package, _, rest = module.partition(".")
    root = PACKAGES.get(package, ROOT / "functions" / package)
    base = root / rest.replace(".", "/") if rest else root
    return next((p for p in (base.with_suffix(".py"), base / "__init__.py") if p.exists()), None)


@cache
def imports(module: str) -> frozenset[str]:
    """Our modules that `module` names in an import, wherever in it that stands."""
    path = file_of(module)
    if path is None or module in DOORS:
        return frozenset()
    named: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            named |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            named |= {alias.name for alias in node.names}
    return frozenset(name for name in named if file_of(name))


def reached_from(module: str) -> set[str]:
    reached, waiting = set[str](), [module]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += imports(name)
    return reached


def allowed(resources: dict[str, Any], role: str) -> set[str]:
    actions: set[str] = set()
    for policy in resources[role]["Properties"]["Policies"]:
        for statement in policy["PolicyDocument"]["Statement"]:
            plain = statement.get("Fn::If", [None, statement])[1]
            named = plain["Action"]
            actions |= {named} if isinstance(named, str) else set(named)
    return actions


def test_what_a_function_may_call_it_is_set_up_and_allowed_to_call(
    resources: dict[str, Any],
) -> None:
    missing = []
    for name, function in functions(resources).items():
        reached = reached_from(function["Handler"].rpartition(".")[0])
        variables = function.get("Environment", {}).get("Variables", {})
        may = allowed(resources, function["Role"]["Fn::GetAtt"][0])
        for module in reached & NEEDS.keys():
            setting, action = NEEDS[module]
            if setting not in variables:
                missing.append(f"{name} reaches {module} and lacks {setting}")
            if action not in may:
                missing.append(f"{name} reaches {module} and may not {action}")
    assert missing == []


def test_the_check_sees_through_to_the_engine(resources: dict[str, Any]) -> None:
    reached = reached_from("stream_matcher.handler")
    assert {"whenthen.engine.publish", "whenthen.store.run_inserts"} <= reached
    assert "whenthen.engine.publish" not in reached_from("db_migrator.handler")
    assert len(functions(resources)) == 7
