"""Which secrets the templates of a config name, and which of its texts people are told."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from whenthen.domain.kinds import ActionType
from whenthen.domain.rules.data_path import Path, path_text
from whenthen.domain.rules.redact import redact
from whenthen.domain.rules.template_places import may_hold_secret
from whenthen.domain.rules.template_syntax import TemplateError, Token, parse_template

_TOLD: Final[Mapping[ActionType, Sequence[str]]] = {
    ActionType.CREATE_NOTIFICATION: ("title", "body"),
    ActionType.SEND_EMAIL: ("subject", "text", "html"),
}


def named_secrets(action_type: ActionType, config: Any) -> frozenset[str]:
    """Return the names of the secrets that a stored `config` names where it may.

    What is no template that can be read names nothing.
    """
    if action_type != ActionType.SEND_WEBHOOK:
        return frozenset()
    return frozenset(
        str(token.rest[0])
        for place, text in _texts(config, ())
        if may_hold_secret(action_type, path_text(place))
        for token in _tokens(text)
        if token.root == "secrets"
    )


def tells_people(action_type: ActionType) -> bool:
    """Return whether texts of such an action are meant for people."""
    return action_type in _TOLD


def redact_told(
    action_type: ActionType, config: Mapping[str, Any], secrets: Sequence[str]
) -> dict[str, Any]:
    """Return the filled-in `config` with `secrets` taken out of what people are told.

    Ids, addresses and values of records stay as they are: they are data, not words.
    """
    told = {
        key: redact(config[key], secrets) for key in _TOLD.get(action_type, ()) if key in config
    }
    return {**config, **told}


def _texts(value: Any, place: Path) -> Iterator[tuple[Path, str]]:
    match value:
        case str() if "{{" in value:
            yield place, value
        case dict():
            for key, item in value.items():
                yield from _texts(item, (*place, key))
        case list():
            for index, item in enumerate(value):
                yield from _texts(item, (*place, index))


def _tokens(text: str) -> list[Token]:
    try:
        return [part for part in parse_template(text) if isinstance(part, Token)]
    except TemplateError:
        return []
