"""Events beside their facts: written with them, gone with their match, kept when unreadable."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy.engine import Connection

from tests.integration.statements import counted
from tests.integration.store_world import StoreWorld
from whenthen.domain import json_text, limits
from whenthen.engine.context import Context
from whenthen.store import outbox
from whenthen.store.outbox import OutboxEvent, new_event, unmatched
from whenthen.store.stream_ends import DeadEvent, end_events

WORKSPACE = UUID("01970000-0000-7000-8000-00000000000a")
CONTEXT = {"automationId": "a", "runId": "r", "rootRunId": "r", "depth": 1, "chain": ["a"]}


@pytest.fixture
def world(shared_context: Context) -> StoreWorld:
    return StoreWorld(shared_context)


def event_of(world: StoreWorld, **changes: Any) -> OutboxEvent:
    facts: dict[str, Any] = {
        "workspace_id": world.workspace_id,
        "type": "record.created",
        "payload": {"n": 1},
    }
    return new_event(**{**facts, **changes})


def stored(world: StoreWorld) -> list[Any]:
    return world.sql(
        "select *, cast(extract(epoch from relay_at - occurred_at) as float8) as relay_in_s,"
        " automation_context is null as no_context from outbox where workspace_id = :w order by id",
        w=world.workspace_id,
    )


# ---------------------------------------------------------------------------- a new event


def test_an_event_is_named_after_its_namespace_its_workspace_and_its_own_id() -> None:
    event = new_event(workspace_id=WORKSPACE, type="record.created", payload={})
    assert event.event_id == f"rec:{WORKSPACE}:{event.id}"
    named = new_event(
        workspace_id=WORKSPACE,
        type="webhook.received",
        payload={},
        namespace="hook",
        client_id="order-17",
    )
    assert named.event_id == f"hook:{WORKSPACE}:order-17"
    assert named.id != event.id


def test_the_payload_is_not_the_callers_own(world: StoreWorld) -> None:
    payload = {"n": 1}
    event = event_of(world, payload=payload)
    payload["n"] = 2
    assert event.payload == {"n": 1}


def payload_of(size_bytes: int) -> dict[str, Any]:
    payload = {"databaseId": "d", "recordId": "r", "changedProperties": ["a"], "properties": {}}
    payload["properties"] = {"a": ""}
    missing = size_bytes - len(json_text.dumps(payload).encode())
    return {**payload, "properties": {"a": "x" * missing}}


@pytest.mark.parametrize(
    ("size_bytes", "is_cut"),
    [
        (limits.PAYLOAD_MAX_BYTES - 1, False),
        (limits.PAYLOAD_MAX_BYTES, False),
        (limits.PAYLOAD_MAX_BYTES + 1, True),
        (1024 * 1024, True),
    ],
)
def test_case_098_a_payload_of_more_than_64_kb_is_cut_and_says_so(
    size_bytes: int,
    is_cut: bool,  # noqa: FBT001
) -> None:
    payload = payload_of(size_bytes)
    cut = new_event(workspace_id=WORKSPACE, type="record.updated", payload=payload).payload
    assert len(json_text.dumps(cut).encode()) <= limits.PAYLOAD_MAX_BYTES
    assert cut.get("truncated", False) is is_cut
    assert (cut == payload) is not is_cut
    kept = ("databaseId", "recordId", "changedProperties")
    assert [cut[name] for name in kept] == ["d", "r", ["a"]]


# ------------------------------------------------------------------------------- written


def test_events_are_written_as_they_are_and_told_when_they_became_true(world: StoreWorld) -> None:
    first = event_of(world, automation_context=CONTEXT)
    second = event_of(world, payload={"text": "Größe", "null": None, "id": 9007199254740993})
    added = world.transact(lambda connection: outbox.add(connection, [first, second]))
    rows = stored(world)
    assert [event.id for event in added] == [first.id, second.id]
    assert {event.id: event.occurred_at for event in added} == {
        row["id"]: row["occurred_at"] for row in rows
    }
    assert {row["id"]: (row["event_id"], row["type"], row["payload"]) for row in rows} == {
        event.id: (event.event_id, event.type, event.payload) for event in (first, second)
    }
    assert {row["id"]: row["automation_context"] for row in rows} == {
        first.id: CONTEXT,
        second.id: None,
    }


def test_an_event_without_a_context_has_sql_null_and_no_json_null(world: StoreWorld) -> None:
    world.transact(lambda connection: outbox.add(connection, [event_of(world)]))
    assert stored(world)[0]["no_context"] is True


def test_an_event_is_relayed_a_minute_later_unless_it_is_matched(world: StoreWorld) -> None:
    world.transact(lambda connection: outbox.add(connection, [event_of(world)]))
    (row,) = stored(world)
    assert (row["attempts"], row["relay_in_s"]) == (0, pytest.approx(60, abs=0.1))


def test_case_044_an_event_is_there_exactly_when_its_fact_is(world: StoreWorld) -> None:
    class RollBackError(Exception):
        pass

    def work(connection: Connection) -> None:
        outbox.add(connection, [event_of(world)])
        raise RollBackError

    with pytest.raises(RollBackError):
        world.transact(work)
    assert stored(world) == []


def test_no_events_are_no_statement(world: StoreWorld) -> None:
    with counted(world.context.database) as cost:
        assert world.transact(lambda connection: outbox.add(connection, [])) == []
    assert cost.statements == []


def test_events_that_were_not_written_get_no_instant(world: StoreWorld) -> None:
    written, lost = event_of(world), event_of(world)
    now = datetime.now(UTC)
    (found,) = outbox.with_instants([lost, written], {written.id: now})
    assert (found.id, found.occurred_at) == (written.id, now)


# ---------------------------------------------------------------------- what is unmatched


def test_unmatched_events_come_by_id_in_pages(world: StoreWorld) -> None:
    events = sorted((event_of(world, payload={"n": n}) for n in range(5)), key=lambda e: e.id)
    before = UUID(int=events[0].id.int - 1)
    world.transact(lambda connection: outbox.add(connection, events[::-1]))
    first = world.transact(lambda connection: unmatched(connection, 3, before))
    assert [event.id for event in first] == [event.id for event in events[:3]]
    rest = world.transact(lambda connection: unmatched(connection, 3, first[-1].id))
    assert [event.id for event in rest] == [event.id for event in events[3:]]
    assert rest[0].payload == events[3].payload
    assert rest[0].occurred_at is not None


def test_from_the_beginning_there_is_something_when_there_is_anything(world: StoreWorld) -> None:
    world.transact(lambda connection: outbox.add(connection, [event_of(world)]))
    assert len(world.transact(lambda connection: unmatched(connection, 1, None))) == 1


# ------------------------------------------------------------------------ the end of the road


def ended(world: StoreWorld, outbox_ids: list[UUID], dead: list[DeadEvent]) -> None:
    world.transact(lambda connection: end_events(connection, outbox_ids, dead))


def dead_of(world: StoreWorld, source: str) -> list[Any]:
    return world.sql("select * from dead_events where source = :s order by id", s=source)


def test_a_matched_event_leaves_the_outbox_and_no_other_does(world: StoreWorld) -> None:
    matched, waiting = event_of(world), event_of(world)
    world.transact(lambda connection: outbox.add(connection, [matched, waiting]))
    ended(world, [matched.id], [])
    assert [row["id"] for row in stored(world)] == [waiting.id]
    ended(world, [matched.id, uuid4()], [])
    assert [row["id"] for row in stored(world)] == [waiting.id]


@pytest.mark.parametrize(
    "data",
    [b"", b"not json", b"\x00\xff\xfe" * 100, "Größe".encode(), b"\\x00'\"", bytes(range(256))],
)
def test_case_059_a_dead_event_is_kept_with_its_bytes(world: StoreWorld, data: bytes) -> None:
    source = f"shardId-000000000000:{uuid4()}"
    ended(world, [], [DeadEvent(source, "not JSON: at character 0", data)])
    (row,) = dead_of(world, source)
    assert (bytes(row["data"]), row["reason"]) == (data, "not JSON: at character 0")


def test_case_059_the_end_of_good_and_bad_events_is_one_statement(world: StoreWorld) -> None:
    source = f"shardId-000000000000:{uuid4()}"
    event = event_of(world)
    world.transact(lambda connection: outbox.add(connection, [event]))
    dead = [DeadEvent(source, "KeyError", b"1"), DeadEvent(source, "KeyError", b"2")]
    with counted(world.context.database) as cost:
        ended(world, [event.id], dead)
    assert len(cost.statements) == 1
    assert stored(world) == []
    assert {bytes(row["data"]) for row in dead_of(world, source)} == {b"1", b"2"}


def test_a_dead_event_that_comes_again_is_kept_again(world: StoreWorld) -> None:
    source = f"shardId-000000000000:{uuid4()}"
    for _ in range(2):
        ended(world, [], [DeadEvent(source, "KeyError", b"1")])
    assert len(dead_of(world, source)) == 2


def test_nothing_to_end_is_no_statement(world: StoreWorld) -> None:
    with counted(world.context.database) as cost:
        ended(world, [], [])
    assert cost.statements == []
