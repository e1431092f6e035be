"""Every command tells by its exit code why it could not do its work."""

import json
from pathlib import Path
from typing import Any

import pytest

from cli.main import main
from tests.integration.cli.conftest import AUTOMATION, RUN, WORKSPACE, Answer, FakeDeployment

HERE = ("--workspace", WORKSPACE)
COMMANDS: dict[str, tuple[str, ...]] = {
    "automations list": HERE,
    "automations show": (AUTOMATION,),
    "automations apply": ("{yaml}", "--yes", *HERE),
    "automations export": HERE,
    "runs list": HERE,
    "runs show": (AUTOMATION, RUN),
    "runs tail": (AUTOMATION, RUN),
    "runs retry": (AUTOMATION, RUN),
    "runs redrive": ("--yes", *HERE),
    "events send": ("{json}", *HERE),
    "cron preview": ("0 9 * * *",),
    "tokens create": ("ci",),
}
every_command = pytest.mark.parametrize("command", COMMANDS)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "a.yaml").write_text("name: a\n")
    (tmp_path / "e.json").write_text('{"type": "record.created", "payload": {}}')
    return {"yaml": str(tmp_path / "a.yaml"), "json": str(tmp_path / "e.json")}


def words(command: str, files: dict[str, str]) -> list[str]:
    return [*command.split(), *(word.format(**files) for word in COMMANDS[command])]


@every_command
@pytest.mark.parametrize(
    ("status", "exit_code"),
    [(401, 4), (403, 4), (404, 3), (409, 1), (422, 1), (429, 1), (500, 1), (503, 1)],
)
def test_a_refusal_is_told_and_has_its_code(  # noqa: PLR0917  # two tables
    deployment: FakeDeployment,
    capsys: pytest.CaptureFixture[str],
    files: dict[str, str],
    command: str,
    status: int,
    exit_code: int,
) -> None:
    refusal = {"error": {"code": "REFUSED", "message": "not today"}}
    deployment.answer = lambda _method, path, _body: (
        # Who has a grant only cannot list databases, which is no reason to stop.
        (status, refusal) if "/databases" not in path else (200, {"data": [], "nextCursor": None})
    )
    assert main(words(command, files)) == exit_code
    assert "REFUSED: not today" in capsys.readouterr().err


@every_command
def test_nobody_at_the_address_is_unreachable(
    deployment: FakeDeployment,  # noqa: ARG001  # sets the token
    monkeypatch: pytest.MonkeyPatch,
    files: dict[str, str],
    command: str,
) -> None:
    monkeypatch.setenv("WHENTHEN_URL", "http://127.0.0.1:1")
    arguments = words(command, files)
    patience = ["--timeout", "1"] if "tail" in arguments else []
    assert main([*arguments, *patience]) == 5


@every_command
@pytest.mark.parametrize("missing", ["WHENTHEN_URL", "WHENTHEN_TOKEN"])
def test_without_an_address_or_a_token_it_says_what_to_set(  # noqa: PLR0917  # two tables
    deployment: FakeDeployment,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    files: dict[str, str],
    command: str,
    missing: str,
) -> None:
    monkeypatch.delenv(missing)
    assert main(words(command, files)) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"whenthen: {missing} not set: set WHENTHEN_URL to")
    assert deployment.asked == []


@every_command
def test_a_page_that_is_no_deployment_is_unreachable(
    deployment: FakeDeployment,
    capsys: pytest.CaptureFixture[str],
    files: dict[str, str],
    command: str,
) -> None:
    deployment.answer = lambda _method, _path, _body: (200, "<html>")
    arguments = words(command, files)
    patience = ["--timeout", "1"] if "tail" in arguments else []
    assert main([*arguments, *patience]) == 5
    assert "is WHENTHEN_URL right?" in capsys.readouterr().err


