"""The body of a dry run."""

from typing import Any
from uuid import UUID

import pytest

from whenthen.domain.errors import InvalidError
from whenthen.domain.schemas.dry_run import DryRunBody
from whenthen.domain.schemas.events import AutomationContext
from whenthen.domain.schemas.problems import read

ID = "019cafe0-0000-7000-8000-000000000000"
EVENT: dict[str, Any] = {"type": "record.created", "payload": {"recordId": "x"}}
CONTEXT = {"automationId": ID, "runId": ID, "rootRunId": ID, "depth": 1, "chain": [ID]}


@pytest.mark.parametrize("body", [{}, {"event": None}, {"event": None, "runId": None}])
def test_neither_event_nor_run_need_be_named(body: Any) -> None:
    found = read(DryRunBody, body)
    assert (found.event, found.run_id) == (None, None)


def test_a_run_is_named_by_its_id() -> None:
    assert read(DryRunBody, {"runId": ID}).run_id == UUID(ID)


def test_an_event_has_a_type_a_payload_and_perhaps_a_context() -> None:
    found = read(DryRunBody, {"event": EVENT}).event
    assert found is not None
    assert (found.type, found.payload) == ("record.created", {"recordId": "x"})
    assert found.automation_context is None
    for context in (CONTEXT, None):
        found = read(DryRunBody, {"event": {**EVENT, "automationContext": context}}).event
        assert found is not None
        expected = AutomationContext(UUID(ID), UUID(ID), UUID(ID), 1, (UUID(ID),))
        assert found.automation_context == (expected if context else None)


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"event": EVENT, "runId": ID}, ""),
        ({"runId": "x"}, "runId"),
        ({"event": {"type": "x"}}, "event.payload"),
        ({"event": {**EVENT, "type": ""}}, "event.type"),
        ({"event": {**EVENT, "type": "x" * 101}}, "event.type"),
        ({"event": {**EVENT, "payload": []}}, "event.payload"),
        ({"event": {**EVENT, "id": "x"}}, "event.id"),
        ({"event": {**EVENT, "automationContext": "x"}}, "event.automationContext"),
        (
            {"event": {**EVENT, "automationContext": {**CONTEXT, "depth": -1}}},
            "event.automationContext",
        ),
        ({"x": 1}, "x"),
    ],
)
def test_anything_else_is_refused_by_its_path(body: Any, path: str) -> None:
    with pytest.raises(InvalidError) as refused:
        read(DryRunBody, body)
    assert refused.value.details is not None
    assert [detail["path"] for detail in refused.value.details] == [path]  # type: ignore[index]


def test_the_longest_type_is_taken() -> None:
    assert read(DryRunBody, {"event": {**EVENT, "type": "x" * 100}}).event is not None
