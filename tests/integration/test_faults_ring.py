"""A fault of the outside shows in a metric, and the metric has an alarm that rings.

Each fault is made in the function that it befalls; what that function counts, raises or answers is
then held against the alarms of the template.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import moto.settings
import pytest

import dlq_notifier.handler
import http_api.handler
import run_executor.handler
import run_watchdog.handler
import schedule_reconciler.handler
import stream_matcher.handler
from tests.contract.alarms import metric_of, rings
from tests.contract.template_forms import Json, form_of, transformed
from tests.golden import EVENTS
from tests.integration.conftest import Aws
from tests.integration.engine_world import World, kinesis_record
from tests.integration.refusing_aws import each_throttled, refusing, shards_full, throttled
from tests.integration.test_failures import UNAVAILABLE, WEBHOOK, Target
from tests.integration.test_handlers import Remaining, metric_values, sqs_event
from tests.integration.test_triage import NOTIFY
from whenthen.actions.registry import clear_test_executors, register_test_executor
from whenthen.domain import json_text
from whenthen.domain.kinds import ActionType
from whenthen.domain.schemas.messages import encode
from whenthen.engine import composition
from whenthen.engine.context import Context

# function → (its service, its handler)
HANDLERS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "HttpApiFunction": ("http-api", http_api.handler.lambda_handler),
    "StreamMatcherFunction": ("stream-matcher", stream_matcher.handler.lambda_handler),
    "RunExecutorFunction": ("run-executor", run_executor.handler.lambda_handler),
    "ScheduleReconcilerFunction": (
        "schedule-reconciler",
        schedule_reconciler.handler.lambda_handler,
    ),
    "RunWatchdogFunction": ("run-watchdog", run_watchdog.handler.lambda_handler),
    "DlqNotifierFunction": ("dlq-notifier", dlq_notifier.handler.lambda_handler),
}
Rung = tuple[str, str]
Refusal = Callable[[Json], tuple[int, Json]]


@pytest.fixture(scope="module")
def alarms() -> dict[str, Json]:
    """A deployment's alarms by their names."""
    return {
        name: resource["Properties"]
        for name, resource in form_of(transformed(), {})["Resources"].items()
        if resource["Type"] == "AWS::CloudWatch::Alarm"
    }


@pytest.fixture(scope="module")
def watched(alarms: dict[str, Json]) -> set[Rung]:
    """What the alarms watch: (service or resource, metric)."""
    return {metric_of(metric) for alarm in alarms.values() for metric in metrics_of(alarm)}


def metrics_of(alarm: Json) -> list[Json]:
    added = [part["MetricStat"]["Metric"] for part in alarm.get("Metrics", [])[1:]]
    return added or [alarm]


