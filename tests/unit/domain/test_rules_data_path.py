"""What a path into JSON data means."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whenthen.domain.rules.data_path import (
    MISSING,
    PathError,
    Step,
    parse_path,
    path_text,
    value_at,
)


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("a", ("a",)),
        ("a.b", ("a", "b")),
        ("a[0]", ("a", 0)),
        ("a[0][12].b", ("a", 0, 12, "b")),
        ("a[999999999]", ("a", 999999999)),
        ('a["First Name"]', ("a", "First Name")),
        ('a["say \\"hi\\""]', ("a", 'say "hi"')),
        ('a["back\\\\slash"]', ("a", "back\\slash")),
        ('a["\\u00e9"]', ("a", "é")),
        ('a["b.c"].d', ("a", "b.c", "d")),
        ('a["[0]"]', ("a", "[0]")),
        ('a["}}"]', ("a", "}}")),
        ('a[""]', ("a", "")),
        ('["First Name"].x', ("First Name", "x")),
        ("größe.名前.नाम.اسم", ("größe", "名前", "नाम", "اسم")),
        ("a.b-c_d.2nd", ("a", "b-c_d", "2nd")),
        ("a.0", ("a", "0")),
        ("a.🙂", ("a", "🙂")),
        ("a.__class__", ("a", "__class__")),
    ],
)
def test_a_path_is_names_and_indices(text: str, steps: tuple[Step, ...]) -> None:
    assert parse_path(text) == steps


@pytest.mark.parametrize(
    "text",
    [
        *["", ".", "a.", ".a", "a..b", " a", "a ", "a b", "a. b", "a[", "a[]", "a[x]", "a[-1]"],
        *["a[0", "a[1.5]", "a[ 0 ]", "a[1000000000]", "[0]", "a[٣]", "a['b']", 'a["b]', 'a["b"'],
        *["a(b)", "a()", "a|b", "7*7", "a+b", "a{b", "a}", "a,b", "a\\b", "a\nb", "a\0", "a$b"],
        *["a\u2003b", '"".__class__', 'a["b\nc"]', 'a["\\x"]', 'a["\\\n"]', 'a["\\ud8zz"]'],
    ],
)
def test_any_other_text_is_no_path(text: str) -> None:
    with pytest.raises(PathError):
        parse_path(text)


def test_a_hostile_text_is_refused_at_once() -> None:
    started = time.process_time()
    for text in [
        "a." * 200_000,
        'a["' + "\\" * 400_000,
        "a" * 400_000 + "!",
        "a[0]" * 100_000 + "[",
    ]:
        with pytest.raises(PathError):
            parse_path(text)
    assert time.process_time() - started < 5


names = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@given(names, st.lists(names | st.integers(0, 999_999_999), max_size=5))
def test_the_text_of_a_path_reads_as_the_same_path(first: str, rest: list[Step]) -> None:
    steps = (first, *rest)
    assert parse_path(path_text(steps)) == steps


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        ((), ""),
        (("to", 0), "to[0]"),
        (("headers", "X-Id"), "headers.X-Id"),
        (("values", "First Name"), 'values["First Name"]'),
        ((0, "a"), "[0].a"),
    ],
)
def test_a_path_has_one_text(steps: tuple[Step, ...], text: str) -> None:
    assert path_text(steps) == text


DATA = {"a": {"b": [1, None, {"c": "x"}]}, "n": None, "t": "text", "": 5, "0": 6}


class Trap:
    secret = "s"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((), DATA),
        (("a", "b", 0), 1),
        (("a", "b", 1), None),
        (("a", "b", 2, "c"), "x"),
        (("",), 5),
        (("0",), 6),
        (("n",), None),
        (("missing",), MISSING),
        (("n", "x"), MISSING),
        (("a", "b", 3), MISSING),
        (("a", "b", "0"), MISSING),
        (("a", 0), MISSING),
        ((0,), MISSING),
        (("t", 0), MISSING),
        (("t", "upper"), MISSING),
        (("a", "keys"), MISSING),
        (("a", "__class__"), MISSING),
    ],
)
def test_a_path_leads_into_objects_and_lists_only(path: tuple[Step, ...], value: Any) -> None:
    assert value_at(DATA, path) == value


def test_a_path_never_reads_an_attribute() -> None:
    assert value_at(Trap(), ("secret",)) is MISSING
    assert value_at(MISSING, ("value",)) is MISSING