def test_what_a_deployment_says_does_not_steer_the_terminal(
    deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    refusal = {"error": {"code": "REFUSED", "message": "\x1b[2J\nno"}}
    deployment.answer = lambda _method, _path, _body: (422, refusal)
    assert main(["cron", "preview", "x"]) == 1
    assert capsys.readouterr().err == "whenthen: REFUSED: \\x1b[2J\nno\n"


def test_a_redirect_is_not_followed_with_the_token(
    deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.answer = lambda _method, _path, _body: (302, "")
    assert main(["cron", "preview", "0 9 * * *"]) == 1
    assert capsys.readouterr().err == "whenthen: HTTP 302: is WHENTHEN_URL right?\n"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("WHENTHEN_URL", "ftp://x"),
        ("WHENTHEN_URL", "x"),
        ("WHENTHEN_URL", "http://"),
        ("WHENTHEN_URL", "http://x:99999"),
        ("WHENTHEN_TOKEN", "wt_é"),
        ("WHENTHEN_TOKEN", "wt_\n x"),
    ],
)
def test_an_address_or_a_token_that_is_none_is_a_usage_error(
    deployment: FakeDeployment, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert main(["tokens", "create", "ci"]) == 2
    assert deployment.asked == []


def test_the_base_of_the_api_is_an_address_too(
    deployment: FakeDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHENTHEN_URL", f"{deployment.server.url}/api/v1/")
    deployment.answer = lambda _method, _path, _body: (200, {"next": [], "timeZone": "UTC"})
    assert main(["cron", "preview", "0 9 * * *"]) == 0
    assert deployment.asked[0][:2] == ("POST", "/schedules/preview")


def test_a_list_is_followed_page_after_page_as_far_as_asked(
    deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    def answer(_method: str, path: str, _body: Any) -> tuple[int, Any]:
        page = int(path.rpartition("cursor=")[2]) if "cursor=" in path else 0
        rows = [
            {
                "id": f"r{page}{n}",
                "status": "FAILED",
                "triggerType": "x",
                "createdAt": "t",
                "retryCount": 0,
            }
            for n in range(2)
        ]
        return 200, {"data": rows, "nextCursor": str(page + 1) if page < 9 else None}

    deployment.answer = answer
    assert main(["runs", "list", AUTOMATION, "--limit", "5"]) == 0
    ids = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert ids == ["r00", "r01", "r10", "r11", "r20"]
    assert len(deployment.asked) == 3
    assert main(["runs", "list", AUTOMATION, "--limit", "200"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 21


@pytest.mark.parametrize(
    ("mine", "named", "exit_code", "told"),
    [
        ([], None, 3, "there is no workspace of yours"),
        (["A"], None, 0, ""),
        (["A", "B"], None, 2, "say which workspace"),
        (["A", "B"], "B", 0, ""),
        (["A", "B"], "C", 3, "there is no workspace named C; yours are: A (id0), B (id1)"),
        (["A", "A"], "A", 2, "say which workspace"),
    ],
)
@pytest.mark.parametrize("by_environment", [False, True])
def test_the_workspace_is_named_or_the_only_one(  # noqa: PLR0917  # two tables
    deployment: FakeDeployment,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    mine: list[str],
    named: str | None,
    exit_code: int,
    told: str,
    *,
    by_environment: bool,
) -> None:
    workspaces = [{"id": f"id{n}", "name": name} for n, name in enumerate(mine)]
    deployment.answer = lambda _method, path, _body: (
        (200, {"workspaces": workspaces})
        if path == "/me"
        else (200, {"data": [], "nextCursor": None})
    )
    arguments = ["automations", "list"]
    if named and by_environment:
        monkeypatch.setenv("WHENTHEN_WORKSPACE", named)
    elif named:
        arguments += ["--workspace", named]
    assert main(arguments) == exit_code
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("names", "exit_code"), [(["a"], 0), ([], 3), (["b"], 3), (["a", "b", "a"], 2)]
)
def test_an_automation_is_named_by_its_name_too(
    deployment: FakeDeployment, names: list[str], exit_code: int
) -> None:
    rows = [{"id": f"id{n}", "name": name} for n, name in enumerate(names)]
    deployment.answer = lambda _method, path, _body: (
        (200, {"data": rows if path.startswith("/workspaces") else [], "nextCursor": None})
    )
    assert main(["runs", "list", "a", *HERE]) == exit_code
    if exit_code == 0:
        assert deployment.asked[-1][1] == "/automations/id0/runs?limit=50"


def test_a_filter_that_only_the_workspace_has_asks_the_workspace(
    deployment: FakeDeployment,
) -> None:
    deployment.answer = lambda _method, _path, _body: (200, {"data": [], "nextCursor": None})
    filters = ["--record", "r", "--root", RUN, "--from", "2026-01-01T00:00:00Z", "--to", "t"]
    assert main(["runs", "list", AUTOMATION, *filters, *HERE]) == 0
    assert deployment.asked[-1][1] == (
        f"/workspaces/{WORKSPACE}/runs?recordId=r&from=2026-01-01T00%3A00%3A00Z&to=t"
        f"&rootRunId={RUN}&automationId={AUTOMATION}&limit=50"
    )


def test_an_automation_without_a_run_has_no_newest_one(deployment: FakeDeployment) -> None:
    deployment.answer = lambda _method, _path, _body: (200, {"data": [], "nextCursor": None})
    assert main(["runs", "show", AUTOMATION]) == 3


@pytest.mark.parametrize(
    "arguments",
    [
        ["fly"],
        ["automations"],
        ["automations", "apply"],
        ["runs", "list", "--limit", "0"],
        ["runs", "redrive", "--status", "SUCCEEDED"],
        ["runs", "retry", AUTOMATION, RUN, "--version", "newest"],
        ["bootstrap", "--workspace", "w"],
        ["events", "send"],
        ["cron", "preview", "* * * * *", "--count", "x"],
    ],
    ids=" ".join,
)
def test_what_the_grammar_does_not_know_is_a_usage_error(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["automations", "apply", "{yaml}", *HERE],
        ["automations", "apply", "{yaml}", "--json", *HERE],
        ["runs", "redrive", *HERE],
        ["runs", "redrive", "--json", *HERE],
    ],
    ids=" ".join,
)
def test_what_must_be_asked_is_not_done_where_nobody_can_answer(
    deployment: FakeDeployment, files: dict[str, str], arguments: list[str]
) -> None:
    deployment.answer = lambda _method, _path, body: (
        200,
        {"count": 3} if body else {"data": [], "nextCursor": None},
    )
    assert main([word.format(**files) for word in arguments]) == 2
    changing = [one for one in deployment.asked if one[0] != "GET"]
    assert [body for _, _, body in changing if not body.get("dryRun")] == []


def redriving(ends: dict[str, str], looks: list[set[str]]) -> Answer:
    """Two failed runs of which, look by look, those of `looks` are under way; then they end."""
    state = {"redriven": False}

    def answer(_method: str, path: str, body: Any) -> tuple[int, Any]:
        if body is not None:
            state["redriven"] = not body.get("dryRun")
            return (
                (202, {"count": 2, "dryRun": False}) if state["redriven"] else (200, {"count": 2})
            )
        rows: list[dict[str, Any]] = []
        if "status=FAILED" in path:
            rows = [{"id": id_, "finishedAt": "old"} for id_ in ("r1", "r2")]
            if state["redriven"]:
                rows = [{"id": id_, "finishedAt": end} for id_, end in ends.items()]
        if "status=PENDING" in path and looks:
            rows = [{"id": id_, "finishedAt": None} for id_ in [*looks.pop(0), "stranger"]]
        return 200, {"data": rows, "nextCursor": None}

    return answer


@pytest.mark.parametrize(
    ("ends", "failed", "exit_code"),
    [
        ({}, 0, 0),
        ({"r1": "new", "stranger": "new"}, 1, 1),
        ({"r1": "new", "r2": "new"}, 2, 1),
        # Of an archived automation: it was left alone.
        ({"r1": "old"}, 0, 0),
    ],
)
def test_a_redrive_waits_for_its_own_runs_and_counts_those_that_failed_again(
    deployment: FakeDeployment,
    capsys: pytest.CaptureFixture[str],
    ends: dict[str, str],
    failed: int,
    exit_code: int,
) -> None:
    looks = [{"r1", "r2"}]
    deployment.answer = redriving(ends, looks)
    assert main(["runs", "redrive", "--yes", "--json", *HERE]) == exit_code
    answer = json.loads(capsys.readouterr().out)
    assert answer == {"count": 2, "dryRun": False, "failed": failed}
    assert looks == []


def test_a_redrive_that_takes_too_long_is_left_alone(
    deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.answer = redriving({}, [{"r1"} for _ in range(20)])
    assert main(["runs", "redrive", "--yes", "--timeout", "1", *HERE]) == 1
    assert "1 runs have not ended after 1 s; they go on" in capsys.readouterr().err
