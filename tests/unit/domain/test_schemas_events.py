"""Events: what a stream record must hold, and whose word counts for what."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whenthen.domain.json_text import dumps
from whenthen.domain.schemas.events import (
    AutomationContext,
    Event,
    EventUnreadableError,
    event_id,
    read_context,
    read_event,
)

WS = UUID("019a0000-0000-7000-8000-000000000001")
OTHER_WS = UUID("019a0000-0000-7000-8000-000000000002")
OUTBOX = UUID("019a0000-0000-7000-8000-000000000003")
AUTOMATION = UUID("019a0000-0000-7000-8000-000000000004")
RUN = UUID("019a0000-0000-7000-8000-000000000005")
ARRIVED = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
CONTEXT = {
    "automationId": str(AUTOMATION),
    "runId": str(RUN),
    "rootRunId": str(RUN),
    "depth": 1,
    "chain": [str(AUTOMATION)],
}


def _record(**changes: Any) -> bytes:
    envelope = {
        "id": "order-17",
        "type": "record.created",
        "workspaceId": str(WS),
        "occurredAt": "2026-05-31T00:00:00.000Z",
        "payload": {"a": 1},
    } | changes
    return dumps({key: value for key, value in envelope.items() if value is not ...}).encode()


def _read(**changes: Any) -> Event:
    return read_event(_record(**changes), ARRIVED, "shard-1:49")


def test_a_record_of_the_engine_is_read_whole() -> None:
    event = _read(
        id=f"rec:{WS}:x", outboxId=str(OUTBOX), automationContext=CONTEXT, somethingNew=True
    )
    assert event == Event(
        id=f"rec:{WS}:x",
        type="record.created",
        workspace_id=WS,
        occurred_at=datetime(2026, 5, 31, tzinfo=UTC),
        payload={"a": 1},
        automation_context=AutomationContext(AUTOMATION, RUN, RUN, 1, (AUTOMATION,)),
        outbox_id=OUTBOX,
        sanitized=False,
    )


def test_only_the_engine_says_in_the_envelope_who_acted() -> None:
    assert _read(actorId=str(RUN), outboxId=str(OUTBOX)).actor_id == RUN
    for actor_id in (None, ...):
        assert _read(actorId=actor_id, outboxId=str(OUTBOX)).actor_id is None
    for forged in (str(RUN), "nobody", 7):
        assert _read(actorId=forged).actor_id is None
    with pytest.raises(EventUnreadableError):
        _read(actorId="nobody", outboxId=str(OUTBOX))


@pytest.mark.parametrize("own", ["2020-01-01T00:00:00Z", "garbage", 5, None, ...])
def test_without_an_outbox_id_the_arrival_is_the_instant(own: object) -> None:
    assert _read(occurredAt=own).occurred_at == ARRIVED


@pytest.mark.parametrize("own", [None, ...])
def test_with_an_outbox_id_a_missing_instant_is_the_arrival(own: object) -> None:
    assert _read(occurredAt=own, outboxId=str(OUTBOX)).occurred_at == ARRIVED


@pytest.mark.parametrize(
    ("given_id", "outbox_id", "engine_id"),
    [
        ("order-17", None, f"evt:{WS}:order-17"),
        (None, None, f"evt:{WS}:shard-1:49"),
        (..., None, f"evt:{WS}:shard-1:49"),
        (None, OUTBOX, f"evt:{WS}:{OUTBOX}"),
        # A client cannot take another namespace: its own words stand behind `evt`.
        (f"schedule:{WS}:x", None, f"evt:{WS}:schedule:{WS}:x"),
        (f"evt:{WS}:x", None, f"evt:{WS}:evt:{WS}:x"),
        (f"evt:{WS}:x", OUTBOX, f"evt:{WS}:x"),
        (f"hook:{WS}:x", OUTBOX, f"hook:{WS}:x"),
        (f"rec:{WS}:x:y", OUTBOX, f"rec:{WS}:x:y"),
        (f"run:{WS}:x", OUTBOX, f"run:{WS}:x"),
        (f"manual:{WS}:x", OUTBOX, f"manual:{WS}:x"),
        (f"schedule:{WS}:x", OUTBOX, f"schedule:{WS}:x"),
        (f"rec:{OTHER_WS}:x", OUTBOX, f"evt:{WS}:rec:{OTHER_WS}:x"),
        (f"rec:{WS}:", OUTBOX, f"evt:{WS}:rec:{WS}:"),
        (f"rec:{WS}", OUTBOX, f"evt:{WS}:rec:{WS}"),
        (f"mine:{WS}:x", OUTBOX, f"evt:{WS}:mine:{WS}:x"),
        ("order-17", OUTBOX, f"evt:{WS}:order-17"),
    ],
)
def test_every_event_id_lies_in_a_namespace_and_a_workspace(
    given_id: object, outbox_id: UUID | None, engine_id: str
) -> None:
    changes = {} if outbox_id is None else {"outboxId": str(outbox_id)}
    assert _read(id=given_id, **changes).id == engine_id


def test_the_longest_client_id_of_an_engine_event_is_kept() -> None:
    longest = event_id("schedule", WS, "x" * 255)
    assert _read(id=longest, outboxId=str(OUTBOX)).id == longest


def test_an_unknown_namespace_is_a_programming_error() -> None:
    with pytest.raises(ValueError, match="namespace"):
        event_id("mine", WS, "x")


def test_case_098_a_payload_of_any_size_is_read() -> None:
    assert len(_read(payload={"a": "x" * 1_100_000}).payload["a"]) == 1_100_000


def test_a_hosts_own_event_type_is_readable() -> None:
    assert _read(type="invoice.paid").type == "invoice.paid"


def test_case_101_nul_in_a_payload_and_in_an_id_is_replaced_and_flagged() -> None:
    event = _read(id="a\0b", payload={"no\0te": "\0"})
    assert event.id == f"evt:{WS}:a\ufffdb"
    assert event.payload == {"no\ufffdte": "\ufffd"}
    assert event.sanitized


def test_case_102_a_lone_surrogate_is_replaced_and_flagged() -> None:
    data = _record().replace(b'{"a":1}', rb'{"a":"\ud800"}')
    event = read_event(data, ARRIVED, "f")
    assert event.payload == {"a": "\ufffd"}
    assert event.sanitized


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"workspaceId": ...}, "workspaceId is not an id"),
        ({"workspaceId": 5}, "workspaceId is not an id"),
        ({"workspaceId": "x"}, "workspaceId is not an id"),
        ({"outboxId": "x"}, "outboxId is not an id"),
        ({"type": ...}, "type is not a text"),
        ({"type": ""}, "type is not a text"),
        ({"type": "x" * 101}, "type is not a text"),
        ({"type": 5}, "type is not a text"),
        ({"id": ""}, "id is not a text"),
        ({"id": 17}, "id is not a text"),
        ({"id": "x" * 256}, "id is not a text"),
        ({"id": "x" * 339, "outboxId": str(OUTBOX)}, "id is not a text"),
        ({"payload": ...}, "payload is not a JSON object"),
        ({"payload": None}, "payload is not a JSON object"),
        ({"payload": [1]}, "payload is not a JSON object"),
        ({"occurredAt": "x", "outboxId": str(OUTBOX)}, "occurredAt is not an instant"),
        ({"occurredAt": 5, "outboxId": str(OUTBOX)}, "occurredAt is not an instant"),
        ({"automationContext": "x"}, "automationContext is not a JSON object"),
    ],
)
def test_a_wrong_part_of_the_envelope_makes_it_unreadable(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(EventUnreadableError, match=message) as caught:
        _read(**changes)
    assert caught.value.code == "EVENT_UNREADABLE"
    assert not caught.value.retryable


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b"not json",
        b"[]",
        b"null",
        b'"text"',
        b"[" * 200_000,
        b'{"x":1e999}',
        _record().replace(b"1}", b"9" * 401 + b"}"),
    ],
    ids=lambda data: repr(data[:12]),
)
def test_case_100_a_record_that_is_no_event_is_unreadable(data: bytes) -> None:
    with pytest.raises(EventUnreadableError):
        read_event(data, ARRIVED, "f")


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    with pytest.raises(EventUnreadableError):
        read_event(data, ARRIVED, "f")


def test_a_context_survives_the_way_through_json() -> None:
    context = read_context(CONTEXT)
    assert context is not None
    assert context.to_json() == CONTEXT


def test_null_is_no_context() -> None:
    assert read_context(None) is None


@pytest.mark.parametrize("depth", [0, 1, 5, 1_000_000])
def test_a_depth_from_nought_on_is_read(depth: int) -> None:
    context = read_context(CONTEXT | {"depth": depth})
    assert context is not None
    assert context.depth == depth


def test_a_context_of_another_workspace_names_no_automation_and_no_run() -> None:
    nameless = CONTEXT | dict.fromkeys(("automationId", "runId", "rootRunId")) | {"chain": []}
    context = read_context(nameless)
    assert context == AutomationContext(None, None, None, 1, ())
    assert context.to_json() == nameless


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"depth": -1}, "depth"),
        ({"depth": 1_000_001}, "depth"),
        ({"depth": True}, "depth"),
        ({"depth": 1.0}, "depth"),
        ({"depth": "1"}, "depth"),
        ({"depth": None}, "depth"),
        ({"chain": None}, "chain is not a list"),
        ({"chain": "x"}, "chain is not a list"),
        ({"chain": ["x"]}, "chain is not an id"),
        ({"chain": [5]}, "chain is not an id"),
        ({"automationId": "x"}, "automationId is not an id"),
        ({"runId": None}, "runId is not an id"),
        ({"rootRunId": 5}, "rootRunId is not an id"),
    ],
)
def test_a_wrong_part_of_the_context_makes_the_event_unreadable(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(EventUnreadableError, match=message):
        _read(automationContext=CONTEXT | changes)
