"""How a JSON value that is too large becomes small enough."""

import time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whenthen.domain.json_text import dumps, loads
from whenthen.domain.limits import PAYLOAD_MAX_BYTES
from whenthen.domain.rules.json_size import JsonSizes, text_bytes
from whenthen.domain.rules.truncate import ENGINE_FIELDS, truncate_json


def size_of(value: Any) -> int:
    return len(dumps(value).encode())


def cut(value: Any, cap_bytes: int, keep: frozenset[str] = ENGINE_FIELDS) -> Any:
    small, truncated = truncate_json(value, cap_bytes, keep)
    assert truncated
    assert size_of(small) <= cap_bytes
    assert loads(dumps(small)) == small
    return small


@pytest.mark.parametrize("value", [None, 1, "x" * 98, ["x" * 96], {"a": "x" * 92}, {"a": "é" * 46}])
def test_a_value_at_the_cap_stays_the_same_object(value: Any) -> None:
    assert size_of(value) <= 100
    small, truncated = truncate_json(value, 100)
    assert small is value
    assert not truncated


@pytest.mark.parametrize("value", ["x" * 99, ["x" * 97], {"a": "x" * 93}, {"a": "é" * 47}])
def test_a_value_one_byte_above_the_cap_is_cut(value: Any) -> None:
    assert size_of(value) in {101, 102}
    assert cut(value, 100) != value


def test_an_object_says_that_it_was_truncated_within_the_cap() -> None:
    small = cut({"a": "x" * 100}, 100)
    assert small == {"a": "x" * 72 + "…", "truncated": True}
    assert size_of(small) == 100


def test_a_flag_of_a_stranger_is_overwritten() -> None:
    assert cut({"truncated": "x" * 100, "a": 1}, 80) == {"truncated": True, "a": 1}


def test_the_largest_values_are_cut_first_and_to_one_level() -> None:
    value = {"a": "x" * 10, "b": "x" * 2_000, "c": {"d": "x" * 3_000}, "e": 5, "f": "x" * 100}
    small = cut(value, 1_000)
    assert {key: small[key] for key in ("a", "e", "f")} == {"a": "x" * 10, "e": 5, "f": "x" * 100}
    assert small["b"].endswith("x…")
    assert abs(size_of(small["b"]) - size_of(small["c"])) <= 3


def test_where_many_are_too_many_the_largest_are_dropped_first() -> None:
    value = {f"k{n:03}": "x" * (n % 50) for n in range(200)}
    small = cut(value, 2_000)
    kept = {key: len(text) for key, text in value.items() if small.get(key) == text}
    gone = [len(value[key]) for key in value if key not in small]
    assert gone
    assert max(kept.values()) <= min(gone)


def test_of_equally_large_members_the_later_ones_are_dropped() -> None:
    small = cut({f"k{n:03}": n % 10 for n in range(100)}, 500)
    assert list(small) == [*(f"k{n:03}" for n in range(len(small) - 1)), "truncated"]


def test_a_list_keeps_its_first_items_whole() -> None:
    small = cut([{"n": n, "text": "x" * 50} for n in range(1_000)], 10_000)
    assert small == [{"n": n, "text": "x" * 50} for n in range(len(small))]
    assert size_of(small) > 9_900


def test_of_a_list_with_one_large_item_only_that_one_is_cut() -> None:
    small = cut([1, "x" * 5_000, "end"], 1_000)
    assert small[0] == 1
    assert small[1].endswith("x…")
    assert small[2] == "end"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x" * 200, "x" * 59 + "…"),
        ("é" * 200, "é" * 29 + "…"),
        ("🙂" * 200, "🙂" * 14 + "…"),
        ('"' * 200, '"' * 29 + "…"),
        ("\\n" * 200, "\\n" * 19 + "\\…"),
        ("\n" * 200, "\n" * 29 + "…"),
        ("\x01" * 200, "\x01" * 9 + "…"),
        ("xx" + "\x01" * 200, "xx" + "\x01" * 9 + "…"),
    ],
)
def test_a_text_is_never_cut_inside_a_character_or_an_escape(text: str, shown: str) -> None:
    assert cut(text, 64) == shown


@pytest.mark.parametrize("number", [10**99, Decimal(10) ** 99, -(10**99)])
def test_a_number_is_whole_or_gone(number: Any) -> None:
    assert cut(number, 64) is None
    assert cut([1, number, number], 150) == [1]
    assert cut({"a": 1, "n": number}, 64) == {"a": 1, "truncated": True}


