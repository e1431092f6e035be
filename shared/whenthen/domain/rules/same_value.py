"""Whether two JSON values are one and the same, as a write that changes nothing must know."""

from typing import Any

from whenthen.domain.rules.exact_number import number_value


def same_value(left: Any, right: Any) -> bool:
    """Return whether two JSON values are equal: `1`, `1.0` and `1.00` are, `1` and `true` not."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same_value(left[k], right[k]) for k in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same_value, left, right))
    one, other = number_value(left), number_value(right)
    # Python itself takes the float 1.1 and the Decimal 1.10 for two numbers.
    return bool(left == right) if one is None or other is None else one == other