@pytest.fixture
def world(
    context: Context, migrated_url: str, aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    for name, value in {
        "DATABASE_URL": migrated_url,
        "EVENT_STREAM_NAME": aws.stream,
        "RUN_QUEUE_URL": aws.queue_url,
        "NOTICE_QUEUE_URL": aws.notice_url,
    }.items():
        monkeypatch.setenv(name, value)
    composition.process_context.cache_clear()
    yield World(context)
    for service, _ in HANDLERS.values():
        composition.process_context(service).database.close()
    composition.process_context.cache_clear()
    clear_test_executors()


def call(function: str, event: Any, world: World) -> Any:
    """Invoke a function at the world's time."""
    service, handler = HANDLERS[function]
    process = composition.process_context(service)
    process.database.clock_offset_s = world.context.database.clock_offset_s
    return handler(event, Remaining())


def match(world: World) -> Any:
    world.add_automation([NOTIFY])
    event = world.created_event(world.add_record())
    return {"Records": [kinesis_record(json_text.dumps(event).encode(), "1")]}


def execute(world: World, action: dict[str, Any]) -> Any:
    register_test_executor(ActionType.SEND_WEBHOOK, Target(UNAVAILABLE))
    world.add_automation([action])
    world.match(world.created_event(world.add_record(Status="A")))
    return sqs_event(encode(world.the_run()["id"]))


def retry(world: World) -> Any:
    return execute(world, WEBHOOK)


def die(world: World) -> Any:
    return execute(world, {**WEBHOOK, "retries": 0})


def update(world: World) -> Any:
    config = {"recordId": "from_trigger", "propertyValues": {"Status": "C"}}
    return execute(world, {"type": "UPDATE_RECORD", "config": config})


def wake(world: World) -> Any:
    execute(world, NOTIFY)
    world.turn_clock(200)
    return {}


def wake_dead(world: World) -> Any:
    die(world)
    world.execute()
    world.turn_clock(200)
    return {}


def relay(world: World) -> Any:
    world.sql(
        "insert into outbox (id, workspace_id, event_id, type, payload, relay_at) values"
        " (gen_random_uuid(), :w, 'e', 'record.created', '{}', whenthen_now())",
        w=world.workspace_id,
    )
    return {}


@pytest.mark.parametrize(
    ("function", "prepare", "metric"),
    [
        ("StreamMatcherFunction", match, "automations.enqueue_failed"),
        ("RunExecutorFunction", retry, "automations.enqueue_failed"),
        ("RunExecutorFunction", die, "automations.notice_failed"),
        ("RunExecutorFunction", update, "automations.publish_failed"),
        ("RunWatchdogFunction", wake, "automations.enqueue_failed"),
        ("RunWatchdogFunction", wake_dead, "automations.notice_failed"),
        ("RunWatchdogFunction", relay, "automations.publish_failed"),
    ],
)
def test_a_missing_permission_rings(
    world: World,
    watched: set[Rung],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    function: str,
    prepare: Callable[[World], Any],
    metric: str,
) -> None:
    event = prepare(world)
    capsys.readouterr()
    # From here on credentials are asked for their policies, and the tests' own have none.
    monkeypatch.setattr(moto.settings, "INITIAL_NO_AUTH_ACTION_COUNT", 0)
    call(function, event, world)
    assert metric_values(capsys.readouterr().out)[metric] >= 1
    assert (HANDLERS[function][0], metric) in watched


@pytest.mark.parametrize(
    ("function", "event"),
    [
        ("StreamMatcherFunction", "stream_record_created.json"),
        ("RunExecutorFunction", "queue_run.json"),
        ("ScheduleReconcilerFunction", "schedule_tick.json"),
        ("RunWatchdogFunction", "watchdog_tick.json"),
        ("DlqNotifierFunction", "notice_death.json"),
    ],
)
def test_a_refused_database_rings_as_an_error_of_the_function(
    world: World, watched: set[Rung], monkeypatch: pytest.MonkeyPatch, function: str, event: str
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://postgres@127.0.0.1:1/none")
    composition.process_context.cache_clear()
    with pytest.raises(Exception, match="Can't create a connection"):
        call(function, golden(event), world)
    assert (function, "Errors") in watched


def test_a_refused_database_rings_as_failing_requests(
    world: World, watched: set[Rung], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://postgres@127.0.0.1:1/none")
    composition.process_context.cache_clear()
    answer = call("HttpApiFunction", golden("http_create_automation.json"), world)
    assert answer["statusCode"] == 503
    assert ("HttpApi", "5xx") in watched


def golden(name: str) -> Any:
    return json.loads((EVENTS / name).read_text("utf-8"))


@pytest.mark.parametrize(
    ("queue", "metric"),
    [
        ("RunQueue", "ApproximateAgeOfOldestMessage"),
        ("NoticeQueue", "ApproximateAgeOfOldestMessage"),
        ("DeadLetterQueue", "ApproximateAgeOfOldestMessage"),
        ("ParkingQueue", "ApproximateNumberOfMessagesVisible"),
    ],
)
def test_a_queue_that_fills_up_rings(watched: set[Rung], queue: str, metric: str) -> None:
    assert (queue, metric) in watched


def test_a_message_that_a_queue_gave_up_on_rings(
    world: World, watched: set[Rung], capsys: pytest.CaptureFixture[str]
) -> None:
    call("DlqNotifierFunction", sqs_event("no message of ours"), world)
    assert metric_values(capsys.readouterr().out) == {"automations.poison_messages": 1}
    assert ("dlq-notifier", "automations.poison_messages") in watched


@pytest.mark.parametrize(
    ("endpoint", "refusal", "function", "prepare", "metric", "alarm"),
    [
        pytest.param(
            *("SQS", throttled, "StreamMatcherFunction", match),
            *("automations.enqueue_failed", "RunsUnsentAlarm"),
            id="the run queue refuses calls",
        ),
        pytest.param(
            *("SQS", each_throttled, "StreamMatcherFunction", match),
            *("automations.enqueue_failed", "RunsUnsentAlarm"),
            id="the run queue refuses messages",
        ),
        pytest.param(
            *("SQS", each_throttled, "RunExecutorFunction", die),
            *("automations.notice_failed", "NoticesUnsentAlarm"),
            id="the notice queue refuses messages",
        ),
        pytest.param(
            *("KINESIS", shards_full, "RunExecutorFunction", update),
            *("automations.publish_failed", "EventsUnpublishedAlarm"),
            id="the stream's shards are full",
        ),
    ],
)
def test_a_queue_that_takes_nothing_more_rings_in_the_third_minute(
    world: World,
    alarms: dict[str, Json],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    endpoint: str,
    refusal: Refusal,
    function: str,
    prepare: Callable[[World], Any],
    metric: str,
    alarm: str,
) -> None:
    service = HANDLERS[function][0]
    event = prepare(world)
    capsys.readouterr()
    with refusing(refusal) as url:
        monkeypatch.setenv(f"AWS_ENDPOINT_URL_{endpoint}", url)
        call(function, event, world)
    lost = metric_values(capsys.readouterr().out)[metric]
    assert lost >= 1
    minutes = [lost, None, lost]
    assert not rings(alarms[alarm], {(service, metric): minutes})
    assert rings(alarms[alarm], {(service, metric): [*minutes, lost]})
    # Five minutes later it is over.
    assert not rings(alarms[alarm], {(service, metric): [*minutes, lost, *[None] * 5]})


def test_what_several_functions_could_not_send_is_added_up(alarms: dict[str, Json]) -> None:
    metric = "automations.enqueue_failed"
    series = {
        ("stream-matcher", metric): [1, None, None],
        ("run-watchdog", metric): [None, 1, 1],
    }
    assert rings(alarms["RunsUnsentAlarm"], series)
    assert not rings(alarms["RunsUnsentAlarm"], {("run-watchdog", metric): [None, 1, 1]})


@pytest.mark.parametrize(
    ("alarm", "queue", "age_max_s"),
    [
        ("RunQueueAlarm", "RunQueue", 1_800),
        ("NoticeQueueAlarm", "NoticeQueue", 600),
        ("DeadLetterQueueAlarm", "DeadLetterQueue", 600),
    ],
)
def test_a_queue_whose_messages_only_grow_older_rings_after_five_minutes(
    alarms: dict[str, Json], alarm: str, queue: str, age_max_s: int
) -> None:
    # So does one with 120,000 messages in flight, the most there can be: no worker gets another.
    metric = (queue, "ApproximateAgeOfOldestMessage")
    late = float(age_max_s + 1)
    assert not rings(alarms[alarm], {metric: [age_max_s] * 5})
    assert not rings(alarms[alarm], {metric: [age_max_s, *[late] * 4]})
    assert rings(alarms[alarm], {metric: [late] * 5})
