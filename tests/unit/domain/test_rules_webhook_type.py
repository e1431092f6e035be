"""Which trigger type an incoming webhook's run shows."""

from typing import Any

import pytest

from whenthen.domain.kinds import EventType
from whenthen.domain.rules.webhook_type import webhook_type


@pytest.mark.parametrize(
    ("header", "event", "type_", "expected"),
    [
        ("a.b", "c", "d", "a.b"),
        (None, "order.paid", "d", "order.paid"),
        (None, None, "charge/ok:v-2_x", "charge/ok:v-2_x"),
        (None, None, None, "webhook"),
        (None, {"id": 1}, "d", "d"),
        (None, 7, ["x"], "webhook"),
        ("", "x", None, "x"),
        ("two words", "x", None, "x"),
        ("é", None, None, "webhook"),
        ("x\n", None, None, "webhook"),
        ("x" * 100, None, None, "x" * 100),
        ("x" * 101, None, None, "webhook"),
        ("webhook", None, None, "webhook"),
        ("Record.Created", None, None, "Record.Created"),
    ],
)
def test_the_first_word_that_fits_is_the_type(
    header: Any, event: Any, type_: Any, expected: str
) -> None:
    assert webhook_type(header, event, type_) == expected


@pytest.mark.parametrize("word", [*EventType, "schedule", "manual"])
def test_case_115_a_webhook_cannot_pose_as_an_event_of_the_engine(word: str) -> None:
    assert webhook_type(word, word, word) == "webhook"
    assert webhook_type(word, "order.paid", word) == "order.paid"
