"""Bodies about runs."""

from typing import Any

import pytest

from whenthen.domain.errors import InvalidError
from whenthen.domain.schemas.problems import read
from whenthen.domain.schemas.runs import RetryBody, RunAutomationBody


@pytest.mark.parametrize(
    ("body", "given"), [({}, None), ({"input": None}, None), ({"input": {"a": [1]}}, {"a": [1]})]
)
def test_the_input_of_a_manual_run_is_an_object_or_absent(
    body: dict[str, Any], given: dict[str, Any] | None
) -> None:
    assert read(RunAutomationBody, body).input == given


def test_an_input_of_any_size_is_read() -> None:
    assert read(RunAutomationBody, {"input": {"a": "x" * 70_000}}).input


@pytest.mark.parametrize("body", [{"input": []}, {"input": "x"}, {"x": 1}, []])
def test_anything_else_is_refused(body: Any) -> None:
    with pytest.raises(InvalidError):
        read(RunAutomationBody, body)


@pytest.mark.parametrize(
    ("body", "from_", "version"),
    [
        ({}, "failed", "original"),
        ({"from": "failed"}, "failed", "original"),
        ({"from": "start", "version": "latest"}, "start", "latest"),
        ({"from": 0}, 0, "original"),
        ({"from": 49, "version": "original"}, 49, "original"),
    ],
)
def test_a_retry_begins_somewhere_with_some_version(
    body: dict[str, Any], from_: object, version: str
) -> None:
    retry = read(RetryBody, body)
    assert (retry.from_, retry.version) == (from_, version)


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"from": -1}, "from"),
        ({"from": True}, "from"),
        ({"from": 1.0}, "from"),
        ({"from": "1"}, "from"),
        ({"from": None}, "from"),
        ({"from": ["start"]}, "from"),
        ({"from_": "start"}, "from_"),
        ({"version": "newest"}, "version"),
        ({"version": 2}, "version"),
    ],
)
def test_another_retry_is_refused(body: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidError, match=f"^{path}: "):
        read(RetryBody, body)
