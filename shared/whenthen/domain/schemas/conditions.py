"""The condition tree: its shape and its limits. What it means stands in rules/condition.py.

::

    {"and": [{"field": {"ref": "property", "name": "Status"}, "operator": "eq", "value": "B"},
             {"not": {"field": {"ref": "event", "path": "a.b"}, "operator": "is_empty"}}]}

Plain dicts that were checked once: the evaluator walks them as they are stored. The walk here is
by hand, as pydantic would follow a hostile tree of thousands of levels to its end.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from whenthen.domain import limits
from whenthen.domain.errors import InvalidError
from whenthen.domain.rules.data_path import PathError, Step, parse_path
from whenthen.domain.rules.pattern import PatternError, compile_pattern
from whenthen.domain.schemas.details import DETAILS_MAX, Detail, detail

Condition = dict[str, Any]

EVENT_PATH_MAX_CHARS: Final = 512


def parse_condition(value: Any, path: str = "condition") -> Condition | None:
    """Return the JSON `value`, which is a valid condition tree or null (always true).

    `path` is where the tree stands in the body; the details' paths begin with it.

    Raises:
        InvalidError: `CONDITION_INVALID`, with the first 50 faults as details.

    """
    if value is None:
        return None
    walk = _Walk(path)
    walk.node(value, (path,), depth=1)
    if walk.details:
        first = walk.details[0]
        raise InvalidError(
            "CONDITION_INVALID", f"{first['path']}: {first['message']}", walk.details
        )
    return dict(value)


def _text(value: Any) -> str | None:
    return None if isinstance(value, str) else "must be a text"


def _scalar(value: Any) -> str | None:
    fits = isinstance(value, str | bool | int | float | Decimal)
    return None if fits else "must be a text, a number or true or false"


def _orderable(value: Any) -> str | None:
    fits = isinstance(value, str | int | float | Decimal) and not isinstance(value, bool)
    return None if fits else "must be a number or a text"


def _anything(_: Any) -> str | None:
    return None


def _choice(value: Any) -> str | None:
    return None if isinstance(value, list) and value else "must be a list of at least one value"


def _pattern(value: Any) -> str | None:
    if not isinstance(value, str) or not 1 <= len(value) <= limits.PATTERN_MAX_CHARS:
        return f"must be a pattern of 1 to {limits.PATTERN_MAX_CHARS} characters"
    try:
        compile_pattern(value)
    except PatternError as error:
        return str(error)
    return None


# What the value beside an operator must be: a fault in words, or None.
_VALUE_CHECKS: Final[Mapping[str, Callable[[Any], str | None]]] = {
    "eq": _anything,
    "neq": _anything,
    "gt": _orderable,
    "gte": _orderable,
    "lt": _orderable,
    "lte": _orderable,
    "contains": _scalar,
    "not_contains": _scalar,
    "starts_with": _text,
    "ends_with": _text,
    "in": _choice,
    "not_in": _choice,
    "matches": _pattern,
}
_WITHOUT_VALUE: Final = frozenset({"is_empty", "is_not_empty", "changed"})
# The key beside `ref`, and the longest text that it may hold.
_REFERENCES: Final = {
    "property": ("name", limits.NAME_MAX_CHARS),
    "event": ("path", EVENT_PATH_MAX_CHARS),
}


class _Walk:
    """One pass over a tree that collects its faults and stops when there are enough."""

    def __init__(self, root: str) -> None:
        self.details: list[Detail] = []
        self._root = root
        self._leaves = 0

    def node(self, node: Any, steps: tuple[Step, ...], depth: int) -> None:
        if depth > limits.CONDITION_MAX_DEPTH:
            self._add(
                steps, f"is nested more than {limits.CONDITION_MAX_DEPTH} levels deep", "depth"
            )
        elif not isinstance(node, dict):
            self._add(steps, "must be an object", "condition")
        else:
            branch = next((name for name in ("and", "or", "not") if name in node), None)
            if branch is None:
                self._leaf(node, steps)
            else:
                self._branch(branch, node, steps, depth)

    def _branch(self, name: str, node: dict[str, Any], steps: tuple[Step, ...], depth: int) -> None:
        self._refuse_others(node, {name}, steps)
        below = (*steps, name)
        if name == "not":
            self.node(node["not"], below, depth + 1)
        elif not isinstance(node[name], list) or not node[name]:
            self._add(below, "must be a list of at least one condition", "condition_list")
        else:
            for index, part in enumerate(node[name]):
                if self._is_over():
                    return
                self.node(part, (*below, index), depth + 1)

    def _is_over(self) -> bool:
        return len(self.details) >= DETAILS_MAX or self._leaves > limits.CONDITION_MAX_LEAVES

    def _leaf(self, leaf: dict[str, Any], steps: tuple[Step, ...]) -> None:
        self._leaves += 1
        if self._leaves > limits.CONDITION_MAX_LEAVES:
            message = f"has more than {limits.CONDITION_MAX_LEAVES} comparisons"
            self._add((self._root,), message, "leaves")
            return
        self._refuse_others(leaf, {"field", "operator", "value"}, steps)
        self._field(leaf.get("field"), (*steps, "field"))
        operator = leaf.get("operator")
        if not isinstance(operator, str) or operator not in _VALUE_CHECKS.keys() | _WITHOUT_VALUE:
            self._add((*steps, "operator"), "is not a known operator", "operator")
        else:
            self._value(leaf, operator, (*steps, "value"))

    def _value(self, leaf: dict[str, Any], operator: str, steps: tuple[Step, ...]) -> None:
        if operator in _WITHOUT_VALUE:
            if "value" in leaf:
                self._add(steps, f"does not belong to {operator}", "value")
        elif "value" not in leaf:
            self._add(steps, f"is required by {operator}", "value")
        elif fault := _VALUE_CHECKS[operator](leaf["value"]):
            self._add(steps, fault, "value")

    def _field(self, field: Any, steps: tuple[Step, ...]) -> None:
        if not isinstance(field, dict):
            self._add(steps, "must be an object", "field")
            return
        ref = field.get("ref")
        if not isinstance(ref, str) or ref not in _REFERENCES:
            self._add((*steps, "ref"), 'must be "property" or "event"', "field")
            return
        key, max_chars = _REFERENCES[ref]
        self._refuse_others(field, {"ref", key}, steps)
        text = field.get(key)
        if not isinstance(text, str) or not 1 <= len(text) <= max_chars:
            self._add((*steps, key), f"must be a text of 1 to {max_chars} characters", "field")
        elif key == "path" and not _is_path(text):
            self._add((*steps, key), "must be a path such as a.b[0]", "field")

    def _refuse_others(
        self, node: dict[str, Any], known: set[str], steps: tuple[Step, ...]
    ) -> None:
        for key in (key for key in node if key not in known):
            self._add((*steps, key), "is not a known key", "extra_forbidden")

    def _add(self, steps: tuple[Step, ...], message: str, kind: str) -> None:
        if len(self.details) < DETAILS_MAX:
            self.details.append(detail(steps, message, kind))


def _is_path(text: str) -> bool:
    try:
        parse_path(text)
    except PathError:
        return False
    return True
