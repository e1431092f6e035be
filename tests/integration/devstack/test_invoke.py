"""`whenthen invoke` reaches a function of the running stack, and only whoever may."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from cli.main import main
from devstack.control_door import ControlDoor
from devstack.sandbox import Invocation


def invoke(function: str, event: Any, _wait_s: float) -> Invocation:
    if event == "break":
        return Invocation(error={"errorType": "ValueError", "errorMessage": "no"})
    return Invocation({"function": function, "event": event})


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """The data folder of a stack whose control door is open."""
    door = ControlDoor(tmp_path, ["WatchdogFunction"], invoke)
    door.open()
    yield tmp_path
    door.close()
    assert not (tmp_path / "control.json").exists()


def command(data: Path, function: str, event: str) -> int:
    path = data / "event.json"
    path.write_text(event)
    return main(["invoke", function, str(path), "--data", str(data)])


def test_the_return_value_is_printed(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(data, "WatchdogFunction", '{"workersGone": true}') == 0
    assert json.loads(capsys.readouterr().out) == {
        "function": "WatchdogFunction",
        "event": {"workersGone": True},
    }


def test_an_event_may_come_from_standard_input(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"[1]")))
    assert main(["invoke", "WatchdogFunction", "-", "--data", str(data)]) == 0
    assert json.loads(capsys.readouterr().out)["event"] == [1]


@pytest.mark.parametrize(
    ("function", "event", "exit_code", "told"),
    [
        ("WatchdogFunction", '"break"', 1, '"errorType": "ValueError"'),
        ("WatchdogFunction", "{", 2, "the event is not JSON"),
        ("NoFunction", "{}", 3, "the functions are WatchdogFunction"),
    ],
)
def test_the_exit_code_says_why_it_failed(  # noqa: PLR0917  # a table's columns
    data: Path,
    capsys: pytest.CaptureFixture[str],
    function: str,
    event: str,
    exit_code: int,
    told: str,
) -> None:
    assert command(data, function, event) == exit_code
    assert told in capsys.readouterr().err


def test_a_file_that_is_not_there_is_a_usage_error(data: Path) -> None:
    assert main(["invoke", "WatchdogFunction", str(data / "none"), "--data", str(data)]) == 2


def test_without_a_running_stack_nothing_is_reachable(tmp_path: Path) -> None:
    assert command(tmp_path, "WatchdogFunction", "{}") == 5
    (tmp_path / "control.json").write_text('{"url": "http://127.0.0.1:1", "token": "t"}')
    assert command(tmp_path, "WatchdogFunction", "{}") == 5


def test_whoever_cannot_read_the_data_folder_invokes_nothing(data: Path) -> None:
    path = data / "control.json"
    assert path.stat().st_mode & 0o777 == 0o600
    url = json.loads(path.read_text())["url"]
    for headers in ({}, {"authorization": "Bearer guess"}):
        answer = httpx.post(f"{url}/functions/WatchdogFunction/invocations", headers=headers)
        assert answer.status_code == 401
