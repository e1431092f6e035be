"""What a function's answer says about each item of its batch."""

from typing import Any

import pytest

from devstack.batch_answers import failed_items
from devstack.kinesis_poller import Piece, after_answer, pause_s
from devstack.sandbox import Invocation
from devstack.stream_rules import StreamedRecord

RAISED = Invocation(error={"errorType": "RuntimeError", "errorMessage": "x"})


def failures(*identifiers: Any) -> dict[str, Any]:
    return {"batchItemFailures": [{"itemIdentifier": identifier} for identifier in identifiers]}


@pytest.mark.parametrize(
    ("answer", "failed"),
    [
        (None, set()),
        ("", set()),
        ({}, set()),
        ({"batchItemFailures": None}, set()),
        ({"batchItemFailures": []}, set()),
        (failures("1"), {"1"}),
        (failures("1", "2", "1"), {"1", "2"}),
        (failures("3"), None),
        (failures("1", "3"), None),
        (failures(""), None),
        (failures(None), None),
        ({"batchItemFailures": [{"id": "1"}]}, None),
        ({"batchItemFailures": ["1"]}, None),
        ({"batchItemFailures": "1"}, None),
        ("not an object", None),
        ([1], None),
    ],
)
def test_an_answer_names_what_failed_or_fails_the_whole_batch(
    answer: Any, failed: set[str] | None
) -> None:
    assert failed_items(answer, {"1", "2"}) == failed


def piece(*sequences: int, tries: int = 0) -> Piece:
    return Piece(tuple(StreamedRecord(n, "k", b"", 0.0) for n in sequences), tries)


def shape(pieces: list[Piece]) -> list[tuple[list[int], int]]:
    return [([record.sequence for record in p.records], p.tries) for p in pieces]


@pytest.mark.parametrize(
    ("invocation", "partial", "bisect", "rest"),
    [
        (Invocation(None), True, True, []),
        # The lowest failed number is the checkpoint, whatever the order of the answer.
        (Invocation(failures("3", "2")), True, True, [([2, 3, 4], 0)]),
        (Invocation(failures("4")), True, True, [([4], 0)]),
        # No progress: it counts as a try.
        (Invocation(failures("1")), True, True, [([1, 2, 3, 4], 1)]),
        (RAISED, True, True, [([1, 2], 0), ([3, 4], 0)]),
        (RAISED, True, False, [([1, 2, 3, 4], 1)]),
        (Invocation(failures("9")), True, True, [([1, 2], 0), ([3, 4], 0)]),
        # Without partial answers nothing in an answer counts.
        (Invocation(failures("1")), False, True, []),
    ],
)
def test_what_is_left_of_a_streams_batch(
    invocation: Invocation, *, partial: bool, bisect: bool, rest: list[tuple[list[int], int]]
) -> None:
    left = after_answer(piece(1, 2, 3, 4), invocation, partial=partial, bisect=bisect)
    assert shape(left) == rest


def test_a_single_record_cannot_be_halved_and_uses_up_its_tries() -> None:
    assert shape(after_answer(piece(7, tries=2), RAISED, partial=True, bisect=True)) == [([7], 3)]


@pytest.mark.parametrize(
    ("tries", "wait_s"), [(0, 0.0), (1, 0.25), (2, 0.5), (6, 8.0), (7, 10.0), (9_000, 10.0)]
)
def test_a_stream_waits_longer_with_each_try_up_to_ten_seconds(tries: int, wait_s: float) -> None:
    assert pause_s(tries) == wait_s
