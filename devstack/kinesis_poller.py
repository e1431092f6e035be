"""Feeds a stream's shards to a function, as Lambda's event source mapping does."""

import base64
import json
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from devstack.batch_answers import failed_items
from devstack.function_pool import PoolClosedError
from devstack.iam_rules import Need
from devstack.sandbox import Invocation
from devstack.stack_deploy import StreamMapping
from devstack.stack_template import REGION
from devstack.stream_rules import StreamedRecord, read_after, shards_of, trim, wait_for_record

POLL_S = 1.0
# Lambda's payload limit of a synchronous invocation, less the envelope.
BATCH_MAX_BYTES = 5 * 1024 * 1024
FIRST_PAUSE_S = 0.25
LONGEST_PAUSE_S = 10.0

Invoke = Callable[[Any], Invocation]
# (key, body) of a failed batch, to be put into the failure bucket.
Keep = Callable[[str, bytes], None]


def needs_of(mapping: StreamMapping) -> list[Need]:
    """Return what the function's role must allow, for Lambda reads as that role."""
    reads = ("DescribeStream", "DescribeStreamSummary", "GetRecords", "GetShardIterator")
    needs = [Need(f"kinesis:{call}", mapping.stream_arn) for call in (*reads, "ListShards")]
    if mapping.failure_bucket_arn:
        needs += [
            Need("s3:PutObject", f"{mapping.failure_bucket_arn}/aws/lambda/key"),
            Need("s3:ListBucket", mapping.failure_bucket_arn),
        ]
    return needs


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive records of a shard that go into one invocation, and how often they failed."""

    records: tuple[StreamedRecord, ...]
    tries: int = 0


def after_answer(
    piece: Piece, invocation: Invocation, *, partial: bool, bisect: bool
) -> list[Piece]:
    """Return what of `piece` is still to be delivered, in order; nothing when all succeeded.

    With partial answers the lowest failed sequence number is the checkpoint: what came before is
    done, what comes after is delivered again. Bisecting halves a piece that failed as a whole and
    costs no retry.
    """
    numbers = [str(record.sequence) for record in piece.records]
    failed: set[str] | None = None
    if invocation.error is None:
        failed = failed_items(invocation.result, numbers) if partial else set()
    if failed is not None:
        if not failed:
            return []
        first = min(numbers.index(number) for number in failed)
        return [Piece(piece.records[first:], 0 if first else piece.tries + 1)]
    if bisect and len(piece.records) > 1:
        middle = len(piece.records) // 2
        return [Piece(piece.records[:middle], piece.tries), Piece(piece.records[middle:])]
    return [Piece(piece.records, piece.tries + 1)]


def pause_s(tries: int) -> float:
    """Return how long to wait before a piece that has failed so often; halves go at once."""
    # Not 2 ** tries: a record may fail for a day, and a float ends at 2 ** 1023.
    return min(FIRST_PAUSE_S * 2 ** min(tries - 1, 16), LONGEST_PAUSE_S) if tries else 0.0


class KinesisPoller:
    """One loop per shard; a shard's records are delivered in order, one batch at a time."""

    def __init__(
        self, account_id: str, mapping: StreamMapping, invoke: Invoke, keep: Keep | None
    ) -> None:
        self._mapping = mapping
        self._invoke = invoke
        self._keep = keep
        self._mapping_id = str(uuid.uuid4())
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._read, args=(shard,), name=shard.shard_id, daemon=True)
            for shard in shards_of(account_id, mapping.stream_arn)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Read nothing more; a batch in work goes on."""
        self._stop.set()

    def join(self, timeout_s: float) -> None:
        for thread in self._threads:
            thread.join(timeout_s)

    def _read(self, shard: Any) -> None:
        checkpoint = 0
        while not self._stop.is_set():
            if not wait_for_record(shard, checkpoint, POLL_S):
                continue
            self._stop.wait(self._mapping.window_s)
            records = _fitting(read_after(shard, checkpoint, self._mapping.batch_size))
            try:
                self._deliver(shard.shard_id, Piece(tuple(records)))
            except PoolClosedError:
                return
            checkpoint = records[-1].sequence
            trim(shard, checkpoint)

    def _deliver(self, shard_id: str, piece: Piece) -> None:
        pending = [piece]
        while pending:
            piece = pending.pop(0)
            if self._is_given_up(piece):
                self._keep_failed(shard_id, piece)
                continue
            invocation = self._invoke(
                {"Records": [self._event(shard_id, r) for r in piece.records]}
            )
            rest = after_answer(
                piece, invocation, partial=self._mapping.partial, bisect=self._mapping.bisect
            )
            pending = rest + pending
            if rest and self._stop.wait(pause_s(rest[0].tries)):
                return

    def _is_given_up(self, piece: Piece) -> bool:
        mapping = self._mapping
        if 0 <= mapping.max_retries < piece.tries:
            return True
        return 0 <= mapping.max_age_s < time.time() - piece.records[0].arrived_at

    def _keep_failed(self, shard_id: str, piece: Piece) -> None:
        if self._keep is None:
            return
        now = datetime.now(UTC)
        # Source: AWS Lambda Developer Guide, "Destinations for failed invocations", S3 object keys.
        key = (
            f"aws/lambda/{self._mapping_id}/{shard_id}/{now:%Y/%m/%d/%Y-%m-%dT%H.%M.%S}"
            f"-{uuid.uuid4()}"
        )
        payload = {"Records": [self._event(shard_id, record) for record in piece.records]}
        self._keep(key, json.dumps(_failure(self._mapping, shard_id, piece, payload)).encode())

    def _event(self, shard_id: str, record: StreamedRecord) -> dict[str, Any]:
        return kinesis_record(record, shard_id, self._mapping.stream_arn)


def kinesis_record(record: StreamedRecord, shard_id: str, stream_arn: str) -> dict[str, Any]:
    """Return one record as Lambda hands it to a function."""
    return {
        "kinesis": {
            "kinesisSchemaVersion": "1.0",
            "partitionKey": record.partition_key,
            "sequenceNumber": str(record.sequence),
            "data": base64.b64encode(record.data).decode(),
            "approximateArrivalTimestamp": round(record.arrived_at, 3),
        },
        "eventSource": "aws:kinesis",
        "eventVersion": "1.0",
        "eventID": f"{shard_id}:{record.sequence}",
        "eventName": "aws:kinesis:record",
        "invokeIdentityArn": "arn:aws:iam::123456789012:role/devstack",
        "awsRegion": REGION,
        "eventSourceARN": stream_arn,
    }


def _fitting(records: list[StreamedRecord]) -> list[StreamedRecord]:
    """Return the first records that fit into one invocation, at least one."""
    size = 0
    for count, record in enumerate(records):
        size += len(record.data) * 4 // 3 + 400
        if size > BATCH_MAX_BYTES and count:
            return records[:count]
    return records


def _failure(
    mapping: StreamMapping, shard_id: str, piece: Piece, payload: dict[str, Any]
) -> dict[str, Any]:
    first, last = piece.records[0], piece.records[-1]
    exhausted = "RetryAttemptsExhausted" if mapping.max_retries >= 0 else "RecordAgeExceeded"
    return {
        "requestContext": {
            "requestId": str(uuid.uuid4()),
            "functionArn": mapping.function,
            "condition": exhausted,
            "approximateInvokeCount": piece.tries,
        },
        "version": "1.0",
        "timestamp": datetime.now(UTC).isoformat(),
        "KinesisBatchInfo": {
            "shardId": shard_id,
            "startSequenceNumber": str(first.sequence),
            "endSequenceNumber": str(last.sequence),
            "batchSize": len(piece.records),
            "streamArn": mapping.stream_arn,
        },
        "payload": payload,
    }
