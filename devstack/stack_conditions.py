"""Which of a template's conditions hold, for the values that its parameters have."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from devstack.errors import StackError

Json = dict[str, Any]


def conditions_of(template: Json, parameters: Mapping[str, str]) -> Callable[[str], bool]:
    """Return whether a condition holds, by its name; CloudFormation compares as text.

    Raises (when asked):
        StackError: a function that no condition of ours uses.

    """
    declared = template.get("Conditions", {})

    @cache
    def holds(name: str) -> bool:
        return _holds(declared[name], holds, parameters)

    return holds


def _holds(condition: Json, named: Callable[[str], bool], parameters: Mapping[str, str]) -> bool:
    ((function, argument),) = condition.items()
    if function == "Condition":
        return named(argument)
    if function == "Fn::Equals":
        first, second = (_text(value, parameters) for value in argument)
        return first == second
    if function not in {"Fn::Not", "Fn::And", "Fn::Or"}:
        raise StackError(f"the local stack does not follow {function} in conditions")
    parts = [_holds(part, named, parameters) for part in argument]
    if function == "Fn::Not":
        return not parts[0]
    return all(parts) if function == "Fn::And" else any(parts)


def _text(value: Any, parameters: Mapping[str, str]) -> str:
    if not isinstance(value, dict):
        return str(value)
    ((function, argument),) = value.items()
    if function == "Ref":
        return parameters[argument]
    if function == "Fn::Join":
        separator, parts = argument
        # A list parameter is one text here, its entries separated by commas.
        return _text(parts, parameters).replace(",", separator)
    raise StackError(f"the local stack does not follow {function} in conditions")
