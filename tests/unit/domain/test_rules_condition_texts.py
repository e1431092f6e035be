"""What the operators on texts and lists answer: contains, starts_with, ends_with, matches."""

import time
from decimal import Decimal
from typing import Any

import pytest

from whenthen.domain.kinds import PropertyType
from whenthen.domain.rules.condition_operators import COMPARISONS

CHECKBOX = PropertyType.CHECKBOX
TEXT_OPERATORS = ("contains", "not_contains", "starts_with", "ends_with", "matches")


def ask(operator: str, left: Any, right: Any, kind: PropertyType | None = None) -> bool | None:
    return COMPARISONS[operator](left, right, kind)


@pytest.mark.parametrize(
    ("operator", "left", "right", "answer"),
    [
        ("contains", "Leaking tap", "tap", True),
        ("contains", "Leaking tap", "Tap", False),
        ("contains", "x", "", True),
        ("contains", "cafe\u0301", "fé", True),
        ("starts_with", "Leaking tap", "Leak", True),
        ("starts_with", "Leaking tap", "leak", False),
        ("starts_with", "e\u0301t", "é", True),
        ("ends_with", "Leaking tap", "tap", True),
        ("ends_with", "Leaking tap", "tap ", False),
        ("matches", "Leaking tap", "k.*t", True),
        ("matches", "Leaking tap", "^tap$", False),
        ("matches", "Leaking tap", "(?i)TAP", True),
        ("matches", "été", "^.t.$", True),
        ("matches", "e\u0301", "^é$", True),
        ("matches", "é", "^e\u0301+$", True),
    ],
)
def test_texts_are_searched_in_nfc_and_case_counts(
    operator: str, left: str, right: str, *, answer: bool
) -> None:
    assert ask(operator, left, right) is answer


@pytest.mark.parametrize("other", [None, 10, 1.5, Decimal("1.10"), True, {}, {"a": 1}], ids=repr)
@pytest.mark.parametrize("operator", TEXT_OPERATORS)
def test_case_067_text_operators_on_anything_but_texts_are_unknown(
    operator: str, other: Any
) -> None:
    assert ask(operator, other, "1") is None
    assert ask(operator, "1", other) is None


@pytest.mark.parametrize("operator", ["starts_with", "ends_with", "matches"])
def test_a_list_has_no_beginning_end_or_pattern(operator: str) -> None:
    assert ask(operator, ["a"], "a") is None


@pytest.mark.parametrize(
    ("left", "right", "kind", "answer"),
    [
        (["red", "blue"], "red", None, True),
        (["red", "blue"], "re", None, False),
        (["red"], "Red", None, False),
        (["e\u0301"], "é", None, True),
        ([1, 2], 2.0, None, True),
        ([1, 2], "2", None, True),
        ([1], True, None, False),
        ([["a"]], ["a"], None, True),
        (["a"], ["a"], None, False),
        (["true"], True, CHECKBOX, True),
        ([], "a", None, False),
        (["a"], None, None, None),
        ([None], None, None, None),
        ("red", ["red"], None, None),
    ],
)
def test_contains_on_a_list_is_membership(
    left: Any, right: Any, kind: PropertyType | None, *, answer: bool | None
) -> None:
    assert ask("contains", left, right, kind) is answer
    assert ask("not_contains", left, right, kind) is (None if answer is None else not answer)


@pytest.mark.parametrize("pattern", ["(", r"(a)\1", "(?=a)", "[z-a]", r"(\pL{1,50}){1,19}"])
def test_a_failing_pattern_is_unknown(pattern: str) -> None:
    assert ask("matches", "a", pattern) is None


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*c", ".*.*.*.*x$"])
@pytest.mark.parametrize("length", [30, 4_096, 65_536])
def test_case_074_no_pattern_freezes_the_worker(pattern: str, length: int) -> None:
    started = time.process_time()
    assert ask("matches", "a" * length + "b", pattern) is False
    assert time.process_time() - started < 5
