"""A stack that starts on the data of a killed one takes up what was under way."""

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from devstack.hops import hop_of, text_of
from devstack.recover import PAGE, take_up
from whenthen.domain import json_text
from whenthen.domain.schemas.messages import RunMessage, decode
from whenthen.store import outbox
from whenthen.store.connection import Database
from whenthen.store.new_id import new_id
from whenthen.store.run_log_tail import TailLine, lines_after

WORKSPACE = UUID("019a2b3c-0000-7000-8000-000000000001")


class Taken:
    """What was put on the stream and sent to the queue."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.messages: list[tuple[UUID, str, int]] = []

    def put(self, partition_key: str, data: bytes) -> None:
        assert partition_key
        self.events.append(json_text.loads(data))

    def send(self, body: str, group: str, delay_s: int) -> None:
        message = decode(body)
        assert isinstance(message, RunMessage)
        self.messages.append((message.run_id, group, delay_s))


def add_run(database: Database, status: str, due_in_s: int = 0) -> UUID:
    run_id = new_id()
    database.transact(
        lambda connection: connection.execute(
            text(
                "insert into automation_runs (id, automation_id, version, workspace_id, event_id,"
                " trigger_type, status, input, root_run_id, due_at, enqueue_after)"
                " values (:id, :id, 1, :workspace, 'e', 'manual', :status, '{}', :id,"
                " whenthen_now() + interval '1 second' * :due_in_s,"
                " case when :status in ('PENDING', 'RUNNING') then whenthen_now() end)"
            ),
            {"id": run_id, "workspace": WORKSPACE, "status": status, "due_in_s": due_in_s},
        )
    )
    return run_id


def add_step(database: Database, run_id: UUID, status: str, attempts: int) -> None:
    database.transact(
        lambda connection: connection.execute(
            text(
                "insert into automation_run_steps (run_id, generation, action_id, index, type,"
                " status, attempts) values (:run, 0, :id, 0, 'DELAY', :status, :attempts)"
            ),
            {"run": run_id, "id": new_id(), "status": status, "attempts": attempts},
        )
    )


def steps_of(database: Database, run_id: UUID) -> list[tuple[str, int]]:
    rows = database.transact(
        lambda connection: connection.execute(
            text("select status, attempts from automation_run_steps where run_id = :id order by 1"),
            {"id": run_id},
        ).all()
    )
    return [(row.status, row.attempts) for row in rows]


def test_events_that_were_not_matched_are_put_again(database: Database) -> None:
    events = [
        outbox.new_event(workspace_id=WORKSPACE, type="record.created", payload={"n": n})
        for n in range(PAGE + 1)
    ]
    database.transact(lambda connection: outbox.add(connection, events))
    taken = Taken()
    assert take_up(database, taken.put, taken.send) == (PAGE + 1, 0)
    assert sorted(event["payload"]["n"] for event in taken.events) == list(range(PAGE + 1))
    assert {event["outboxId"] for event in taken.events} == {str(event.id) for event in events}


def test_waiting_runs_get_a_message_with_the_delay_that_is_left(database: Database) -> None:
    now, later, much_later = (add_run(database, "PENDING", due) for due in (0, 60, 5_000))
    for status in ("SUCCEEDED", "FAILED", "DEAD_LETTER"):
        add_run(database, status)
    taken = Taken()
    assert take_up(database, taken.put, taken.send) == (0, 3)
    delays = {run_id: delay_s for run_id, _, delay_s in taken.messages}
    assert (delays[now], delays[much_later]) == (0, 900)
    assert 58 <= delays[later] <= 60
    assert {group for _, group, _ in taken.messages} == {str(WORKSPACE)}


def test_a_running_run_is_given_back_and_its_attempt_not_counted(database: Database) -> None:
    once, twice, done = (add_run(database, "RUNNING") for _ in range(3))
    add_step(database, once, "STARTED", 1)
    add_step(database, twice, "STARTED", 2)
    add_step(database, done, "SUCCEEDED", 1)
    taken = Taken()
    assert take_up(database, taken.put, taken.send) == (0, 3)
    assert steps_of(database, once) == []
    assert steps_of(database, twice) == [("FAILED", 1)]
    assert steps_of(database, done) == [("SUCCEEDED", 1)]
    assert take_up(database, taken.put, taken.send) == (0, 3)


def test_only_lines_that_were_not_seen_are_looked_up(database: Database) -> None:
    first, second = add_run(database, "PENDING"), add_run(database, "PENDING")

    def add_lines(connection: Any) -> None:
        for run_id, message in ((first, "a"), (second, "b"), (first, "c")):
            connection.execute(
                text(
                    "insert into automation_logs (run_id, level, message)"
                    " values (:run, 'info', :message)"
                ),
                {"run": run_id, "message": message},
            )

    database.transact(add_lines)
    found = database.transact(lambda connection: lines_after(connection, {first: 0, second: 0}))
    assert [(line.run_id, line.message) for line in found] == [
        (first, "a"),
        (second, "b"),
        (first, "c"),
    ]
    seen = {first: found[0].seq, second: found[1].seq}
    (new,) = database.transact(lambda connection: lines_after(connection, seen))
    assert new.message == "c"


@pytest.mark.parametrize(
    ("level", "message", "hop"),
    [
        ("info", "run created", "match"),
        ("info", "run started", "run"),
        ("info", "action 1/2 UPDATE_RECORD done", "step"),
        ("info", "run completed", "done"),
        ("info", "run skipped: self_trigger", "done"),
        ("error", "action 1/2 UPDATE_RECORD failed", "failed"),
        ("error", "run failed: UNEXPECTED", "failed"),
    ],
)
def test_a_log_line_belongs_to_a_hop(level: str, message: str, hop: str) -> None:
    line = TailLine(WORKSPACE, 1, level, message, {"ms": 3, "actionId": "hidden"}, "Triage")
    assert hop_of(line) == hop
    assert text_of(line).startswith("00000001 " + message)
    assert text_of(line).endswith("ms=3")
    assert ("Triage" in text_of(line)) is (hop == "match")
