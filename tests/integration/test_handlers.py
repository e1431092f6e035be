"""The stream matcher's and the run executor's handlers, with what AWS hands them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import run_executor.handler
import stream_matcher.handler
from tests.integration.conftest import Aws
from tests.integration.engine_world import World, kinesis_record
from tests.integration.test_triage import NOTIFY
from whenthen.domain import json_text
from whenthen.domain.schemas.messages import encode
from whenthen.engine import composition
from whenthen.engine.context import Context


class Remaining:
    """A Lambda context with all of its time left."""

    def get_remaining_time_in_millis(self) -> int:
        return 180_000


@pytest.fixture
def world(
    context: Context, migrated_url: str, aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    monkeypatch.setenv("DATABASE_URL", migrated_url)
    monkeypatch.setenv("EVENT_STREAM_NAME", aws.stream)
    monkeypatch.setenv("RUN_QUEUE_URL", aws.queue_url)
    composition.process_context.cache_clear()
    yield World(context)
    for service in ("stream-matcher", "run-executor"):
        composition.process_context(service).database.close()
    composition.process_context.cache_clear()


def sqs_event(*bodies: str) -> dict[str, Any]:
    return {"Records": [{"messageId": f"m{n}", "body": body} for n, body in enumerate(bodies)]}


def metric_values(output: str) -> dict[str, float]:
    values: dict[str, float] = {}
    for line in output.splitlines():
        if '"_aws"' in line:
            emf = json.loads(line)
            for metric in emf["_aws"]["CloudWatchMetrics"][0]["Metrics"]:
                values[metric["Name"]] = emf[metric["Name"]][0]
    return values


def test_case_059_one_bad_record_of_a_hundred_is_kept_aside_and_99_match(
    world: World, aws: Aws, capsys: pytest.CaptureFixture[str]
) -> None:
    world.add_automation([NOTIFY])
    events = [world.created_event(world.add_record(Status="B")) for _ in range(100)]
    records = [
        kinesis_record(json_text.dumps(event).encode(), str(n)) for n, event in enumerate(events)
    ]
    records[57] = kinesis_record(b"\xff{not json", "57")
    answer = stream_matcher.handler.lambda_handler({"Records": records}, object())
    assert answer == {"batchItemFailures": []}
    assert len(world.runs()) == 99
    (dead,) = world.sql("select * from dead_events")
    assert (bytes(dead["data"]), dead["source"]) == (b"\xff{not json", "shardId-000000000000:57")
    assert len(aws.queued()) == 99
    assert metric_values(capsys.readouterr().out) == {
        "automations.matched": 99,
        "automations.dead_events": 1,
    }


def test_case_059_a_record_that_is_no_base64_is_kept_aside(world: World) -> None:
    answer = stream_matcher.handler.lambda_handler(
        {"Records": [kinesis_record("%%%", "1")]}, object()
    )
    assert answer == {"batchItemFailures": []}
    assert world.sql("select reason from dead_events")[0]["reason"] == "not base64"


def test_an_unreachable_database_raises_so_that_the_batch_comes_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://postgres@127.0.0.1:1/none")
    composition.process_context.cache_clear()
    event = world.created_event(world.add_record())
    record = kinesis_record(json_text.dumps(event).encode(), "1")
    with pytest.raises(Exception, match="Can't create a connection"):
        stream_matcher.handler.lambda_handler({"Records": [record]}, object())
    with pytest.raises(Exception, match="Can't create a connection"):
        run_executor.handler.lambda_handler(
            sqs_event('{"v":1,"runId":"019aa000-0000-7000-8000-000000000000"}'), Remaining()
        )


@pytest.mark.parametrize(
    ("body", "fails"),
    [
        ("hello", True),
        ("", True),
        ("{", True),
        ("[]", True),
        ('{"runId":null}', True),
        ('{"v":1,"runId":"not-a-uuid"}', True),
        ('{"v":2,"runId":"what newer code writes"}', False),
    ],
)
def test_case_058_a_bad_message_fails_alone(world: World, body: str, *, fails: bool) -> None:
    world.add_automation([NOTIFY])
    world.match(world.created_event(world.add_record()))
    good = encode(world.the_run()["id"])
    answer = run_executor.handler.lambda_handler(sqs_event(good, body), Remaining())
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m1"}] if fails else []}
    assert world.the_run()["status"] == "SUCCEEDED"


def test_case_061_messages_of_one_batch_fail_and_succeed_one_by_one(world: World) -> None:
    world.add_automation([NOTIFY])
    for _ in range(4):
        world.match(world.created_event(world.add_record()))
    good = [encode(run["id"]) for run in world.runs()]
    bodies = [good[0], good[1], "broken", good[2], good[3]]
    answer = run_executor.handler.lambda_handler(sqs_event(*bodies), Remaining())
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m2"}]}
    assert {run["status"] for run in world.runs()} == {"SUCCEEDED"}


def test_case_044_an_unknown_run_is_acknowledged(world: World) -> None:
    body = '{"v":1,"runId":"019aa000-0000-7000-8000-000000000000"}'
    answer = run_executor.handler.lambda_handler(sqs_event(body), Remaining())
    assert answer == {"batchItemFailures": []}
    assert world.runs() == []


def test_handlers_are_at_most_40_lines() -> None:
    for module in (stream_matcher.handler, run_executor.handler):
        assert module.__file__ is not None
        assert len(Path(module.__file__).read_text().splitlines()) <= 50
