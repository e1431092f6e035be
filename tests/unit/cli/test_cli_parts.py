"""Small parts of the command line: JSON, tables, logs that grow, files of events."""

import json
from decimal import Decimal
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from cli import json_text
from cli.deadline import within
from cli.events import BYTES_MAX, EVENTS_MAX, batches, read_events
from cli.exits import USAGE, CommandError
from cli.paths import path_text
from cli.run_lines import log_line
from cli.runs import retry_point
from cli.tail import unseen
from cli.terminal import print_table, printable
from whenthen.domain.rules import data_path


@pytest.mark.parametrize(
    "text",
    [
        '{"a": [1, 1.10, 12345678901234567.890123, true, null, "x\\u0000é"], "b": {}, "c": []}',
        "[]",
        '"x"',
        "123456789012345678901234567890",
    ],
)
def test_numbers_go_through_with_all_of_their_digits(text: str) -> None:
    value = json_text.loads(text)
    assert json_text.dumps(value) == text
    assert json_text.same(json_text.loads(json_text.dumps(value, indent=2)), value)


def test_indented_json_looks_as_usual() -> None:
    value = {"a": [1, {"b": "c"}], "d": {}, "e": []}
    assert json_text.dumps(value, indent=2) == json.dumps(value, indent=2)


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", "{", ""])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # whatever it says
        json_text.loads(text)


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (1, Decimal("1.00"), True),
        (Decimal("1.10"), Decimal("1.1"), True),
        (1, True, False),
        (0, False, False),
        (True, True, True),
        ([1, 2], [2, 1], False),
        ({"a": [Decimal(1)]}, {"a": [1]}, True),
        ({"a": None}, {}, False),
        ("1", 1, False),
        (None, None, True),
    ],
)
def test_values_are_compared_as_json(left: Any, right: Any, *, equal: bool) -> None:
    assert json_text.same(left, right) is equal
    assert json_text.same(right, left) is equal


@pytest.mark.parametrize(
    "steps", [(), ("a", 0, "b c"), ("a b",), ("Größe", 12), ('q"q', "x.y"), ("a-b", "c_d")]
)
def test_paths_are_written_as_the_engine_writes_them(steps: tuple[str | int, ...]) -> None:
    assert path_text(steps) == data_path.path_text(steps)


def test_nothing_that_came_in_steers_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert printable("a\x1b[2Jb\x9b1m\r\n\u202ec é✓") == "a\\x1b[2Jb\\x9b1m\\r\\n\\u202ec é✓"
    print_table(("a", "b"), [("x\x07", None), (1, "yy")])
    assert capsys.readouterr().out == "a      b\nx\\x07\n1      yy\n"
    line = {"createdAt": "2026-01-01T00:00:01.234Z", "level": "info", "message": "\x1b", "data": {}}
    assert "\x1b" not in log_line(line)


@pytest.mark.parametrize(
    ("seen", "lines", "new"),
    [
        ([], [], []),
        ([], ["a"], ["a"]),
        (["a"], ["a"], []),
        (["a"], ["a", "b"], ["b"]),
        (["a", "b", "c"], ["b", "c", "d"], ["d"]),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        (["a", "a"], ["a", "a", "a"], ["a"]),
    ],
)
def test_only_lines_that_are_new_are_shown(
    seen: list[str], lines: list[str], new: list[str]
) -> None:
    assert unseen(seen, lines) == new


@pytest.mark.parametrize(
    ("text", "point"),
    [("failed", "failed"), ("start", "start"), ("0", 0), ("12", 12), ("-1", "-1")],
)
def test_a_retry_point_is_a_word_or_an_index(text: str, point: str | int) -> None:
    assert retry_point(text) == point


@pytest.mark.parametrize(
    ("text", "events"),
    [
        ('{"type": "a"}', [{"type": "a"}]),
        ('[{"type": "a"}, {"type": "b"}]', [{"type": "a"}, {"type": "b"}]),
        ('{"type": "a"}\n\n{"type": "b"}\n', [{"type": "a"}, {"type": "b"}]),
        ('\ufeff{"n": 1.10}', [{"n": Decimal("1.10")}]),
    ],
)
def test_a_file_holds_one_event_a_list_or_one_a_line(
    tmp_path: Path, text: str, events: list[Any]
) -> None:
    (tmp_path / "e").write_text(text, "utf-8")
    assert read_events(str(tmp_path / "e")) == events


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "holds no event"),
        (b"[]", "holds no event"),
        (b'{"a": 1}\n{"a": \n', "line 2: not JSON"),
        (b"\xff", "is not readable"),
        (b"[" * 100_000, "line 1: not JSON"),
    ],
    ids=["empty", "empty list", "broken line", "no text", "deep"],
)
def test_a_file_without_events_is_a_usage_error(tmp_path: Path, content: bytes, told: str) -> None:
    (tmp_path / "e").write_bytes(content)
    with pytest.raises(CommandError, match=told) as refused:
        read_events(str(tmp_path / "e"))
    assert refused.value.exit_code == USAGE


def test_events_go_in_batches_that_the_api_takes() -> None:
    small = [{"n": n} for n in range(2 * EVENTS_MAX + 1)]
    assert [len(batch) for batch in batches(small)] == [EVENTS_MAX, EVENTS_MAX, 1]
    large = [{"x": "y" * (BYTES_MAX // 3)} for _ in range(5)]
    assert [len(batch) for batch in batches(large)] == [2, 2, 1]
    assert [event for batch in batches(small + large) for event in batch] == small + large
    assert [len(batch) for batch in batches([{"x": "y" * (2 * BYTES_MAX)}, {}])] == [1, 1]


def test_work_that_does_not_end_is_given_up() -> None:
    with pytest.raises(TimeoutError, match=r"no answer within 0\.01 s"):
        within(0.01, lambda: Event().wait(60))
    assert within(5, lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        within(5, lambda: 1 // 0)
    with pytest.raises(TimeoutError, match="mine"):
        within(5, _time_out)


def _time_out() -> None:
    raise TimeoutError("mine")