def test_engine_fields_stay_whole() -> None:
    event = {
        "databaseId": "d" * 36,
        "recordId": "r" * 36,
        "recordVersion": 7,
        "changedProperties": [f"Property {n}" for n in range(50)],
        "text": "x" * 5_000,
        "many": {str(n): n for n in range(500)},
    }
    small = cut(event, 1_200)
    for key in ("databaseId", "recordId", "recordVersion", "changedProperties"):
        assert small[key] == event[key]


def test_what_else_stays_whole_is_for_the_caller_to_say() -> None:
    value = {"totalMs": 123_456, "recordId": "x" * 2_000, "note": "y" * 500}
    assert cut(value, 1_000, frozenset({"note"}))["note"] == "y" * 500
    assert len(cut(value, 1_000, frozenset())["note"]) < 500


def test_engine_fields_above_the_cap_by_themselves_are_cut_too() -> None:
    small = cut({"recordId": "x" * 5_000, "databaseId": "d", "a": 1}, 1_000)
    assert small["databaseId"] == "d"
    assert small["recordId"].endswith("x…")
    assert small["a"] == 1


def event_of(previous: int, properties: int, **more: Any) -> dict[str, Any]:
    return {
        "recordId": "r1",
        "previous": {"Text": "p" * previous},
        "properties": {"Text": "x" * properties},
        **more,
    }


def test_previous_is_cut_before_properties() -> None:
    event = event_of(3_000, 6_000)
    small = cut(event, 8_000)
    assert small["properties"] == event["properties"]
    assert small["previous"]["Text"].endswith("p…")
    assert size_of(small) > 7_990


def test_previous_is_gone_before_properties_are_cut() -> None:
    small = cut(event_of(100, 9_000), 8_000)
    assert "previous" not in small
    assert small["properties"]["Text"].endswith("x…")


def test_previous_is_dropped_when_only_scraps_of_it_would_fit() -> None:
    event = event_of(3_000, 900)
    whole = size_of({**event, "truncated": True}) - size_of(event["previous"])
    assert "previous" not in cut(event, whole + 31)
    assert cut(event, whole + 32)["previous"] == {"Text": "p" * 18 + "…"}


def test_previous_stays_when_another_value_is_large_enough_to_make_room() -> None:
    event = event_of(500, 1_000, content="c" * 50_000)
    small = cut(event, 8_000)
    assert small["properties"] == event["properties"]
    assert small["previous"] == event["previous"]
    assert small["content"].endswith("c…")


@pytest.mark.parametrize("key", ["previous", "properties"])
def test_either_of_the_two_alone_is_a_value_like_others(key: str) -> None:
    assert cut({key: {"a": "x" * 500, "b": 1}}, 200)[key]["b"] == 1


def test_case_098_a_payload_is_cut_to_64_kb() -> None:
    for kb in (70, 300, 1_100, 6_100):
        small = cut({"recordId": "r1", "properties": {"Text": "é" * (kb * 512)}}, PAYLOAD_MAX_BYTES)
        assert size_of(small) > PAYLOAD_MAX_BYTES - 8


def test_case_100_a_value_of_many_keys_is_cut_quickly() -> None:
    value = {f"key {n}": n for n in range(100_000)}
    started = time.process_time()
    cut(value, PAYLOAD_MAX_BYTES)
    assert time.process_time() - started < 5


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**60), 10**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**60), max_value=10**60)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=120)
    | st.text(st.sampled_from('"\\\n\x01é🙂x'), max_size=120)
)
keys = st.sampled_from(["previous", "properties", "recordId", "truncated", "type"]) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=20
)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(keys, inner, max_size=8),
    max_leaves=30,
)


@given(json_values, st.integers(64, 500))
def test_any_value_fits_the_cap_is_json_and_always_the_same(value: Any, cap_bytes: int) -> None:
    before = dumps(value)
    small, truncated = truncate_json(value, cap_bytes)
    assert size_of(small) <= cap_bytes
    assert truncated is (len(before.encode()) > cap_bytes)
    assert dumps(truncate_json(loads(before), cap_bytes)[0]) == dumps(small)
    assert dumps(value) == before
    if truncated and isinstance(value, dict):
        assert small["truncated"] is True
        assert small.keys() <= {*value, "truncated"}


@given(json_values)
def test_a_size_is_that_of_the_json_text(value: Any) -> None:
    assert JsonSizes().of(value) == size_of(value)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_the_size_of_a_text_is_that_of_its_json(text: str) -> None:
    assert text_bytes(text) == size_of(text)


@pytest.mark.parametrize("code", range(0x80))
def test_the_size_of_each_ascii_character_is_that_of_its_json(code: int) -> None:
    assert text_bytes(chr(code)) == size_of(chr(code))
