"""The migrator: CloudFormation always gets an answer, and in time; operators get the failure."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import sqlalchemy
from sqlalchemy import text

import db_migrator.handler
from tests.conftest import open_database
from tests.golden import AnswerDoor, answer_door
from whenthen.engine import composition
from whenthen.settings import SettingsError
from whenthen.store.connection import Database
from whenthen.store.migrate import migration_names, schema_version

ALL = migration_names()


class Remaining:
    def __init__(self, left_ms: int = 900_000) -> None:
        self._left_ms = left_ms

    def get_remaining_time_in_millis(self) -> int:
        return self._left_ms


@pytest.fixture(autouse=True)
def _fresh_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # The sizes that the template's defaults give, with some room on the tests' own server.
    monkeypatch.setenv("AUTOMATIONS_WORKER_CONCURRENCY", "5")
    monkeypatch.setenv("EXECUTOR_MAXIMUM_CONCURRENCY", "10")
    composition.process_context.cache_clear()
    yield
    composition.process_context.cache_clear()


@pytest.fixture
def url(empty_database_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("DATABASE_URL", empty_database_url)
    return empty_database_url


@pytest.fixture
def empty(url: str) -> Iterator[Database]:
    opened = open_database(url)
    yield opened
    opened.close()


@pytest.fixture
def door() -> Iterator[AnswerDoor]:
    with answer_door() as opened:
        yield opened


def request(door: AnswerDoor, kind: str, **changed: Any) -> dict[str, Any]:
    return {
        "RequestType": kind,
        "ResponseURL": f"{door.url}/answer",
        "StackId": "arn:aws:cloudformation:eu-west-1:123456789012:stack/whenthen/1",
        "RequestId": "request-1",
        "LogicalResourceId": "Migration",
        "ResourceType": "Custom::Migration",
        "ResourceProperties": {"ServiceToken": "arn:function"},
        **changed,
    }


def invoke(event: dict[str, Any], left_ms: int = 900_000) -> dict[str, Any]:
    return db_migrator.handler.lambda_handler(event, Remaining(left_ms))


def version(database: Database) -> str | None:
    return database.transact(schema_version)


def test_a_creation_migrates_and_is_answered_as_cloudformation_wants_it(
    empty: Database, door: AnswerDoor
) -> None:
    invoke(request(door, "Create"))
    assert door.answers == [
        (
            "",
            {
                "StackId": "arn:aws:cloudformation:eu-west-1:123456789012:stack/whenthen/1",
                "RequestId": "request-1",
                "LogicalResourceId": "Migration",
                "Status": "SUCCESS",
                "Reason": "",
                "PhysicalResourceId": "schema",
                "Data": {"applied": ALL, "version": ALL[-1]},
            },
        )
    ]
    assert version(empty) == ALL[-1]


@pytest.mark.usefixtures("url")
def test_an_update_keeps_the_resources_id_so_that_nothing_is_replaced(door: AnswerDoor) -> None:
    invoke(request(door, "Create"))
    invoke(request(door, "Update", PhysicalResourceId="another", OldResourceProperties={}))
    assert [answer["Data"]["applied"] for _, answer in door.answers] == [ALL, []]
    assert door.answers[1][1]["PhysicalResourceId"] == "another"


def test_a_deletion_succeeds_though_nothing_is_set_up(
    door: AnswerDoor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    invoke(request(door, "Delete", PhysicalResourceId="schema"))
    ((_, answer),) = door.answers
    assert (answer["Status"], answer["Data"]) == ("SUCCESS", {})


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("postgresql://postgres:s3cr3t@127.0.0.1:1/none", "Can't create a connection"),
        ("", "set DATABASE_URL, or DATABASE_HOST with DATABASE_SECRET_ARN"),
    ],
)
@pytest.mark.parametrize("kind", ["Create", "Update"])
def test_a_failure_is_an_answer_too_and_holds_no_secret(
    door: AnswerDoor, monkeypatch: pytest.MonkeyPatch, kind: str, url: str, reason: str
) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    invoke(request(door, kind))
    ((_, answer),) = door.answers
    assert answer["Status"] == "FAILED"
    assert reason in answer["Reason"]
    assert "s3cr3t" not in answer["Reason"]


@pytest.mark.usefixtures("url")
def test_an_answer_that_is_not_taken_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("db_migrator.cloudformation._PUT_PAUSES_S", (0, 0, None))
    with answer_door(refusals=2) as door:
        invoke(request(door, "Create"))
        assert [answer["Status"] for _, answer in door.answers] == ["SUCCESS"]


@pytest.mark.usefixtures("url")
def test_an_answer_that_is_never_taken_is_an_error_so_that_lambda_invokes_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("db_migrator.cloudformation._PUT_PAUSES_S", (0, None))
    with answer_door(refusals=2) as door, pytest.raises(OSError, match="503"):
        invoke(request(door, "Create"))
    assert door.answers == []


def test_while_another_runner_holds_the_lock_the_answer_comes_before_the_time_is_up(
    empty: Database, door: AnswerDoor
) -> None:
    lock = f"select pg_advisory_xact_lock({0x7768656E})"
    with empty.engine.begin() as connection:
        connection.execute(text(lock))
        invoke(request(door, "Create"), left_ms=40_300)
    ((_, answer),) = door.answers
    assert answer["Status"] == "FAILED"
    assert "other sessions hold the migration lock" in answer["Reason"]
    invoke(request(door, "Update"))
    assert door.answers[1][1]["Status"] == "SUCCESS"


def test_five_deployments_at_once_all_end_well(empty: Database) -> None:
    barrier = threading.Barrier(5)

    def deploy(_: int) -> list[str]:
        barrier.wait(30)
        applied: list[str] = invoke({"action": "migrate"})["applied"]
        return applied

    with ThreadPoolExecutor(5) as pool:
        outcomes = list(pool.map(deploy, range(5)))
    assert sorted(name for names in outcomes for name in names) == ALL
    assert version(empty) == ALL[-1]


# On a server that allows 100 connections: 0.8 of them, 20 kept for the rest, 5 to a worker.
@pytest.mark.parametrize(("workers", "fits"), [(11, True), (12, True), (13, False)])
def test_more_workers_than_the_server_can_bear_fail_the_deployment(
    empty: Database, monkeypatch: pytest.MonkeyPatch, workers: int, *, fits: bool
) -> None:
    monkeypatch.setenv("EXECUTOR_MAXIMUM_CONCURRENCY", str(workers))
    assert limit(empty) == 100
    if fits:
        assert invoke({"action": "migrate"})["version"] == ALL[-1]
    else:
        with pytest.raises(SettingsError, match=r"may need 85 connections, .* the server's 100"):
            invoke({"action": "migrate"})
        assert version(empty) is None


def test_settings_of_other_functions_that_contradict_each_other_fail_the_deployment(
    empty: Database, door: AnswerDoor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OIDC_ISSUER", "https://login.example.com")
    invoke(request(door, "Create"))
    ((_, answer),) = door.answers
    assert answer["Status"] == "FAILED"
    assert "set OIDC_ISSUER and OIDC_AUDIENCE, or neither" in answer["Reason"]
    assert version(empty) is None


def limit(database: Database) -> int:
    shown = database.transact(lambda c: c.execute(text("show max_connections")).scalar_one())
    return int(shown)


@pytest.mark.usefixtures("url")
def test_operators_get_the_failure_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://postgres@127.0.0.1:1/none")
    with pytest.raises(sqlalchemy.exc.DBAPIError):
        invoke({"action": "migrate"})


@pytest.mark.parametrize("event", [{}, {"action": "drop"}, {"action": "migrate", "to": "0001"}])
def test_an_event_that_asks_for_something_else_is_refused(event: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="neither"):
        invoke(event)
