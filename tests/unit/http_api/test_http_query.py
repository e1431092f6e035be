"""Filters in the query of a list."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from http_api.query import id_in, instant_in, text_in, word_in
from whenthen.domain.errors import InvalidError
from whenthen.domain.kinds import RunStatus

ID = "019cafe0-0000-7000-8000-000000000000"


def test_what_is_absent_is_none() -> None:
    assert word_in({}, "x", RunStatus) is None
    assert (text_in({}, "x"), id_in({}, "x"), instant_in({}, "x")) == (None, None, None)


def test_what_is_there_is_read() -> None:
    query = {"status": "FAILED", "id": ID, "from": "2026-01-01T01:00:00+01:00", "text": " é "}
    assert word_in(query, "status", RunStatus) is RunStatus.FAILED
    assert id_in(query, "id") == UUID(ID)
    assert instant_in(query, "from") == datetime(2026, 1, 1, tzinfo=UTC)
    assert text_in(query, "text") == " é "


@pytest.mark.parametrize(
    ("text", "cleaned"), [("", ""), ("a\0b", "a\ufffdb"), ("\ud800", "\ufffd")]
)
def test_a_text_is_fit_to_be_looked_for(text: str, cleaned: str) -> None:
    assert text_in({"x": text}, "x") == cleaned


@pytest.mark.parametrize("text", ["", "x", "\0", "FAILED ", "2026-01-01T25:00:00Z"])
def test_what_cannot_be_read_is_refused_by_its_name(text: str) -> None:
    query = {"x": text}
    for read, kind in (
        (lambda: word_in(query, "x", RunStatus), "enum"),
        (lambda: id_in(query, "x"), "id"),
        (lambda: instant_in(query, "x"), "instant"),
    ):
        with pytest.raises(InvalidError) as refused:
            read()
        (detail,) = refused.value.details or ()
        assert (detail["path"], detail["type"]) == ("x", kind)  # type: ignore[index]
