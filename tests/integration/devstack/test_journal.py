"""What the stack keeps on disk."""

import json
from pathlib import Path
from typing import Any

from devstack.journal import Journal


def lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()


def test_every_stream_record_is_kept_as_the_event_it_is(tmp_path: Path) -> None:
    heard: list[Any] = []
    journal = Journal(tmp_path, heard.append)
    journal.event('{"type":"record.created","name":"é"}'.encode())
    journal.event(b"\xff no event")
    journal.event(b"[1]")
    journal.close()
    kept = [json.loads(line) for line in lines(tmp_path / "events.jsonl")]
    assert kept == [
        {"type": "record.created", "name": "é"},
        {"undecodable": "/yBubyBldmVudA=="},
        {"undecodable": "WzFd"},
    ]
    assert heard == [{"type": "record.created", "name": "é"}]


def test_a_metric_line_is_kept_apart_from_the_log(tmp_path: Path) -> None:
    journal = Journal(tmp_path, lambda _event: None)
    metric = '{"_aws": {"Timestamp": 1}, "automations.matched": 1}'
    for line in (metric, '{"level": "INFO"}', "Traceback", "{broken"):
        journal.line("F", line)
    journal.close()
    assert lines(tmp_path / "metrics.jsonl") == [metric]
    assert lines(tmp_path / "stack.log") == ['F {"level": "INFO"}', "F Traceback", "F {broken"]


def test_a_line_that_comes_after_the_end_is_dropped(tmp_path: Path) -> None:
    journal = Journal(tmp_path, lambda _event: None)
    journal.close()
    journal.line("F", "late")
    assert lines(journal.log_path) == []


def test_a_restart_goes_on_where_the_files_end(tmp_path: Path) -> None:
    for _ in range(2):
        journal = Journal(tmp_path, lambda _event: None)
        journal.event(b"{}")
        journal.close()
    assert lines(tmp_path / "events.jsonl") == ["{}", "{}"]
