"""What the bench makes of times and curves."""

import pytest

from bench.figures import quantile, shape
from bench.markdown import NOT_MEASURED, TARGETS, tables


@pytest.mark.parametrize(
    ("share", "expected"),
    [(0.0, 1), (0.5, 2), (0.51, 3), (0.75, 3), (0.76, 4), (1.0, 4)],
)
def test_a_quantile_is_the_smallest_value_that_enough_do_not_exceed(
    share: float, expected: float
) -> None:
    assert quantile([4, 1, 3, 2], share) == expected


@pytest.mark.parametrize(
    ("last_cost", "expected"),
    [
        (0.66, "falls"),
        (0.67, "flat"),
        (1.0, "flat"),
        (1.5, "flat"),
        (1.51, "n^0.09"),
        (39.0, "n^0.80"),
        (40.0, "linear"),
        (100.0, "linear"),
    ],
)
def test_a_curve_over_two_powers_of_ten_is_named_by_its_ends(
    last_cost: float, expected: str
) -> None:
    assert shape([1, 10, 100], [1.0, 7.0, last_cost]) == expected


def test_a_table_shows_a_figure_beside_its_target_and_a_dash_for_what_was_not_measured() -> None:
    lines = tables({"e2e_p99_ms": 1234}).splitlines()
    assert "| `e2e_p99_ms` | 1,234 | ≤ 1,500 |" in lines
    missing = [f"| `{key}` | {NOT_MEASURED} |" for key in TARGETS if key != "e2e_p99_ms"]
    assert all(any(line.startswith(start) for line in lines) for start in missing)
