"""Feeds a queue's messages to a function, as Lambda's event source mapping does."""

import threading
from collections.abc import Callable
from typing import Any

from devstack.batch_answers import failed_items
from devstack.function_pool import PoolClosedError
from devstack.iam_rules import Need
from devstack.sandbox import Invocation
from devstack.sqs_rules import queue_of, receive
from devstack.stack_deploy import QueueMapping
from devstack.stack_template import REGION

POLL_S = 1.0
# One receive takes ten at most; larger batches are gathered.
RECEIVE_MAX = 10

Invoke = Callable[[Any], Invocation]


def needs_of(mapping: QueueMapping) -> list[Need]:
    """Return what the function's role must allow, for Lambda polls as that role."""
    actions = ("sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes")
    return [Need(action, mapping.queue_arn) for action in actions]


class SqsPoller:
    """`pollers` loops that each receive a batch, invoke, and delete what succeeded.

    What failed is left alone: it becomes visible when its visibility timeout ends, and the queue
    itself moves it to its dead-letter queue after `maxReceiveCount` receives.
    """

    def __init__(
        self, account_id: str, mapping: QueueMapping, pollers: int, invoke: Invoke
    ) -> None:
        self._mapping = mapping
        self._invoke = invoke
        self._queue = queue_of(account_id, mapping.queue_arn)
        self._stop = threading.Event()
        count = min(pollers, mapping.max_concurrency or pollers)
        self._threads = [
            threading.Thread(target=self._poll, name=f"sqs-{mapping.function}-{n}", daemon=True)
            for n in range(count)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Receive nothing more; a batch in work goes on."""
        self._stop.set()

    def join(self, timeout_s: float) -> None:
        for thread in self._threads:
            thread.join(timeout_s)

    def _poll(self) -> None:
        while not self._stop.is_set():
            if self._queue.index.wait(POLL_S) and not self._stop.is_set():
                batch = self._gather()
                if batch:
                    try:
                        self._deliver(batch)
                    except PoolClosedError:
                        return

    def _gather(self) -> list[Any]:
        size = self._mapping.batch_size
        batch = receive(self._queue, min(size, RECEIVE_MAX))
        if self._mapping.window_s and len(batch) < size:
            self._stop.wait(self._mapping.window_s)
        while 0 < len(batch) < size and (more := receive(self._queue, size - len(batch))):
            batch += more
        return batch

    def _deliver(self, batch: list[Any]) -> None:
        records = [sqs_record(message, self._mapping.queue_arn) for message in batch]
        invocation = self._invoke({"Records": records})
        receipts = {message.id: message.receipt_handle for message in batch}
        failed: set[str] | None = None
        if invocation.error is None:
            failed = failed_items(invocation.result, receipts) if self._mapping.partial else set()
        if failed is not None:
            for message_id, receipt in receipts.items():
                if message_id not in failed:
                    self._queue.index.delete(receipt)


def sqs_record(message: Any, queue_arn: str) -> dict[str, Any]:
    """Return one message as Lambda hands it to a function."""
    attributes = {
        "ApproximateReceiveCount": str(message.approximate_receive_count),
        "SentTimestamp": str(message.sent_timestamp),
        "SenderId": message.sender_id,
        "ApproximateFirstReceiveTimestamp": str(message.approximate_first_receive_timestamp),
    }
    if message.group_id is not None:
        attributes["MessageGroupId"] = message.group_id
    return {
        "messageId": message.id,
        "receiptHandle": message.receipt_handle,
        "body": message.body,
        "attributes": attributes,
        "messageAttributes": {},
        "md5OfBody": message.body_md5,
        "eventSource": "aws:sqs",
        "eventSourceARN": queue_arn,
        "awsRegion": REGION,
    }
