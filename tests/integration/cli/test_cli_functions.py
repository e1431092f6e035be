"""`invoke`, `migrate`, `bootstrap`: by lambda:Invoke, or through the local stack's door."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from cli.main import main
from devstack.control_door import ControlDoor
from devstack.http_server import HttpServer
from devstack.sandbox import Invocation

STACK = "engine"
TEMPLATE = {
    "Resources": {"DbMigratorFunction": {"Type": "AWS::SQS::Queue", "Properties": {}}},
}
MADE = {"workspaceId": "w1", "userId": "u1", "token": "wt_first"}


class FakeLambda:
    """Lambda's Invoke: keeps what it was sent, answers what it is told to."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, Any]] = []
        self.result: Any = MADE
        self.status = 200
        self.headers: dict[str, str] = {}
        self.server = HttpServer(0, self._respond)

    def _respond(self, event: Any, _wait_s: float) -> Invocation:
        self.sent.append((event["rawPath"], json.loads(base64.b64decode(event["body"]))))
        body = json.dumps(self.result)
        return Invocation({"statusCode": self.status, "headers": self.headers, "body": body})


@pytest.fixture
def fake_lambda(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeLambda]:
    fake = FakeLambda()
    fake.server.start()
    monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", fake.server.url)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield fake
    fake.server.stop()
    fake.server.close()


@pytest.fixture
def physical_name() -> Iterator[str]:
    """What the stack calls its migrator; for its name alone any resource will do."""
    with mock_aws():
        formation = boto3.client("cloudformation")
        formation.create_stack(StackName=STACK, TemplateBody=json.dumps(TEMPLATE))
        found = formation.describe_stack_resource(
            StackName=STACK, LogicalResourceId="DbMigratorFunction"
        )
        yield found["StackResourceDetail"]["PhysicalResourceId"]


def first(*more: str) -> list[str]:
    return ["bootstrap", "--workspace", "Support", "--email", "ada@example.com", *more]


