"""Which values a record's properties may have, which of them changed, and how they merge.

============  =====================================================================  ==============
type          value                                                                  stored as
============  =====================================================================  ==============
text          text                                                                   given
number        number, or a plain decimal string such as "12.50"                      number
checkbox      true, false                                                            given
select        an option's name or id                                                 its name
multi_select  list of options' names or ids; repeats are dropped                     their names
date          ISO 8601 date or date and time                                         given
person        id of a member                                                         given
url           http or https URL                                                      given
email         one address                                                            given
============  =====================================================================  ==============

null clears a property of any type: absent and null are the same.
"""

import re
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, Final

from whenthen.domain.errors import FatalError
from whenthen.domain.instants import parse_instant
from whenthen.domain.json_text import JsonError, loads
from whenthen.domain.kinds import PropertyType
from whenthen.domain.limits import NAME_MAX_CHARS
from whenthen.domain.rules.data_path import path_text
from whenthen.domain.rules.exact_number import number_value, plain_decimal_value
from whenthen.domain.rules.property_name import canonical_name
from whenthen.domain.rules.same_value import same_value

Schema = Sequence[Mapping[str, Any]]
Problem = dict[str, str]
_Options = Sequence[Mapping[str, str]]
_Read = Callable[[Any, _Options, Container[str]], Any]

_URL: Final = re.compile(r"https?://[^\s/?#]\S*", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"[^\s@<>,;]+@[^\s@<>,;]+")

# What a reader returns for a value that does not fit; None would be a fitting one.
_UNFIT: Final = object()


def check_values(
    schema: Schema, values: Mapping[str, Any], *, people: Container[str]
) -> dict[str, Any]:
    """Return `values` (name → value, null clears) in the form in which records store them.

    `schema` is `[{"name", "type", "options"?}]`, `people` the ids of the workspace's members.

    Raises:
        FatalError: PROPERTY_INVALID, a property is unknown or a value does not fit its type. The
            message names the property, never the value.
    """
    stored, problems = value_problems(schema, values, people)
    if problems:
        first = problems[0]
        raise FatalError("PROPERTY_INVALID", f"{first['path']}: {first['message']}")
    return stored


def value_problems(
    schema: Schema, values: Mapping[str, Any], people: Container[str]
) -> tuple[dict[str, Any], list[Problem]]:
    """Return the values that fit, as stored, and `{path, message, type}` for each that does not."""
    properties = {known["name"]: known for known in schema}
    stored: dict[str, Any] = {}
    problems: list[Problem] = []
    for given, value in values.items():
        name = canonical_name(given)
        if name not in properties:
            problems.append(
                _problem(name, "is not a property of this database", "property_unknown")
            )
            continue
        known = properties[name]
        expected, read = _RULES[PropertyType(known["type"])]
        fit = None if value is None else read(value, known.get("options") or (), people)
        if fit is _UNFIT:
            problems.append(_problem(name, f"must be {expected}", "property_value"))
        else:
            stored[name] = fit
    return stored, problems


def merge(old: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of a record after `patch`: null takes a property away."""
    return {name: value for name, value in {**old, **patch}.items() if value is not None}


def changed_properties(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return the names, in order, of the properties whose values differ; absent is null.

    Numbers differ by their value, however written: 1, 1.0 and 1.00 are the same, true is none.
    """
    return sorted(
        name for name in old.keys() | new.keys() if not same_value(old.get(name), new.get(name))
    )


def _problem(name: str, message: str, kind: str) -> Problem:
    path = path_text(("properties", name[:NAME_MAX_CHARS]))
    return {"path": path, "message": message, "type": kind}


def _text_that(fits: Callable[[str], object]) -> _Read:
    return lambda value, _options, _people: (
        value if isinstance(value, str) and fits(value) else _UNFIT
    )


def _person(value: Any, _options: _Options, people: Container[str]) -> Any:
    return value if isinstance(value, str) and value in people else _UNFIT


def _checkbox(value: Any, _options: _Options, _people: Container[str]) -> Any:
    return value if isinstance(value, bool) else _UNFIT


def _number(value: Any, _options: _Options, _people: Container[str]) -> Any:
    if not isinstance(value, str):
        return _UNFIT if number_value(value) is None else value
    if plain_decimal_value(value) is None:
        return _UNFIT
    try:
        return loads(value)
    except JsonError:  # more digits than a number may have
        return _UNFIT


def _select(value: Any, options: _Options, _people: Container[str]) -> Any:
    names = {option["id"]: option["name"] for option in options}
    # After the ids: of two options that a text may mean, its name says it plainly.
    names |= {name: name for name in names.values()}
    return names.get(value, _UNFIT) if isinstance(value, str) else _UNFIT


def _multi_select(value: Any, options: _Options, people: Container[str]) -> Any:
    if not isinstance(value, list):
        return _UNFIT
    names = [_select(item, options, people) for item in value]
    return _UNFIT if _UNFIT in names else list(dict.fromkeys(names))


# What a value must be, in words and as the function that reads it.
_RULES: Final[Mapping[PropertyType, tuple[str, _Read]]] = {
    PropertyType.TEXT: ("a text", _text_that(lambda _: True)),
    PropertyType.NUMBER: ("a number, or a plain decimal string", _number),
    PropertyType.CHECKBOX: ("true or false", _checkbox),
    PropertyType.SELECT: ("the name of one of its options", _select),
    PropertyType.MULTI_SELECT: ("a list of names of its options", _multi_select),
    PropertyType.DATE: ("an ISO 8601 date, or date and time", _text_that(parse_instant)),
    PropertyType.PERSON: ("the id of a member of the workspace", _person),
    PropertyType.URL: ("an http or https URL", _text_that(_URL.fullmatch)),
    PropertyType.EMAIL: ("an e-mail address", _text_that(_ADDRESS.fullmatch)),
}
