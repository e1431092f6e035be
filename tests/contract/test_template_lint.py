"""What CloudFormation's linter says of the template, in the forms that its parameters give it."""

import itertools
import json
import os
import random

import pytest
from cfnlint.api import lint

from tests.contract.template_forms import (
    NETWORK,
    SWITCHES,
    Json,
    covering,
    form_of,
    transformed,
    truths,
)

# Of a template whose conditions are decided: parameters and mappings that are left over.
LEFT_OVER = {"W2001", "W7001"}
# Forms that are drawn at random, of some two thousand.
DRAWN = 2


@pytest.fixture(scope="module")
def template() -> Json:
    return transformed()


def complaints(template: Json, values: Json) -> list[str]:
    """What is said of a form; where subnets are named, security groups must be."""
    template = form_of(template, {**values, "SecurityGroupIds": "sg-0123456789abcdef0"})
    return said(template)


def said(template: Json) -> list[str]:
    found = lint(json.dumps(template), None, ["eu-west-1"])
    return [f"{m.rule.id} {m.message}" for m in found if m.rule.id not in LEFT_OVER]


def test_cloudformations_linter_has_nothing_to_say_of_the_transformed_template(
    template: Json,
) -> None:
    assert said(template) == []


def forms() -> list[Json]:
    """The ways a network can be given, each with everything else switched off and on."""
    found = []
    for network in ("off", "SubnetIds", "CreateDatabase", "CreateInterfaceEndpoints"):
        for other in (0, 1):
            values = {name: answers[other] for name, answers in SWITCHES.items()}
            values |= {name: SWITCHES[name][0] for name in NETWORK}
            if network != "off":
                values[network] = SWITCHES[network][1]
            if network == "CreateInterfaceEndpoints":
                values["CreateDatabase"] = "true"
            found.append(values)
    return found


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "values",
    forms(),
    ids=lambda v: "-".join(n for n in v if v[n] == SWITCHES.get(n, "__")[1]) or "bare",
)
def test_cloudformations_linter_has_nothing_to_say_of_a_form(template: Json, values: Json) -> None:
    assert complaints(template, values) == []


@pytest.mark.timeout(1800)
def test_cloudformations_linter_has_nothing_to_say_of_a_combination_of_conditions(
    template: Json, request: pytest.FixtureRequest
) -> None:
    """A few at random; in `make soak` those in which whatever occurs in any of them occurs."""
    possible = truths(template)
    if os.environ.get("WHENTHEN_FAULTS") == "all":
        chosen = covering(template, possible)
    else:
        seed = request.config.getoption("randomly_seed", 0)
        chosen = random.Random(seed).sample(list(possible.values()), DRAWN)
    found = [(values, complaints(template, values)) for values in chosen]
    print(f"linted {len(found)} of {len(possible)} combinations")  # noqa: T201  # shown by -rP
    assert [(values, told) for values, told in found if told] == []


def test_a_covering_choice_has_every_shape_of_a_part_beside_every_shape_of_what_it_names() -> None:
    conditions = {name: {"Fn::Equals": [{"Ref": name}, "yes"]} for name in ("A", "B", "C")}
    template = {
        "Parameters": {name: {"Default": "no"} for name in conditions},
        "Conditions": conditions,
        "Resources": {
            "One": {"Properties": {"a": {"Fn::If": ["A", {"Ref": "Two"}, 0]}}},
            "Two": {"Properties": {"b": {"Fn::If": ["B", 1, 0]}}},
            "Other": {"Condition": "C"},
        },
        "Outputs": {},
    }
    possible = {
        frozenset(true): {name: "yes" if name in true else "no" for name in conditions}
        for n in range(4)
        for true in itertools.combinations(conditions, n)
    }
    chosen = covering(template, possible)
    assert {(values["A"], values["B"]) for values in chosen} == {
        (a, b) for a in ("yes", "no") for b in ("yes", "no")
    }
    assert {values["C"] for values in chosen} == {"yes", "no"}
    assert len(chosen) == 4
