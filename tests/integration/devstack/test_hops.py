"""The console says each hop of an event's road once."""

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from devstack.hops import hop_of, text_of
from whenthen.store.connection import Database
from whenthen.store.new_id import new_id
from whenthen.store.run_log_tail import TailLine, lines_after

WORKSPACE = UUID("019a2b3c-0000-7000-8000-000000000001")


def add_run(database: Database) -> UUID:
    run_id = new_id()
    database.transact(
        lambda connection: connection.execute(
            text(
                "insert into automation_runs (id, automation_id, version, workspace_id, event_id,"
                " trigger_type, status, input, root_run_id)"
                " values (:id, :id, 1, :workspace, 'e', 'manual', 'PENDING', '{}', :id)"
            ),
            {"id": run_id, "workspace": WORKSPACE},
        )
    )
    return run_id


def test_only_lines_that_were_not_seen_are_looked_up(database: Database) -> None:
    first, second = add_run(database), add_run(database)

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
