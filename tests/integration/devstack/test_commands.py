"""Exit codes and output of the client commands."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cli.main import main
from devstack.http_server import HttpServer
from devstack.sandbox import Invocation

GOOD = "token"
KNOWN, UNKNOWN, FORBIDDEN, BROKEN = (f"019cafe0-0000-7000-8000-00000000000{n}" for n in range(4))
RUN = {
    "id": "r1",
    "status": "FAILED",
    "triggerType": "record.created",
    "createdAt": "2026-01-01T00:00:00.000Z",
    "retryCount": 0,
    "version": 3,
    "steps": [
        {
            "index": 0,
            "type": "UPDATE_RECORD",
            "status": "FAILED",
            "attempts": 2,
            "output": None,
            "error": {"code": "NOT_FOUND"},
        }
    ],
    "logs": [
        {
            "level": "info",
            "message": "run started",
            "data": {"attempt": 1},
            "createdAt": "2026-01-01T00:00:01.234Z",
        }
    ],
    "error": {"code": "NOT_FOUND"},
    "output": None,
}


def answer(event: Any, _wait_s: float) -> Invocation:
    statuses = {KNOWN: 200, UNKNOWN: 404, FORBIDDEN: 403, BROKEN: 500}
    path = event["rawPath"].removeprefix("/api/v1/automations/")
    if event["headers"]["authorization"] != f"Bearer {GOOD}":
        return refused(401)
    status = statuses[path.split("/")[0]]
    if status != 200:
        return refused(status)
    body = RUN if path == f"{KNOWN}/runs/r1" else {"data": [RUN], "nextCursor": None}
    return Invocation({"statusCode": 200, "body": json.dumps(body)})


def refused(status: int) -> Invocation:
    body = {"error": {"code": "REFUSED", "message": "no", "details": [{"path": "x"}]}}
    return Invocation({"statusCode": status, "body": json.dumps(body)})


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = HttpServer(0, answer)
    server.start()
    yield server.url
    server.stop()
    server.close()


@pytest.fixture
def deployment(url: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def name(url: str = url, token: str = GOOD) -> None:
        monkeypatch.setenv("WHENTHEN_URL", url)
        monkeypatch.setenv("WHENTHEN_TOKEN", token)

    name()
    return name


def test_a_list_is_a_table(
    deployment: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    deployment()
    assert main(["runs", "list", KNOWN, "--status", "FAILED"]) == 0
    head, row = capsys.readouterr().out.splitlines()
    assert head.split() == ["id", "status", "triggerType", "createdAt", "retryCount"]
    assert row.split() == ["r1", "FAILED", "record.created", "2026-01-01T00:00:00.000Z", "0"]


def test_a_run_shows_its_steps_its_log_and_its_end(
    deployment: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    deployment()
    assert main(["runs", "show", KNOWN, "r1"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "run r1  record.created  version 3",
        '  ✗ 1 UPDATE_RECORD  attempts 2  {"code": "NOT_FOUND"}',
        '    00:00:01.234 info  run started  {"attempt": 1}',
        'FAILED  {"code": "NOT_FOUND"}',
    ]


def test_programs_get_json(
    deployment: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    deployment()
    assert main(["runs", "show", KNOWN, "r1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == RUN


@pytest.mark.parametrize(
    ("automation_id", "exit_code"), [(UNKNOWN, 3), (FORBIDDEN, 4), (BROKEN, 1)]
)
def test_the_exit_code_says_why_a_command_failed(
    deployment: Callable[..., None],
    capsys: pytest.CaptureFixture[str],
    automation_id: str,
    exit_code: int,
) -> None:
    deployment()
    assert main(["runs", "list", automation_id]) == exit_code
    assert capsys.readouterr().err == 'whenthen: REFUSED: no [{"path": "x"}]\n'


def test_a_bad_token_is_unauthorised(deployment: Callable[..., None]) -> None:
    deployment(token="other")
    assert main(["runs", "list", KNOWN]) == 4


def test_nobody_at_the_address_is_unreachable(deployment: Callable[..., None]) -> None:
    deployment(url="http://127.0.0.1:1")
    assert main(["runs", "list", KNOWN]) == 5


@pytest.mark.parametrize(("url_given", "token"), [("", "t"), ("http://x", ""), ("ftp://x", "t")])
def test_a_deployment_that_is_not_named_is_a_usage_error(
    deployment: Callable[..., None], url_given: str, token: str
) -> None:
    deployment(url=url_given, token=token)
    assert main(["runs", "list", KNOWN]) == 2


def test_an_unknown_command_is_a_usage_error() -> None:
    with pytest.raises(SystemExit) as ended:
        main(["fly"])
    assert ended.value.code == 2
