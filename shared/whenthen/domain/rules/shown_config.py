"""An action's config as a dry run shows it: filled in as far as it can be, and what is wrong.

Where a step would fail at the first fault, this goes on and lists them all.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from whenthen.domain.errors import FatalError
from whenthen.domain.json_text import dumps
from whenthen.domain.limits import INTERPOLATED_MAX_BYTES
from whenthen.domain.rules.data_path import Path, path_text
from whenthen.domain.rules.interpolation import interpolate
from whenthen.domain.rules.template_syntax import TemplateError, Token, parse_template

# What stands here in place of a secret's value.
HIDDEN: Final = "•••"


@dataclass(frozen=True, slots=True)
class ConfigProblem:
    """What is wrong at a place of the config (`headers.Accept`, "" for all of it).

    ==========================  ==========================================================
    `OUTPUT_UNKNOWN`            known only once an earlier action has run; no fault
    `TEMPLATE_EMPTY`            a text has nothing in this place; the step runs all the same
    `TEMPLATE_MISSING`          a value is needed here and missing: the step would fail
    `SECRET_UNKNOWN`            there is no such secret: the step would fail
    `DELAY_INVALID`             it names no time to wait: the step would fail
    `ACTION_CONFIG_INVALID`     unreadable, or above 64 KB with its values: the step would fail
    ==========================  ==========================================================
    """

    place: str
    code: str


@dataclass(frozen=True, slots=True)
class ShownConfig:
    """A config in which a text that could not be filled in is as it was written."""

    config: Any
    problems: list[ConfigProblem]


def show_config(
    config: Any,
    roots: Mapping[str, Any],
    *,
    required: Callable[[str], bool],
    is_html: Callable[[str], bool],
    is_open: Callable[[Token], bool],
) -> ShownConfig:
    """Return `config` with the values of `roots` as `interpolate` would fill them in.

    `required` and `is_html` are asked as `interpolate` asks them, `is_open` for a template whether
    its value is not yet known.
    """
    showing = _Showing(roots, required, is_html, is_open)
    shown = showing.fill(config, ())
    too_large = showing.bytes_left < 0 or len(dumps(shown).encode()) > INTERPOLATED_MAX_BYTES
    if too_large:
        return ShownConfig(config, [ConfigProblem("", "ACTION_CONFIG_INVALID")])
    return ShownConfig(shown, showing.problems)


@dataclass(slots=True)
class _Showing:
    roots: Mapping[str, Any]
    required: Callable[[str], bool]
    is_html: Callable[[str], bool]
    is_open: Callable[[Token], bool]
    problems: list[ConfigProblem] = field(default_factory=list)
    # Of all texts together: a config of few bytes may name a large value many times.
    bytes_left: int = INTERPOLATED_MAX_BYTES

    def fill(self, value: Any, place: Path) -> Any:
        match value:
            case str() if self.bytes_left >= 0:
                return self._fill_text(value, path_text(place))
            case dict():
                return {key: self.fill(item, (*place, key)) for key, item in value.items()}
            case list():
                return [self.fill(item, (*place, index)) for index, item in enumerate(value)]
        return value

    def _fill_text(self, text: str, place: str) -> Any:
        try:
            tokens = [part for part in parse_template(text) if isinstance(part, Token)]
            if not tokens:
                return text
            if any(self.is_open(token) for token in tokens):
                return self._left(text, place, "OUTPUT_UNKNOWN")
            filled = interpolate(
                text, self.roots, lambda _: self.required(place), lambda _: self.is_html(place)
            )
        except TemplateError:
            return self._left(text, place, "ACTION_CONFIG_INVALID")
        except FatalError as error:
            return self._left(text, place, error.code)
        if filled.missing:
            self._left(text, place, "TEMPLATE_EMPTY")
        self.bytes_left -= len(dumps(filled.config).encode())
        return filled.config

    def _left(self, text: str, place: str, code: str) -> str:
        self.problems.append(ConfigProblem(place, code))
        return text
