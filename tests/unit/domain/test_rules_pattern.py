"""Which patterns `matches` takes."""

import time

import pytest

from whenthen.domain.rules.pattern import PatternError, compile_pattern


@pytest.mark.parametrize("pattern", ["", "a", "^a.*z$", r"\d{1,1000}", r"(?i)é", r"\pL+", "(a+)+$"])
def test_re2_patterns_are_taken(pattern: str) -> None:
    assert compile_pattern(pattern) is not None


@pytest.mark.parametrize(
    "pattern", ["(", "a{2,1}", "[z-a]", r"(a)\1", "(?=a)", "(?<!a)b", "a{1001}"]
)
def test_other_patterns_are_refused_without_repeating_them(
    pattern: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(PatternError) as caught:
        compile_pattern(pattern)
    assert pattern not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_a_pattern_that_needs_too_much_memory_is_refused() -> None:
    with pytest.raises(PatternError):
        compile_pattern(r"(\pL{1,50}){1,19}")


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*$", ".*.*.*.*x$", "(a|b)*a(a|b){40}c"])
def test_case_074_no_pattern_takes_long(pattern: str) -> None:
    started = time.process_time()
    assert compile_pattern(pattern).search("a" * 65_536 + "b") is None or pattern == "(a|a)*$"
    assert time.process_time() - started < 5
