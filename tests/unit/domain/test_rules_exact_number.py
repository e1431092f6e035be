"""Which number a JSON value is."""

from decimal import Decimal
from typing import Any

import pytest

from whenthen.domain.rules.exact_number import number_value, plain_decimal_value


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (0, Decimal(0)),
        (9007199254740993, Decimal(9007199254740993)),
        (10**400, Decimal(10**400)),
        (1.1, Decimal("1.1")),
        (-0.0, Decimal(0)),
        (1e300, Decimal("1e300")),
        (Decimal("1.10"), Decimal("1.1")),
        (True, None),
        (False, None),
        (float("inf"), None),
        (float("nan"), None),
        (Decimal("NaN"), None),
        (Decimal("Infinity"), None),
        ("1", None),
        (None, None),
        ([1], None),
    ],
)
def test_a_number_has_the_value_of_its_digits(value: Any, number: Decimal | None) -> None:
    assert number_value(value) == number


@pytest.mark.parametrize("text", ["0", "-0", "7", "200", "200.0", "-1.50", "0.001", "9" * 401])
def test_a_plain_decimal_text_is_a_number(text: str) -> None:
    assert plain_decimal_value(text) == Decimal(text)


@pytest.mark.parametrize(
    "text",
    [
        *["", "007", "-", " 200", "200 ", "200\n", "1e3", "1E3", "1_000", "nan", "Infinity", "+1"],
        *["1.", ".5", "--1", "1,5", "0x10", "١٢", "\uff11", "1.٢", "00", "-01"],
    ],
)
def test_any_other_text_is_no_number(text: str) -> None:
    assert plain_decimal_value(text) is None
