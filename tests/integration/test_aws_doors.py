"""The doors to AWS: what each call carries, and what comes back when AWS takes only a part."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any, Self
from uuid import UUID

import pytest
from botocore.stub import Stubber

from tests.conftest import settings_for
from tests.integration.conftest import Aws
from whenthen.aws import batches
from whenthen.aws.clients import make_client
from whenthen.aws.event_stream import EventStream, StreamRecord
from whenthen.aws.notice_queue import NoticeQueue
from whenthen.aws.run_queue import QueuedRun, RunQueue
from whenthen.domain.schemas.notices import DeathNotice
from whenthen.engine.context import Context
from whenthen.engine.publish import publish
from whenthen.store.new_id import new_id
from whenthen.store.outbox import new_event

QUEUE_URL = "https://sqs.eu-west-1.amazonaws.com/123456789012/runs"
WORKSPACES = [UUID(int=1), UUID(int=2)]
MB = 1024 * 1024


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "time", SimpleNamespace(sleep=lambda _: None))


class Stubbed:
    """A real client whose answers are given; `calls` holds the parameters of each call."""

    def __init__(self, client: Any, operation: str) -> None:
        self.client = client
        self.calls: list[Mapping[str, Any]] = []
        self._operation = operation
        self._stubber = Stubber(client)

    def _keep(self, params: Mapping[str, Any], **_: Any) -> None:
        self.calls.append(params)

    def __enter__(self) -> Self:
        self._stubber.activate()
        self.client.meta.events.register("provide-client-params", self._keep)
        return self

    def __exit__(self, *_: object) -> None:
        self.client.meta.events.unregister("provide-client-params", self._keep)
        self._stubber.deactivate()

    def answers(self, response: Mapping[str, Any]) -> None:
        self._stubber.add_response(self._operation, response)

    def refuses(self, code: str) -> None:
        self._stubber.add_client_error(self._operation, code)

    def assert_all_asked(self) -> None:
        self._stubber.assert_no_pending_responses()


# One client of a service serves all tests: making one takes a third of a second.
cached_client = cache(make_client)


# ------------------------------------------------------------------------------- run queue


@pytest.fixture
def sqs() -> Iterator[Stubbed]:
    with Stubbed(cached_client("sqs"), "send_message_batch") as stubbed:
        yield stubbed


@pytest.fixture
def queue(sqs: Stubbed) -> RunQueue:
    made = RunQueue(QUEUE_URL)
    made._client = sqs.client
    return made


def queued_runs(count: int) -> list[QueuedRun]:
    return [QueuedRun(UUID(int=100 + n), WORKSPACES[n % 2], n) for n in range(count)]


def sqs_answer(count: int, failed: Sequence[int] = ()) -> dict[str, Any]:
    return {
        "Successful": [
            {"Id": str(n), "MessageId": f"m{n}", "MD5OfMessageBody": "x"}
            for n in range(count)
            if n not in failed
        ],
        "Failed": [
            {"Id": str(n), "SenderFault": False, "Code": "InternalError", "Message": "try later"}
            for n in failed
        ],
    }


def run_ids(call: Mapping[str, Any]) -> list[UUID]:
    return [UUID(json.loads(entry["MessageBody"])["runId"]) for entry in call["Entries"]]


def test_a_message_names_its_run_its_delay_and_its_workspace_as_the_group(
    queue: RunQueue, sqs: Stubbed
) -> None:
    sqs.answers(sqs_answer(2))
    assert queue.send([QueuedRun(UUID(int=7), WORKSPACES[0]), *queued_runs(901)[900:]]) == []
    assert sqs.calls == [
        {
            "QueueUrl": QUEUE_URL,
            "Entries": [
                {
                    "Id": "0",
                    "MessageBody": '{"v":1,"runId":"00000000-0000-0000-0000-000000000007"}',
                    "DelaySeconds": 0,
                    "MessageGroupId": str(WORKSPACES[0]),
                },
                {
                    "Id": "1",
                    "MessageBody": '{"v":1,"runId":"00000000-0000-0000-0000-0000000003e8"}',
                    "DelaySeconds": 900,
                    "MessageGroupId": str(WORKSPACES[0]),
                },
            ],
        }
    ]


@pytest.mark.parametrize(
    ("count", "sizes"), [(0, []), (1, [1]), (10, [10]), (11, [10, 1]), (20, [10, 10])]
)
def test_messages_go_in_batches_of_10_in_their_order(
    queue: RunQueue, sqs: Stubbed, count: int, sizes: list[int]
) -> None:
    for size in sizes:
        sqs.answers(sqs_answer(size))
    runs = queued_runs(count)
    assert queue.send(runs) == []
    assert [len(call["Entries"]) for call in sqs.calls] == sizes
    sent = [run_id for call in sqs.calls for run_id in run_ids(call)]
    assert sent == [run.run_id for run in runs]


def test_case_046_of_a_batch_that_failed_in_part_only_that_part_is_sent_again(
    queue: RunQueue, sqs: Stubbed
) -> None:
    sqs.answers(sqs_answer(10, failed=[4, 7]))
    sqs.answers(sqs_answer(2, failed=[1]))
    sqs.answers(sqs_answer(1))
    runs = queued_runs(10)
    assert queue.send(runs) == []
    first, second, third = sqs.calls
    assert run_ids(first) == [run.run_id for run in runs]
    assert [(e["Id"], e["DelaySeconds"]) for e in second["Entries"]] == [("0", 4), ("1", 7)]
    assert [(e["Id"], e["DelaySeconds"]) for e in third["Entries"]] == [("0", 7)]


def test_case_046_messages_that_fail_to_the_end_are_returned_and_later_batches_still_go(
    queue: RunQueue, sqs: Stubbed
) -> None:
    sqs.answers(sqs_answer(10, failed=[4]))
    sqs.answers(sqs_answer(1, failed=[0]))
    sqs.answers(sqs_answer(1, failed=[0]))
    sqs.answers(sqs_answer(2))
    runs = queued_runs(12)
    assert queue.send(runs) == [runs[4]]
    sqs.assert_all_asked()
    assert run_ids(sqs.calls[-1]) == [run.run_id for run in runs[10:]]


def test_case_046_a_refused_batch_is_returned_whole(queue: RunQueue, sqs: Stubbed) -> None:
    for _ in range(batches.TRIES):
        sqs.refuses("AWS.SimpleQueueService.BatchRequestTooLong")
    runs = queued_runs(3)
    assert queue.send(runs) == runs
    sqs.assert_all_asked()


def test_messages_arrive_at_the_queue(aws: Aws) -> None:
    queue = RunQueue(aws.queue_url)
    assert queue.send([QueuedRun(UUID(int=n), WORKSPACES[0]) for n in range(12)]) == []
    queue.send([QueuedRun(UUID(int=99), WORKSPACES[0], 900)])
    assert sorted(body["runId"] for body in aws.queued()) == [str(UUID(int=n)) for n in range(12)]


def test_nothing_is_connected_for_no_messages() -> None:
    queue = RunQueue(QUEUE_URL)
    assert queue.send([]) == []
    assert "_client" not in vars(queue)


# ------------------------------------------------------------------------------ notice queue


@pytest.fixture
def notice_queue(sqs: Stubbed) -> NoticeQueue:
    made = NoticeQueue(QUEUE_URL)
    made._client = sqs.client
    return made


def test_a_notice_names_its_run_and_which_of_its_deaths(
    notice_queue: NoticeQueue, sqs: Stubbed
) -> None:
    sqs.answers(sqs_answer(1))
    assert notice_queue.send([DeathNotice(UUID(int=7), 2)]) == []
    body = '{"v":1,"kind":"death","runId":"00000000-0000-0000-0000-000000000007","death":2}'
    assert sqs.calls == [{"QueueUrl": QUEUE_URL, "Entries": [{"Id": "0", "MessageBody": body}]}]


def test_case_046_of_notices_that_failed_in_part_only_that_part_is_sent_again(
    notice_queue: NoticeQueue, sqs: Stubbed
) -> None:
    sqs.answers(sqs_answer(10, failed=[3]))
    sqs.answers(sqs_answer(1, failed=[0]))
    sqs.answers(sqs_answer(1, failed=[0]))
    sqs.answers(sqs_answer(1))
    notices = [DeathNotice(UUID(int=n), 1) for n in range(11)]
    assert notice_queue.send(notices) == [notices[3]]
    assert [run_ids(call) for call in sqs.calls] == [
        [notice.run_id for notice in notices[:10]],
        [notices[3].run_id],
        [notices[3].run_id],
        [notices[10].run_id],
    ]


def test_nothing_is_connected_for_no_notices() -> None:
    notice_queue = NoticeQueue(QUEUE_URL)
    assert notice_queue.send([]) == []
    assert "_client" not in vars(notice_queue)


# ---------------------------------------------------------------------------- event stream


@pytest.fixture
def kinesis() -> Iterator[Stubbed]:
    with Stubbed(cached_client("kinesis"), "put_records") as stubbed:
        yield stubbed


@pytest.fixture
def stream(kinesis: Stubbed) -> EventStream:
    made = EventStream("events")
    made._client = kinesis.client
    return made


def stream_records(*sizes: int) -> list[StreamRecord]:
    return [StreamRecord(f"key-{n}", b"x" * size) for n, size in enumerate(sizes)]


def kinesis_answer(count: int, failed: Sequence[int] = ()) -> dict[str, Any]:
    code = "ProvisionedThroughputExceededException"
    return {
        # As the service does it: no count of nothing.
        **({"FailedRecordCount": len(failed)} if failed else {}),
        "Records": [
            {"ErrorCode": code, "ErrorMessage": "slow down"}
            if n in failed
            else {"SequenceNumber": str(n), "ShardId": "shardId-000000000000"}
            for n in range(count)
        ],
    }


def keys(call: Mapping[str, Any]) -> list[str]:
    return [record["PartitionKey"] for record in call["Records"]]


def test_a_record_is_put_with_its_key_and_its_bytes(stream: EventStream, kinesis: Stubbed) -> None:
    kinesis.answers(kinesis_answer(1))
    assert stream.put([StreamRecord("key", '{"Name":"Größe"}'.encode())]) == []
    assert kinesis.calls == [
        {
            "StreamName": "events",
            "Records": [{"Data": '{"Name":"Größe"}'.encode(), "PartitionKey": "key"}],
        }
    ]


@pytest.mark.parametrize(
    ("sizes", "batch_sizes"),
    [
        ([], []),
        ([1], [1]),
        ([0] * 499, [499]),
        ([0] * 500, [500]),
        ([0] * 501, [500, 1]),
        ([0] * 1001, [500, 500, 1]),
        ([MB] * 5, [5]),
        ([MB] * 4 + [MB - 1, 1], [6]),
        ([MB] * 4 + [MB + 1], [4, 1]),
        ([MB] * 5 + [0], [6]),
        ([MB] * 5 + [1], [5, 1]),
        ([5 * MB, 5 * MB], [1, 1]),
        # More than a batch may hold goes alone, and AWS has the last word.
        ([1, 5 * MB + 1, 1], [1, 1, 1]),
    ],
)
def test_records_go_in_batches_of_500_and_5_mb_in_their_order(
    stream: EventStream, kinesis: Stubbed, sizes: list[int], batch_sizes: list[int]
) -> None:
    for size in batch_sizes:
        kinesis.answers(kinesis_answer(size))
    records = stream_records(*sizes)
    assert stream.put(records) == []
    assert [len(call["Records"]) for call in kinesis.calls] == batch_sizes
    put = [key for call in kinesis.calls for key in keys(call)]
    assert put == [record.partition_key for record in records]


def test_case_046_of_records_that_failed_in_part_only_that_part_is_put_again(
    stream: EventStream, kinesis: Stubbed
) -> None:
    kinesis.answers(kinesis_answer(10, failed=[1, 2, 9]))
    kinesis.answers(kinesis_answer(3, failed=[0, 2]))
    kinesis.answers(kinesis_answer(2, failed=[1]))
    records = stream_records(*[1] * 10)
    assert stream.put(records) == [records[9]]
    assert [keys(call) for call in kinesis.calls] == [
        [f"key-{n}" for n in range(10)],
        ["key-1", "key-2", "key-9"],
        ["key-1", "key-9"],
    ]


def test_case_046_records_delivered_and_records_produced_are_the_same_number(
    stream: EventStream, kinesis: Stubbed
) -> None:
    kinesis.answers(kinesis_answer(10, failed=[0, 1, 2]))
    kinesis.answers(kinesis_answer(3))
    assert stream.put(stream_records(*[1] * 10)) == []
    first, second = kinesis.calls
    assert [*keys(first)[3:], *keys(second)] == [f"key-{n}" for n in (*range(3, 10), 0, 1, 2)]


def test_case_046_a_refused_batch_of_records_does_not_hold_up_the_next(
    stream: EventStream, kinesis: Stubbed
) -> None:
    for _ in range(batches.TRIES):
        kinesis.refuses("ValidationException")
    kinesis.answers(kinesis_answer(1))
    records = stream_records(5 * MB, 1)
    assert stream.put(records) == [records[0]]
    kinesis.assert_all_asked()


def test_records_arrive_at_the_stream(aws: Aws) -> None:
    records = [StreamRecord(str(n), json.dumps({"n": n}).encode()) for n in range(3)]
    assert EventStream(aws.stream).put(records) == []
    assert aws.stream_records() == [{"n": 0}, {"n": 1}, {"n": 2}]


def test_nothing_is_connected_for_no_records() -> None:
    stream = EventStream("events")
    assert stream.put([]) == []
    assert "_client" not in vars(stream)


# ------------------------------------------------------------------------------ unreachable


@pytest.fixture
def unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every client made now looks for AWS at a port of this machine where nobody listens."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")


@pytest.mark.usefixtures("unreachable")
def test_what_an_unreachable_queue_did_not_take_is_returned() -> None:
    queue = RunQueue(QUEUE_URL)
    queue._client = make_client("sqs", attempts=1)
    runs = queued_runs(11)
    assert queue.send(runs) == runs


@pytest.mark.usefixtures("unreachable")
def test_what_an_unreachable_stream_did_not_take_is_returned() -> None:
    stream = EventStream("events")
    stream._client = make_client("kinesis", attempts=1)
    records = stream_records(*[1] * 501)
    assert stream.put(records) == records


def test_case_046_an_event_that_cannot_be_put_raises_nothing_and_counts_in_a_metric(
    aws: Aws, capsys: pytest.CaptureFixture[str]
) -> None:
    unknown = f"{aws.stream}-of-another-account"
    context = Context(settings_for("postgresql://", EVENT_STREAM_NAME=unknown), "test")
    event = new_event(workspace_id=new_id(), type="record.created", payload={})
    publish(context, [event, event])
    context.metrics.flush()
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["automations.publish_failed"] == [2.0]
