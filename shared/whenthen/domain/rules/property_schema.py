"""What the properties of a database may be: their names, types and options.

A stored schema is a list of `{"name": "Status", "type": "select", "options": [{"id": "opt_1f…",
"name": "A"}]}`; `select` and `multi_select` have options, the others do not.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import count
from typing import Any, Final

from whenthen.domain.errors import InvalidError
from whenthen.domain.kinds import PropertyType
from whenthen.domain.rules.data_path import path_text
from whenthen.domain.rules.property_name import canonical_name

TYPES_WITH_OPTIONS: Final = frozenset({PropertyType.SELECT, PropertyType.MULTI_SELECT})

_Problem = tuple[tuple[str | int, ...], str, str]


def normalise_schema(properties: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the properties `[{"name", "type", "options"?}]` in their stored form.

    An option is `{"id"?, "name"}` or a bare name. An id that is given stays, which is how an option
    is renamed; without one it is made from the name, so that the same names give the same ids.

    Raises:
        InvalidError: VALIDATION_FAILED, a name or option stands twice, a type is unknown, or
            options are missing or do not belong there; with a detail for each.
    """
    problems = list(_problems(properties))
    if problems:
        details = [
            {"path": path_text(steps), "message": message, "type": kind}
            for steps, message, kind in problems
        ]
        raise InvalidError("VALIDATION_FAILED", "the properties are not valid", details)
    return [_stored(given) for given in properties]


def _problems(properties: Sequence[Mapping[str, Any]]) -> Iterable[_Problem]:
    names = [canonical_name(given["name"]) for given in properties]
    for place in _repeats(names):
        yield ("properties", place, "name"), "stands twice", "property_repeated"
    for place, given in enumerate(properties):
        at = ("properties", place)
        if given["type"] not in set(PropertyType):
            yield (*at, "type"), "is not a known type", "property_type"
        elif (given["type"] in TYPES_WITH_OPTIONS) != (given.get("options") is not None):
            yield (*at, "options"), "belongs to select and multi_select, and only there", "options"
        else:
            for option in _repeated_options(given.get("options") or []):
                yield (*at, "options", option), "stands twice", "option_repeated"


def _repeated_options(options: Sequence[str | Mapping[str, Any]]) -> list[int]:
    named = [_option(option) for option in options]
    names = _repeats([option["name"] for option in named])
    ids = _repeats([option.get("id") or position for position, option in enumerate(named)])
    return sorted({*names, *ids})


def _repeats(values: Sequence[Any]) -> list[int]:
    first = {value: place for place, value in reversed(list(enumerate(values)))}
    return [place for place, value in enumerate(values) if first[value] != place]


def _stored(given: Mapping[str, Any]) -> dict[str, Any]:
    stored = {"name": canonical_name(given["name"]), "type": str(given["type"])}
    if given.get("options") is None:
        return stored
    options = [_option(option) for option in given["options"]]
    taken = {option["id"] for option in options if option.get("id")}
    return {**stored, "options": [_with_id(option, taken) for option in options]}


def _option(given: str | Mapping[str, Any]) -> Mapping[str, Any]:
    return {"name": given} if isinstance(given, str) else given


def _with_id(option: Mapping[str, Any], taken: set[str]) -> dict[str, str]:
    name = option["name"]
    if option.get("id"):
        return {"id": option["id"], "name": name}
    # A renamed option keeps the id of its first name, so a new option of that name needs another.
    candidates = (f"opt_{sha256(f'{n}{name}'.encode()).hexdigest()[:12]}" for n in count())
    fresh = next(candidate for candidate in candidates if candidate not in taken)
    taken.add(fresh)
    return {"id": fresh, "name": name}