def test_bootstrap_invokes_the_migrator_of_the_stack_and_prints_the_token_alone(
    fake_lambda: FakeLambda, physical_name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(first("--stack", STACK)) == 0
    ((path, event),) = fake_lambda.sent
    assert path.startswith("/2015-03-31/functions/")
    assert physical_name.rsplit("/", 1)[-1] in path
    assert event == {
        "action": "bootstrap",
        "workspace": "Support",
        "email": "ada@example.com",
        "another": False,
    }
    shown = capsys.readouterr()
    assert shown.out == "wt_first\n"
    assert "workspace w1, OWNER ada@example.com (u1)" in shown.err


@pytest.mark.usefixtures("physical_name")
def test_bootstrap_as_json_is_what_was_made(
    fake_lambda: FakeLambda, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(first("--stack", STACK, "--another", "--json")) == 0
    assert json.loads(capsys.readouterr().out) == MADE
    assert fake_lambda.sent[0][1]["another"] is True


@pytest.mark.usefixtures("physical_name")
@pytest.mark.parametrize(("code", "exit_code"), [("WORKSPACE_EXISTS", 1), ("VALIDATION_FAILED", 2)])
def test_a_refused_bootstrap_says_why(
    fake_lambda: FakeLambda, capsys: pytest.CaptureFixture[str], code: str, exit_code: int
) -> None:
    fake_lambda.result = {"error": {"code": code, "message": "no"}}
    assert main(first("--stack", STACK)) == exit_code
    assert capsys.readouterr().err == f"whenthen: {code}: no\n"


@pytest.mark.usefixtures("physical_name")
def test_migrate_names_what_was_applied(
    fake_lambda: FakeLambda, capsys: pytest.CaptureFixture[str]
) -> None:
    fake_lambda.result = {"applied": ["0001_a.sql", "0002_b.sql"], "version": "0002_b.sql"}
    assert main(["migrate", "--stack", STACK]) == 0
    assert fake_lambda.sent[0][1] == {"action": "migrate"}
    assert capsys.readouterr().out.splitlines() == [
        "applied 0001_a.sql",
        "applied 0002_b.sql",
        "the schema is at 0002_b.sql",
    ]
    assert main(["migrate", "--stack", STACK, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == fake_lambda.result


@pytest.mark.usefixtures("physical_name")
def test_what_a_function_raised_is_its_failure(
    fake_lambda: FakeLambda, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fake_lambda.result = {"errorType": "ValueError", "errorMessage": "no"}
    fake_lambda.headers = {"x-amz-function-error": "Unhandled"}
    assert main(["migrate", "--stack", STACK]) == 1
    assert capsys.readouterr().err == "whenthen: ValueError: no\n"
    (tmp_path / "e.json").write_text("{}")
    event = str(tmp_path / "e.json")
    assert main(["invoke", "DbMigratorFunction", event, "--stack", STACK]) == 1
    assert json.loads(capsys.readouterr().err) == fake_lambda.result


def test_an_arn_needs_no_stack(fake_lambda: FakeLambda, tmp_path: Path) -> None:
    (tmp_path / "e.json").write_text('{"n": 1}')
    arn = "arn:aws:lambda:eu-west-1:123456789012:function:x"
    assert main(["invoke", arn, str(tmp_path / "e.json")]) == 0
    assert fake_lambda.sent[0][1] == {"n": 1}


@pytest.mark.usefixtures("physical_name")
@pytest.mark.parametrize(
    ("status", "code", "exit_code"),
    [
        (403, "AccessDeniedException", 4),
        (403, "UnrecognizedClientException", 4),
        (404, "ResourceNotFoundException", 3),
        (429, "TooManyRequestsException", 1),
        (500, "ServiceException", 1),
    ],
)
def test_a_refusal_of_lambda_has_its_code_and_is_not_tried_again(
    fake_lambda: FakeLambda, status: int, code: str, exit_code: int
) -> None:
    fake_lambda.status = status
    fake_lambda.headers = {"x-amzn-errortype": code}
    fake_lambda.result = {"Message": "no"}
    assert main(["migrate", "--stack", STACK]) == exit_code
    assert len(fake_lambda.sent) == 1


@pytest.mark.usefixtures("physical_name")
def test_a_stack_or_a_function_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "e.json").write_text("{}")
    event = str(tmp_path / "e.json")
    assert main(["migrate", "--stack", "other"]) == 3
    assert main(["invoke", "NoFunction", event, "--stack", STACK]) == 3


@pytest.mark.usefixtures("physical_name")
def test_nobody_at_lambdas_address_is_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", "http://127.0.0.1:1")
    assert main(["migrate", "--stack", STACK]) == 5


def test_without_a_region_it_is_a_usage_error_and_without_credentials_unauthorised(
    fake_lambda: FakeLambda, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "e.json").write_text("{}")
    arguments = ["invoke", "arn:x", str(tmp_path / "e.json")]
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    assert main(arguments) == 2
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    assert main([*arguments, "--region", "eu-west-1"]) == 4
    assert fake_lambda.sent == []


def test_the_local_stack_is_migrated_and_bootstrapped_through_its_door(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = {"migrate": {"applied": [], "version": "0001_a.sql"}, "bootstrap": MADE}

    def invoke(_function: str, event: Any, _wait_s: float) -> Invocation:
        return Invocation(answers[event["action"]])

    door = ControlDoor(tmp_path, ["DbMigratorFunction"], invoke)
    door.open()
    try:
        assert main(["migrate", "--data", str(tmp_path)]) == 0
        assert main(first("--data", str(tmp_path))) == 0
    finally:
        door.close()
    assert capsys.readouterr().out == "the schema is at 0001_a.sql\nwt_first\n"
    assert main(["migrate", "--data", str(tmp_path)]) == 5
