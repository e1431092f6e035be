"""JSON text: exact numbers, refused hostility."""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whenthen.domain import json_text
from whenthen.domain.json_text import JsonError, dumps, loads, loads_stored

NESTED_64 = "[" * 64 + "]" * 64
NESTED_65 = "[" * 65 + "]" * 65


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8202522731445525542", 8202522731445525542),
        ("9007199254740993", 9007199254740993),
        ("-0", 0),
        ("1.5", 1.5),
        ("1e+22", 1e22),
        ("1.10", Decimal("1.10")),
        ("1e5", Decimal("1E+5")),
        ("0.1000000000000000055511151231257827", Decimal("0.1000000000000000055511151231257827")),
    ],
)
def test_case_075_a_number_keeps_its_value(text: str, value: object) -> None:
    for read in (loads, loads_stored):
        found = read(text)
        assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("text", ["8202522731445525542", "1.10", "9007199254740993", "1.5", "-3"])
def test_case_075_digits_come_out_as_they_went_in(text: str) -> None:
    assert dumps(loads(f'{{"n":{text}}}')) == f'{{"n":{text}}}'


def test_case_075_neighbouring_64_bit_ids_stay_apart() -> None:
    assert loads("9007199254740993") != loads("9007199254740992")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("9" * 401, "digits"),
        ("-" + "9" * 401, "digits"),
        ("9" * 5000, "digits"),
        ("1e400", "digits"),
        ("1e999", "digits"),
        ("-1e999", "digits"),
        ("1e-400", "digits"),
        ("0." + "1" * 400, "digits"),
        ("0." + "1" * 5000, "digits"),
        ("1e99999999999999999999", "digits"),
        (NESTED_65, "depth"),
        ("[" * 200_000, "depth"),
        ('{"a":' * 200_000, "depth"),
        ("NaN", "constant"),
        ("[-Infinity]", "constant"),
    ],
    ids=lambda value: str(value)[:12],
)
def test_case_100_hostile_json_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(JsonError) as caught:
        loads('{"x":' + text + "}" if not text.startswith(("{", "[")) else text)
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    "text",
    ["9" * 400, "-" + "9" * 400, "1e399", "1e-399", "0." + "1" * 399, NESTED_64],
    ids=lambda value: str(value)[:12],
)
def test_what_lies_just_within_the_limits_is_taken_and_written_again(text: str) -> None:
    assert loads(dumps(loads(text))) == loads(text)


def test_case_100_a_hundred_thousand_keys_are_no_problem() -> None:
    text = "{" + ",".join(f'"{n}":1' for n in range(100_000)) + "}"
    assert len(loads(text)) == 100_000


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "syntax"),
        ("{} x", "syntax"),
        ("{'a': 1}", "syntax"),
        ("01", "syntax"),
        ('"a\tb"', "syntax"),
        ('{"a"', "syntax"),
        (b"\xff", "encoding"),
        (b'"\xed\xa0\x80"', "encoding"),
    ],
)
def test_what_is_not_json_is_refused(text: str | bytes, reason: str) -> None:
    with pytest.raises(JsonError) as caught:
        loads(text)
    assert caught.value.reason == reason


def test_a_refusal_does_not_repeat_the_text() -> None:
    with pytest.raises(JsonError) as caught:
        loads('{"password": hunter2}')
    assert "hunter2" not in str(caught.value)


def test_bytes_are_utf8_with_or_without_a_byte_order_mark() -> None:
    assert loads('"ä"'.encode()) == "ä"
    assert loads(b'\xef\xbb\xbf{"a":1}') == {"a": 1}
    assert loads_stored('"ä"'.encode()) == "ä"


def test_of_equal_keys_the_last_wins() -> None:
    assert loads('{"a":1,"a":2}') == {"a": 2}


def test_output_is_compact_and_not_escaped_beyond_need() -> None:
    assert dumps({"a": [1, "ä\0"], "b": None}) == '{"a":[1,"ä\\u0000"],"b":null}'


@pytest.mark.parametrize(
    ("number", "text"),
    [
        ("1.10", "1.10"),
        ("1E+5", "100000"),
        ("1E-7", "0.0000001"),
        ("-0.00", "-0.00"),
        ("0E+5", "0"),
        ("9" * 400, "9" * 400),
        ("1E+399", "1" + "0" * 399),
        ("1E-399", "0." + "0" * 398 + "1"),
    ],
)
def test_a_decimal_is_written_as_its_digits(number: str, text: str) -> None:
    assert dumps([Decimal(number)]) == f"[{text}]"


@pytest.mark.parametrize(
    "number",
    [
        float("nan"),
        float("inf"),
        Decimal("NaN"),
        Decimal("-Infinity"),
        Decimal("9" * 401),
        Decimal("1E+400"),
        Decimal("1E-400"),
    ],
)
def test_a_number_that_could_not_be_read_again_is_never_written(number: object) -> None:
    with pytest.raises(ValueError, match=r"JSON compliant|too many digits"):
        dumps({"a": number})


def test_what_json_does_not_know_is_refused_by_its_type() -> None:
    with pytest.raises(TypeError, match="set is not a JSON value"):
        dumps({"a": {1}})


def test_a_text_that_looks_like_the_placeholder_of_a_decimal_stays_a_text() -> None:
    mark = json_text._MARK
    value = [Decimal("1.10"), f"{mark}0", f'"{mark}0', {f"{mark}1": Decimal("2.0")}]
    assert json.loads(dumps(value), parse_float=Decimal) == value


_NUMBERS = st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False)
_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | _NUMBERS
    | st.decimals(-(10**20), 10**20, allow_nan=False)
    | st.text('\ufdd001 "\\ab', max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)


@settings(deadline=None, max_examples=200)
@given(_VALUES)
def test_what_was_written_is_read_and_written_the_same_again(value: Any) -> None:
    text = dumps(value)
    assert dumps(loads(text)) == text
    assert loads_stored(text) == loads(text)


@settings(deadline=None, max_examples=200)
@given(st.text(max_size=40) | st.text('[]{}",:\\u0019eE+-.ntf ', max_size=40) | st.binary())
def test_no_text_raises_anything_but_a_json_error(text: str | bytes) -> None:
    try:
        loads(text)
    except JsonError as error:
        assert error.reason  # noqa: PT017  # either outcome is right, a third one is not


@pytest.mark.parametrize(
    ("data", "value"),
    [(b'{"a":1}', {"a": 1}), (b'\xef\xbb\xbf{"a":1}', {"a": 1}), (b'"\xef\xbb\xbf"', "\ufeff")],
)
def test_a_byte_order_mark_before_the_text_is_no_part_of_it(data: bytes, value: Any) -> None:
    assert loads(data) == value


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xef\xbb\xbf\xef\xbb\xbf1", "syntax"),
        (b"1\xef\xbb\xbf", "syntax"),
        (b"\xef\xbb1", "encoding"),
        (b"\xef\xbb\xbf\xff", "encoding"),
    ],
)
def test_a_second_or_a_broken_byte_order_mark_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(JsonError) as caught:
        loads(data)
    assert caught.value.reason == reason


@pytest.mark.parametrize("beside", [[], [Decimal("1.10")]])
def test_what_json_does_not_know_is_refused_beside_a_decimal_too(beside: list[Any]) -> None:
    with pytest.raises(TypeError, match="set is not a JSON value"):
        dumps([*beside, set()])


@pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"a": inner}])
def test_a_value_within_itself_is_refused(wrap: Callable[[Any], Any]) -> None:
    outer: list[Any] = []
    outer.append(wrap(outer))
    with pytest.raises(RecursionError):
        dumps(outer)
