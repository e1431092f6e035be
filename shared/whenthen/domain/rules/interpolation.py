"""What becomes of the templates in an action's config: checked on save, filled in when it runs.

Only texts are templates, keys of objects never; values that come in are never read as templates
again. How a template is written stands in `template_syntax.py`.

Source: docs/architecture.md, "Interpolation".
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Final, Literal

from whenthen.domain.errors import FatalError
from whenthen.domain.json_text import dumps
from whenthen.domain.limits import INTERPOLATED_MAX_BYTES
from whenthen.domain.rules.data_path import MISSING, Path, path_text, value_at
from whenthen.domain.rules.template_syntax import TemplateError, Token, parse_template

_SECRET_NAME: Final = re.compile(r"[A-Z][A-Z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class TemplateProblem:
    """Why a template cannot be saved; `path` is its place: `actions[0].config.headers.Accept`."""

    path: str
    code: Literal["TEMPLATE_INVALID", "SECRET_INVALID"]
    message: str


@dataclass(frozen=True, slots=True)
class Interpolated:
    """A config with its values filled in, and the template paths that had none in a text."""

    config: Any
    missing: list[str]


@dataclass(frozen=True, slots=True)
class ActionOutputs:
    """The root `actions`: (action id, output) of each finished step, by index from 0 or by id."""

    steps: Sequence[tuple[str, Any]]

    def value_at(self, path: Path) -> Any:
        """Return what `path`, from `actions` on, leads to: `(0, "output", "recordId")`."""
        wanted, *rest = path
        for index, (action_id, output) in enumerate(self.steps):
            if wanted in (index, action_id):
                return value_at({"output": output}, tuple(rest))
        return MISSING


def check_templates(
    config: Any, *, path: str = "", secrets_allowed: Callable[[str], bool]
) -> list[TemplateProblem]:
    """Return what is wrong with the templates of `config`, at most one problem for each text.

    `path` is the place of `config` itself, put before each problem's path. `secrets_allowed` is
    asked for a place within `config` (`headers.Authorization`) whether secrets may stand there.
    """
    problems = []
    for steps, text in _texts(config, ()):
        place = path_text(steps)
        try:
            tokens = [part for part in parse_template(text) if isinstance(part, Token)]
        except TemplateError as error:
            problems.append(TemplateProblem(_joined(path, place), "TEMPLATE_INVALID", str(error)))
            continue
        message = _secret_problem(tokens, place, secrets_allowed)
        if message is not None:
            problems.append(TemplateProblem(_joined(path, place), "SECRET_INVALID", message))
    return problems


def _nowhere(_place: str) -> bool:
    return False


def interpolate(
    config: Any,
    roots: Mapping[str, Any],
    required: Callable[[str], bool],
    is_html: Callable[[str], bool] = _nowhere,
) -> Interpolated:
    """Return `config` with every template replaced by its value from `roots`.

    A text that is one lone token becomes the value itself, null if it is missing. In a text, texts
    stand as they are and other values as JSON; a missing one is empty and listed. `required` is
    asked for a place (`recordId`, `to[0]`, `headers["X-Id"]`) whether a value must be there: then
    neither missing nor null will do. Where `is_html` says so, values are text within HTML: markup
    in them is shown, not obeyed. `roots` holds plain JSON, and `ActionOutputs` as `actions`; or a
    function that returns it, called once, and only if a template starts there.

    Raises:
        FatalError: TEMPLATE_MISSING, a required place lacks its value; SECRET_UNKNOWN, there is no
            such secret; ACTION_CONFIG_INVALID, a stored template is unreadable, or the result is
            above 64 KB of JSON.
    """
    filling = _Filling(roots, required, is_html)
    filled = filling.fill(config, ())
    if len(dumps(filled).encode()) > INTERPOLATED_MAX_BYTES:
        raise _too_large()
    return Interpolated(filled, list(filling.missing))


@dataclass(slots=True)
class _Filling:
    roots: Mapping[str, Any]
    required: Callable[[str], bool]
    is_html: Callable[[str], bool]
    # The roots that were asked for so far.
    known: dict[str, Any] = field(default_factory=dict)
    # A dict as an ordered set.
    missing: dict[str, None] = field(default_factory=dict)
    # A config of few bytes may name a large value many times: stop before it is all in memory.
    chars_left: int = INTERPOLATED_MAX_BYTES

    def fill(self, value: Any, place: Path) -> Any:
        match value:
            case str() if "{{" in value:
                return self._fill_text(value, place)
            case dict():
                return {key: self.fill(item, (*place, key)) for key, item in value.items()}
            case list():
                return [self.fill(item, (*place, index)) for index, item in enumerate(value)]
        return value

    def _fill_text(self, text: str, place: Path) -> Any:
        try:
            parts = parse_template(text)
        except TemplateError as error:
            raise FatalError("ACTION_CONFIG_INVALID", f"{path_text(place)}: {error}") from error
        match parts:
            case (Token() as token,):
                return self._lone(token, place)
        return "".join(
            self._in_text(part, place) if isinstance(part, Token) else part for part in parts
        )

    def _lone(self, token: Token, place: Path) -> Any:
        value = self._value(token, place)
        if value is MISSING:
            return None
        written = self._written(value, place)
        return written if self.is_html(path_text(place)) else value

    def _in_text(self, token: Token, place: Path) -> str:
        value = self._value(token, place)
        if value is MISSING:
            self.missing[token.text] = None
            return ""
        return self._written(value, place)

    def _written(self, value: Any, place: Path) -> str:
        text = value if isinstance(value, str) else dumps(value)
        return self._spend(escape(text) if self.is_html(path_text(place)) else text)

    def _value(self, token: Token, place: Path) -> Any:
        value = _value_of(self._root(token.root), token.rest)
        if value is MISSING and token.root == "secrets":
            raise FatalError("SECRET_UNKNOWN", f"{path_text(place)}: no secret {token.text}")
        if (value is MISSING or value is None) and self.required(path_text(place)):
            raise FatalError("TEMPLATE_MISSING", f"{path_text(place)}: {token.text} has no value")
        return value

    def _root(self, name: str) -> Any:
        if name not in self.known:
            root = self.roots.get(name, MISSING)
            self.known[name] = root() if callable(root) else root
        return self.known[name]

    def _spend(self, text: str) -> str:
        self.chars_left -= len(text)
        if self.chars_left < 0:
            raise _too_large()
        return text


def _value_of(root: Any, path: Path) -> Any:
    return root.value_at(path) if isinstance(root, ActionOutputs) else value_at(root, path)


def _too_large() -> FatalError:
    limit_kb = INTERPOLATED_MAX_BYTES // 1024
    return FatalError("ACTION_CONFIG_INVALID", f"with its values the config is above {limit_kb} KB")


def _texts(value: Any, place: Path) -> Iterator[tuple[Path, str]]:
    match value:
        case str():
            yield place, value
        case dict():
            for key, item in value.items():
                yield from _texts(item, (*place, key))
        case list():
            for index, item in enumerate(value):
                yield from _texts(item, (*place, index))


def _secret_problem(
    tokens: list[Token], place: str, secrets_allowed: Callable[[str], bool]
) -> str | None:
    secrets = [token for token in tokens if token.root == "secrets"]
    if not secrets:
        return None
    if not secrets_allowed(place):
        return "a secret may not stand here"
    if not all(_names_a_secret(token.rest) for token in secrets):
        return "a secret is named secrets.NAME, NAME being A-Z, 0-9 and _, at most 64 characters"
    return None


def _names_a_secret(path: Path) -> bool:
    return len(path) == 1 and _SECRET_NAME.fullmatch(str(path[0])) is not None


def _joined(path: str, place: str) -> str:
    return path + ("." if path and place and not place.startswith("[") else "") + place
