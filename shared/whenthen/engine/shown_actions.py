"""The actions of a dry run: each config filled in as far as it can be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from whenthen.domain.errors import FatalError
from whenthen.domain.ids import parse_id
from whenthen.domain.kinds import ActionType
from whenthen.domain.rules.delay import resume_at
from whenthen.domain.rules.interpolation import ActionOutputs
from whenthen.domain.rules.shown_config import ConfigProblem, show_config
from whenthen.domain.rules.template_places import is_html, needs_value
from whenthen.domain.rules.template_syntax import Token
from whenthen.domain.schemas.actions import stored_config
from whenthen.domain.schemas.templated import FROM_TRIGGER
from whenthen.engine.dry_run_scene import Scene


@dataclass(frozen=True, slots=True)
class ShownAction:
    index: int
    type: str
    config: Any
    problems: Sequence[ConfigProblem] = ()


def as_stored(actions: Sequence[Mapping[str, Any]]) -> list[ShownAction]:
    """Return `actions` with the templates in their configs."""
    return [ShownAction(index, one["type"], one["config"]) for index, one in enumerate(actions)]


def filled_in(actions: Sequence[Mapping[str, Any]], scene: Scene) -> list[ShownAction]:
    """Return `actions` with the values that `scene` has for their templates."""
    ids = [str(one["id"]) for one in actions]
    return [_filled_in(index, one, ids[:index], scene) for index, one in enumerate(actions)]


def _filled_in(
    index: int, action: Mapping[str, Any], earlier: Sequence[str], scene: Scene
) -> ShownAction:
    type_ = ActionType(action["type"])
    try:
        config = stored_config(type_, action["config"])
    except FatalError as error:
        return ShownAction(index, type_, action["config"], [ConfigProblem("", error.code)])
    outputs = ActionOutputs([(one, scene.outputs.get(one)) for one in earlier])
    shown = show_config(
        config,
        {**scene.roots, "actions": outputs},
        required=partial(needs_value, type_),
        is_html=partial(is_html, type_),
        is_open=partial(_is_open, earlier, scene.outputs),
    )
    problems = list(shown.problems)
    if config.get("recordId") == FROM_TRIGGER and parse_id(scene.record_id or "") is None:
        problems.append(ConfigProblem("recordId", "TEMPLATE_MISSING"))
    if type_ == ActionType.DELAY and not problems:
        problems = _of_a_delay(shown.config, scene.now)
    return ShownAction(index, type_, shown.config, problems)


def _of_a_delay(config: Mapping[str, Any], now: datetime) -> list[ConfigProblem]:
    try:
        resume_at(config, now)
    except FatalError as error:
        return [ConfigProblem("until" if "until" in config else "seconds", error.code)]
    return []


def _is_open(earlier: Sequence[str], outputs: Mapping[str, Any], token: Token) -> bool:
    """Tell whether a template names an earlier action of which no output is known."""
    if token.root != "actions":
        return False
    named = token.rest[0]
    if isinstance(named, int):
        return named < len(earlier) and earlier[named] not in outputs
    return named in earlier and named not in outputs
