"""What each operator of a condition answers: True, False, or None for unknown.

Unknown is the answer to a question that makes no sense for its operands. A negative operator is
the exact negation of its positive one, so `not_contains` of an absent text is unknown too.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from whenthen.domain.kinds import PropertyType
from whenthen.domain.rules.condition_compare import canonical_text, compare, is_equal
from whenthen.domain.rules.pattern import PatternError, compile_pattern

Operator = Callable[[Any, Any, PropertyType | None], bool | None]


def is_empty(value: Any) -> bool:
    """Return whether a value is absent, null, "", [] or {}; 0, false, "0" and " " are not empty."""
    return value is None or (isinstance(value, str | list | dict) and not value)


def negation(answer: bool | None) -> bool | None:  # noqa: FBT001 - a truth value is its subject
    """Return the opposite of an answer; the opposite of unknown is unknown."""
    return None if answer is None else not answer


def _in(left: Any, right: Any, kind: PropertyType | None) -> bool:
    return any(is_equal(left, member, kind) for member in right)


def _contains(left: Any, right: Any, kind: PropertyType | None) -> bool | None:
    if isinstance(left, list) and right is not None:
        return _in(right, left, kind)
    return _on_texts(str.__contains__, left, right)


def _starts_with(left: Any, right: Any, _kind: PropertyType | None) -> bool | None:
    return _on_texts(str.startswith, left, right)


def _ends_with(left: Any, right: Any, _kind: PropertyType | None) -> bool | None:
    return _on_texts(str.endswith, left, right)


def _matches(left: Any, right: Any, _kind: PropertyType | None) -> bool | None:
    return _on_texts(_found, left, right)


def _found(text: str, pattern: str) -> bool | None:
    try:
        return compile_pattern(pattern).search(text) is not None
    except PatternError:
        return None


def _on_texts(question: Callable[[str, str], bool | None], left: Any, right: Any) -> bool | None:
    if not (isinstance(left, str) and isinstance(right, str)):
        return None
    return question(canonical_text(left), canonical_text(right))


def _ordered(holds: Callable[[int], bool]) -> Operator:
    def answer(left: Any, right: Any, kind: PropertyType | None) -> bool | None:
        order = compare(left, right, kind)
        return None if order is None else holds(order)

    return answer


def _not(operator: Operator) -> Operator:
    return lambda left, right, kind: negation(operator(left, right, kind))


# `is_empty`, `is_not_empty` and `changed` compare nothing; `condition.py` answers them.
COMPARISONS: Final[Mapping[str, Operator]] = {
    "eq": is_equal,
    "neq": _not(is_equal),
    "gt": _ordered(lambda order: order > 0),
    "gte": _ordered(lambda order: order >= 0),
    "lt": _ordered(lambda order: order < 0),
    "lte": _ordered(lambda order: order <= 0),
    "contains": _contains,
    "not_contains": _not(_contains),
    "starts_with": _starts_with,
    "ends_with": _ends_with,
    "in": _in,
    "not_in": _not(_in),
    "matches": _matches,
}
