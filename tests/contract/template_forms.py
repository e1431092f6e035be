"""The forms that the template takes: transformed, and with its conditions decided."""

import copy
import itertools
import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse

from devstack.stack_conditions import conditions_of

ROOT = Path(__file__).parents[2]
Json = dict[str, Any]
Truth = frozenset[str]

# Every parameter that a condition asks for, with a value that says no and one that says yes.
SWITCHES = {
    "CreateDatabase": ("false", "true"),
    "CreateInterfaceEndpoints": ("false", "true"),
    "SubnetIds": ("", "subnet-0123456789abcdef0,subnet-0123456789abcdef1"),
    "DatabaseDirectHost": ("", "db.internal"),
    "PublicUrl": ("", "https://automations.example.com"),
    "ApiSnapStart": ("false", "true"),
    "ApiReservedConcurrency": ("0", "20"),
    "AlarmTopicArn": ("", "arn:aws:sns:eu-west-1:123456789012:alarms"),
    "MailFrom": ("", "robot@example.com"),
    "SmtpHost": ("", "mail.example.com"),
    "SmtpSecretArn": ("", "arn:aws:secretsmanager:eu-west-1:123456789012:secret:smtp"),
    "BedrockModelId": ("", "amazon.nova-lite-v1:0"),
    "BedrockModelArns": ("", "arn:aws:bedrock:eu-west-1::foundation-model/amazon.nova-lite-v1:0"),
}
NETWORK = ("CreateDatabase", "CreateInterfaceEndpoints", "SubnetIds")
ABSENT = object()


class _NoManagedPolicies:
    def load(self) -> Json:
        return {}


def transformed(layer: str = "layer", code: str = "code") -> Json:
    """The template as CloudFormation gets it, its layer and its code with those hashes."""
    os.environ.setdefault("AWS_DEFAULT_REGION", "eu-west-1")
    source = yaml_parse((ROOT / "template.yaml").read_text("utf-8"))
    source["Globals"]["Function"]["CodeUri"] = f"s3://whenthen-code/{code}"
    for resource in source["Resources"].values():
        if "ContentUri" in resource["Properties"]:
            resource["Properties"]["ContentUri"] = f"s3://whenthen-code/{layer}"
    template: Json = transform(source, {}, _NoManagedPolicies())
    return template


def truths(template: Json) -> dict[Truth, Json]:
    """Every set of conditions that can hold together, with parameter values that make it so."""
    found: dict[Truth, Json] = {}
    for answers in itertools.product(*SWITCHES.values()):
        values = dict(zip(SWITCHES, answers, strict=True))
        found.setdefault(truth(template, values), values)
    return found


def truth(template: Json, switched: Mapping[str, str]) -> Truth:
    """The conditions that hold for these values, the others as the template has them."""
    defaults = {name: str(p.get("Default", "")) for name, p in template["Parameters"].items()}
    holds = conditions_of(template, {**defaults, **switched})
    return frozenset(name for name in template["Conditions"] if holds(name))


def form_of(template: Json, values: Mapping[str, str]) -> Json:
    """What the template comes to with these values: no conditions, and they are the defaults."""
    true = truth(template, values)
    template = copy.deepcopy(template)
    for name, value in values.items():
        template["Parameters"][name]["Default"] = value
    for section in ("Resources", "Outputs"):
        template[section] = {
            name: part
            for name, part in template[section].items()
            if part.pop("Condition", None) in {None, *true}
        }
    for name in ("Conditions", "Rules", "Metadata"):
        template.pop(name, None)
    result: Json = _decide(template, lambda name: name in true)
    return result


def covering(template: Json, possible: Mapping[Truth, Json]) -> list[Json]:
    """Values of few forms in which each part has each of its shapes beside each of what it names.

    A linter that looks at a part and at what that refers to sees there whatever it could see in
    all forms, which are as many as sets of conditions that can hold together.
    """
    parts = {**template["Outputs"], **template["Resources"]}
    named = {
        name: [target for target, _ in references(part) if target in template["Resources"]]
        for name, part in parts.items()
    }
    seen = {
        true: frozenset(_beside(form_of(template, values), named))
        for true, values in possible.items()
    }
    left, chosen = frozenset[int]().union(*seen.values()), []
    while left:
        true = max(seen, key=lambda true: len(seen[true] & left))
        left -= seen[true]
        chosen.append(possible[true])
    return chosen


def _beside(form: Json, named: Mapping[str, list[str]]) -> Iterator[int]:
    parts = {**form["Outputs"], **form["Resources"]}
    shape = {name: json.dumps(part, sort_keys=True) for name, part in parts.items()}
    for name, targets in named.items():
        yield hash((name, shape.get(name)))
        for target in targets:
            yield hash((name, shape.get(name), target, shape.get(target)))


def _decide(value: Any, holds: Callable[[str], bool]) -> Any:
    if isinstance(value, list):
        chosen = [_decide(item, holds) for item in value]
        return [item for item in chosen if item is not ABSENT]
    if not isinstance(value, dict):
        return value
    if set(value) == {"Fn::If"}:
        condition, yes, no = value["Fn::If"]
        return _decide(yes if holds(condition) else no, holds)
    if value == {"Ref": "AWS::NoValue"}:
        return ABSENT
    parts = {key: _decide(item, holds) for key, item in value.items()}
    return {key: item for key, item in parts.items() if item is not ABSENT}


def references(value: Any, path: Truth = frozenset()) -> Iterator[tuple[str, Truth]]:
    """Every name that is referred to, and the conditions on the way there (`!` before a no)."""
    if isinstance(value, list):
        for item in value:
            yield from references(item, path)
    elif isinstance(value, dict):
        if set(value) == {"Fn::If"}:
            condition, yes, no = value["Fn::If"]
            yield from references(yes, path | {condition})
            yield from references(no, path | {f"!{condition}"})
            return
        for key, item in value.items():
            if key == "Ref":
                yield item, path
            elif key == "Fn::GetAtt":
                yield item[0] if isinstance(item, list) else item.split(".")[0], path
            else:
                yield from references(item, path)
