"""docs/actions.md against the code: every action, key, output and code, and examples that work."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.integration.test_every_action import OUTPUTS, REFUSALS
from whenthen.domain.kinds import ActionType
from whenthen.domain.rules.interpolation import check_templates
from whenthen.domain.rules.template_places import may_hold_secret, needs_value
from whenthen.domain.schemas.actions import ACTION_CONFIGS, Action, stored_config

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "actions.md").read_text("utf-8")
SECTIONS: Mapping[str, str] = {part.partition("\n")[0]: part for part in TEXT.split("\n## ")[1:]}
COMMON = SECTIONS["Errors of every action"]
# Where the codes of steps are made.
SOURCES = [
    *(ROOT / "shared/whenthen/actions").glob("*.py"),
    *(ROOT / "shared/whenthen/aws").glob("*.py"),
    *(ROOT / "shared/whenthen/domain").rglob("*.py"),
    *(ROOT / "shared/whenthen/engine").glob("*step*.py"),
]
RAISED = re.compile(
    r'(?:FatalError|RetryableError|Refusals|Problem)\(\s*(?:code=)?"([A-Z]+(?:_[A-Z]+)+)"'
)
# Of runs, not of steps.
ELSEWHERE = frozenset({"CONDITION_INVALID", "ACTION_COUNT", "AUTOMATION_ARCHIVED", "CANCELLED"})


def table(section: str, head: str) -> dict[str, str]:
    """The rows of the table whose first column is called `head`: its first cell and the rest."""
    _, found, rest = section.partition(f"| {head} |")
    assert found, head
    lines = rest.split("\n\n")[0].splitlines()[2:]
    cells = [line.strip("|").split(" | ", 1) for line in lines]
    return {first.strip(): rest for first, rest in cells}


def names(rows: Mapping[str, str]) -> set[str]:
    return {name for first in rows for name in re.findall(r"`([^`]+)`", first)}


def example(type_: ActionType) -> object:
    return json.loads(SECTIONS[type_].split("```json\n")[1].split("```")[0])


def test_every_action_has_a_section_and_there_is_no_other() -> None:
    assert list(SECTIONS) == ["Errors of every action", *ActionType]


@pytest.mark.parametrize("type_", ActionType)
def test_the_keys_of_a_config_are_those_of_its_schema(type_: ActionType) -> None:
    schema = ACTION_CONFIGS[type_].model_json_schema()
    required = schema.get("required", [])
    expected = {key if key in required else f"{key}?" for key in schema["properties"]}
    assert names(table(SECTIONS[type_], "config")) == expected


@pytest.mark.parametrize("type_", ActionType)
def test_places_that_need_their_value_are_marked(type_: ActionType) -> None:
    for first, meaning in table(SECTIONS[type_], "config").items():
        key = first.strip("`?")
        needed = needs_value(type_, key) or needs_value(type_, f"{key}[0]")
        assert ("needs its value" in meaning) == needed, key


@pytest.mark.parametrize("type_", ActionType)
def test_the_keys_of_an_output_are_those_that_the_action_answers(type_: ActionType) -> None:
    documented = names(table(SECTIONS[type_], "output"))
    assert {key for key in documented if not key.endswith("?")} == OUTPUTS[type_]


@pytest.mark.parametrize("type_", ActionType)
def test_every_code_that_is_tested_for_an_action_is_documented_there(type_: ActionType) -> None:
    documented = names(table(SECTIONS[type_], "code")) | names(table(COMMON, "code"))
    assert {code for code, _ in REFUSALS[type_]} <= documented


def test_every_code_that_a_step_can_end_with_is_documented_and_no_other() -> None:
    documented = {code for part in SECTIONS.values() for code in names(table(part, "code"))}
    raised = {code for path in SOURCES for code in RAISED.findall(path.read_text("utf-8"))}
    by_classify = {"ACTION_TIMEOUT", "DB_CONNECTION_LOST", "UNEXPECTED"}
    families = {"DB_TRANSIENT_…", "NET_…", "AWS_…"}
    assert documented == (raised - ELSEWHERE) | by_classify | families


@pytest.mark.parametrize("type_", ActionType)
def test_an_example_can_be_saved(type_: ActionType) -> None:
    action = Action.model_validate(example(type_))
    assert action.type == type_
    config = stored_config(type_, action.config.to_json())
    problems = check_templates(config, secrets_allowed=lambda place: may_hold_secret(type_, place))
    assert problems == []
