"""Queues and streams reach their functions by Lambda's rules."""

import base64
import itertools
import json
from functools import partial
from typing import Any

import pytest

from devstack.emulated_aws import ACCOUNT_ID, allow_everything, enforce_iam
from devstack.sqs_rules import queue_of
from tests.integration.devstack.conftest import SampleStack, eventually, put, send


@pytest.fixture
def queue_arn(sample: SampleStack) -> str:
    return sample.stack.queue_mappings[0].queue_arn


def dead_bodies(sample: SampleStack) -> list[str]:
    queue = queue_of(ACCOUNT_ID, sample.stack.queue_mappings[0].queue_arn)
    return [message.body for message in queue.dead_letter_queue.index.visible()]


def counts(queue_arn: str) -> tuple[int, int, int]:
    counted: tuple[int, int, int] = queue_of(ACCOUNT_ID, queue_arn).index.counts()
    return counted


def test_what_succeeds_is_delivered_once_with_a_receive_count_of_one(
    sample: SampleStack, queue_arn: str
) -> None:
    for n in range(12):
        send(queue_arn, f"fine {n}", "g")
    eventually(lambda: counts(queue_arn) == (0, 0, 0), "an empty queue")
    for n in range(12):
        assert sample.witness.receive_counts(f"fine {n}") == [1]


def test_of_a_partial_failure_only_the_failed_message_comes_again_until_it_is_buried(
    sample: SampleStack, queue_arn: str
) -> None:
    send(queue_arn, "fail", "g")
    send(queue_arn, "beside it", "g")
    eventually(lambda: "fail" in dead_bodies(sample), "the poison in the dead-letter queue")
    assert sample.witness.receive_counts("fail") == [1, 2]
    assert sample.witness.receive_counts("beside it") == [1]


@pytest.mark.parametrize("word", ["raise", "nonsense", "exit", "hang"])
def test_a_failed_invocation_returns_its_batch_to_the_queue(
    sample: SampleStack, queue_arn: str, word: str
) -> None:
    send(queue_arn, word, "g")
    eventually(lambda: word in dead_bodies(sample), "the message in the dead-letter queue")
    # An invocation is witnessed when it ends; the second may end after the queue gave up on it.
    eventually(lambda: sample.witness.receive_counts(word) == [1, 2], "two deliveries")


def test_a_process_that_hung_is_killed_at_its_timeout_and_replaced(
    sample: SampleStack, queue_arn: str
) -> None:
    send(queue_arn, "hang", "h")

    def timeouts() -> list[str]:
        return [text for _, text in sample.witness.failures if "timed out after 1.00" in text]

    eventually(timeouts, "a timeout")
    eventually(lambda: len(sample.running.pools["QueueFunction"].pids()) == 2, "two processes")


def test_two_processes_take_turns(sample: SampleStack, queue_arn: str) -> None:
    def pids() -> set[int]:
        return {
            invocation.result["pid"]
            for function, _, invocation in list(sample.witness.invocations)
            if function == "QueueFunction" and invocation.result and "pid" in invocation.result
        }

    turns = itertools.count()

    def both_had_a_turn() -> bool:
        word = f"turn {next(turns)}"
        send(queue_arn, word, "g")
        eventually(partial(sample.witness.receive_counts, word), "the delivery")
        return len(pids()) >= 2

    # A process that an earlier test has hung or killed may still be coming back.
    eventually(both_had_a_turn, "a turn of the second process")


def kept_failures(sample: SampleStack) -> list[dict[str, Any]]:
    bucket = str(sample.stack.stream_mappings[0].failure_bucket_arn).split(":")[-1]
    s3 = sample.aws.client("s3")
    # The function's role may write failures and not read them; the test may.
    allow_everything()
    try:
        found = s3.list_objects_v2(Bucket=bucket).get("Contents", [])
        objects = [s3.get_object(Bucket=bucket, Key=item["Key"]) for item in found]
        return [json.loads(content["Body"].read()) for content in objects]
    finally:
        enforce_iam()


def test_poison_ends_in_the_failure_bucket_and_the_stream_goes_on(
    sample: SampleStack,
) -> None:
    stream = sample.stack.stream_mappings[0].stream_arn
    words = ["one", "two", "raise", "four", "poison", "six"]
    for word in words:
        put(stream, "the same shard", word.encode())
    eventually(lambda: len(kept_failures(sample)) == 2, "two failures")
    kept = kept_failures(sample)
    lost = {
        base64.b64decode(record["kinesis"]["data"]).decode()
        for failure in kept
        for record in failure["payload"]["Records"]
    }
    assert {"raise", "poison"} <= lost
    assert all(f["requestContext"]["condition"] == "RetryAttemptsExhausted" for f in kept)
    put(stream, "the same shard", b"after")
    eventually(lambda: "after" in delivered(sample), "the record behind the poison")
    assert set(words) <= set(delivered(sample))


def delivered(sample: SampleStack) -> list[str]:
    return [
        base64.b64decode(record["kinesis"]["data"]).decode()
        for function, event, _ in list(sample.witness.invocations)
        if function == "StreamFunction"
        for record in event["Records"]
    ]
