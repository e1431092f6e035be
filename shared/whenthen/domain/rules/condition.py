"""Whether an event passes an automation's condition, and why.

How two values compare; `kind` is the type of the property, and a pair may be read either way round:

=====================  ==========================  ===========================================
pair                   eq, neq                     gt, gte, lt, lte
=====================  ==========================  ===========================================
number, number         exact: no rounding, any     exact
                       number of digits
number, plain decimal  as numbers: 200 = "200.0"   as numbers: "10" > 9
number, other text     unequal: "007", "1e3"       unknown
text, text             NFC, case-sensitive         by code point; of a number property as
                                                   numbers when both are plain decimals
ISO 8601, ISO 8601     as instants, when one has   likewise
                       an offset or it is a date
                       property; naive is UTC
bool, bool             as bools                    unknown
bool, "true"/"false"   as bools, of a checkbox     unknown
null, null             equal                       unknown
list, list             equal member by member      unknown
object, object         equal member by member      unknown
any other pair         unequal                     unknown
=====================  ==========================  ===========================================

- absent is null. `in` asks for equality with one of a list, and is never unknown.
- `contains` on a list asks for equality with one member. Otherwise `contains`, `starts_with`,
  `ends_with` and `matches` need two texts (NFC, case-sensitive), else they are unknown.
- `is_empty`: absent, null, "", [] and {}; not 0, false, "0" or " ".
- `changed`: the property is one of the event's `changedProperties`.
- `neq`, `not_contains`, `not_in`, `is_not_empty` are exact negations; unknown stays unknown.

`and`, `or`, `not` follow Kleene: false and unknown is false, true or unknown is true. A root that
is unknown counts as false, so nothing passes by mistake.

Source: docs/architecture.md, "Conditions".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from whenthen.domain.errors import FatalError
from whenthen.domain.kinds import PropertyType
from whenthen.domain.limits import CONDITION_MAX_DEPTH
from whenthen.domain.rules.condition_operators import COMPARISONS, is_empty, negation
from whenthen.domain.rules.data_path import MISSING, PathError, parse_path, value_at
from whenthen.domain.rules.property_name import share_a_name, value_named
from whenthen.domain.rules.short_value import short_value


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Whether the condition holds, and the tree of reasons; no tree where there is no condition.

    A leaf is `{"op": "eq", "left": "A", "right": "B", "result": false}`, `left` being the value
    found; a branch is `{"op": "and", "args": [...], "result": null}`. A `result` of null is
    unknown. Large values are shortened.
    """

    result: bool
    explain: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class _Facts:
    event: Mapping[str, Any]
    properties: Mapping[str, Any]
    property_types: Mapping[str, PropertyType]


@dataclass(frozen=True, slots=True)
class _Operand:
    value: Any
    kind: PropertyType | None
    changed: bool | None


def evaluate(
    tree: Mapping[str, Any] | None,
    event: Mapping[str, Any],
    properties: Mapping[str, Any],
    property_types: Mapping[str, PropertyType],
) -> Evaluation:
    """Return whether the condition `tree` holds for an event; without a tree it does.

    `event` is the flattened trigger event, `properties` name → value of the record it is about,
    `property_types` name → type as far as they are known. Every node is looked at, so that the
    explanation is whole.

    Raises:
        FatalError: CONDITION_INVALID, a stored tree that is not a valid condition (any longer).
    """
    if tree is None:
        return Evaluation(result=True, explain=None)
    explain = _explain(tree, _Facts(event, properties, property_types), depth=1)
    return Evaluation(explain["result"] is True, explain)


def _explain(node: Any, facts: _Facts, depth: int) -> dict[str, Any]:
    if depth > CONDITION_MAX_DEPTH:
        raise _invalid("too deep")
    match node:
        case {"and": [_, *_] as parts, **extra} if not extra:
            args = [_explain(part, facts, depth + 1) for part in parts]
            return {"op": "and", "args": args, "result": _all(args)}
        case {"or": [_, *_] as parts, **extra} if not extra:
            args = [_explain(part, facts, depth + 1) for part in parts]
            return {"op": "or", "args": args, "result": _any(args)}
        case {"not": part, **extra} if not extra:
            arg = _explain(part, facts, depth + 1)
            return {"op": "not", "args": [arg], "result": negation(arg["result"])}
        case {"field": field, "operator": str(operator), **rest}:
            return _explain_leaf(_operand(field, facts), operator, rest)
    raise _invalid("unknown shape")


def _all(args: list[dict[str, Any]]) -> bool | None:
    results = [arg["result"] for arg in args]
    return False if False in results else None if None in results else True


def _any(args: list[dict[str, Any]]) -> bool | None:
    results = [arg["result"] for arg in args]
    return True if True in results else None if None in results else False


def _explain_leaf(left: _Operand, operator: str, rest: Mapping[Any, Any]) -> dict[str, Any]:
    match rest:
        case {"value": right, **extra} if not extra:
            result = _compared(left, operator, right)
        case _ if not rest:
            right, result = None, _asked(left, operator)
        case _:
            raise _invalid("unknown shape")
    return {
        "op": operator,
        "left": short_value(left.value),
        "right": short_value(right),
        "result": result,
    }


def _compared(left: _Operand, operator: str, right: Any) -> bool | None:
    if operator not in COMPARISONS:
        raise _invalid("unknown operator, or one that takes no value")
    if operator in {"in", "not_in"} and not isinstance(right, list):
        raise _invalid(f"{operator} takes a list")
    return COMPARISONS[operator](left.value, right, left.kind)


def _asked(operand: _Operand, operator: str) -> bool | None:
    match operator:
        case "is_empty":
            return is_empty(operand.value)
        case "is_not_empty":
            return not is_empty(operand.value)
        case "changed":
            return operand.changed
    raise _invalid("unknown operator, or one that takes a value")


def _operand(field: Any, facts: _Facts) -> _Operand:
    match field:
        case {"ref": "property", "name": str(name), **extra} if not extra:
            listed = facts.event.get("changedProperties")
            changed = (
                [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []
            )
            return _Operand(
                value=value_named(facts.properties, name),
                kind=value_named(facts.property_types, name),
                changed=share_a_name([name], changed),
            )
        case {"ref": "event", "path": str(text), **extra} if not extra:
            found = value_at(dict(facts.event), _path(text))
            # Only of properties does an event say whether they changed.
            return _Operand(None if found is MISSING else found, kind=None, changed=None)
    raise _invalid("unknown field")


def _path(text: str) -> tuple[str | int, ...]:
    try:
        return parse_path(text)
    except PathError as error:
        raise _invalid("unreadable path") from error


def _invalid(reason: str) -> FatalError:
    return FatalError("CONDITION_INVALID", f"the stored condition is not valid: {reason}")
