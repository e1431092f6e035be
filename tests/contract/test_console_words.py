"""The console's forms and explanations are about what the engine takes and answers."""

import re
from pathlib import Path

import http_api
from whenthen.domain import limits
from whenthen.domain.rules.would_match import Obstacle
from whenthen.domain.schemas.actions import ACTION_CONFIGS
from whenthen.domain.schemas.triggers import TRIGGER_CONFIGS

FOLDER = Path(http_api.__file__).with_name("console")
CONFIGS = [*TRIGGER_CONFIGS.values(), *ACTION_CONFIGS.values()]
KEYS_OF_CONFIGS = [{str(field.alias) for field in one.model_fields.values()} for one in CONFIGS]


def table(file: str, name: str) -> dict[str, str]:
    """Return key → the text behind it of `const NAME = {…};`."""
    text = (FOLDER / file).read_text("utf-8")
    found = re.search(rf"\bconst {name} = (?:new Set\()?[{{[](.*?)[}}\]]\)?;", text, re.DOTALL)
    assert found is not None, f"{file} has no {name}"
    pairs = re.findall(r"(?:^|[{,\n])\s*(\w+): ('[^']*'|[\w.]+)", found[1])
    assert len(pairs) > 1, f"{name} of {file} cannot be read"
    return {key: value.strip("'") for key, value in pairs}


def test_every_reason_of_a_dry_run_is_explained() -> None:
    assert set(table("dry_run.js", "REASONS")) == {one.value for one in Obstacle}


def test_the_forms_speak_of_keys_that_there_are() -> None:
    known = set().union(*KEYS_OF_CONFIGS)
    for name in ("LABELS", "HINTS"):
        assert set(table("form_fields.js", name)) - known == set()
    assert set(table("automation.js", "USUAL")) - known == set()


def test_what_is_cleared_for_another_key_belongs_to_the_same_config() -> None:
    for key, other in table("form_fields.js", "INSTEAD").items():
        assert any({key, other} <= keys for keys in KEYS_OF_CONFIGS), key


def test_what_is_left_out_of_a_definition_is_the_default() -> None:
    defaults = {
        str(field.alias): field.default for one in CONFIGS for field in one.model_fields.values()
    }
    for key, value in table("automation.js", "USUAL").items():
        assert value == str(defaults[key]).lower(), key


def test_an_automation_has_as_many_triggers_as_the_engine_takes() -> None:
    text = (FOLDER / "step_forms.js").read_text("utf-8")
    assert f"const MOST = {limits.TRIGGERS_MAX};" in text
