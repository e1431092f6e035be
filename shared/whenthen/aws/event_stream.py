"""The door to the event stream."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from whenthen.aws.batches import send_all
from whenthen.aws.clients import make_client
from whenthen.domain import limits


@dataclass(frozen=True, slots=True)
class StreamRecord:
    """One record to be: `data` is the event's JSON, `partition_key` only spreads the load."""

    partition_key: str
    data: bytes


class EventStream:
    """The Kinesis stream called `name`; nothing is connected before the first record."""

    def __init__(self, name: str) -> None:
        self._name = name

    @cached_property
    def _client(self) -> Any:
        # Every parameter is made here, of typed fields.
        return make_client("kinesis", checks_parameters=False)

    def put(self, records: Sequence[StreamRecord]) -> list[StreamRecord]:
        """Put `records`; return those that could not be put, after their tries."""
        failed: list[StreamRecord] = []
        for batch in _batches(records):
            failed += send_all(batch, self._put_batch, "event stream")
        return failed

    def _put_batch(self, batch: Sequence[StreamRecord]) -> list[StreamRecord]:
        answer = self._client.put_records(
            StreamName=self._name,
            Records=[{"Data": r.data, "PartitionKey": r.partition_key} for r in batch],
        )
        results = zip(batch, answer["Records"], strict=True)
        return [record for record, result in results if result.get("ErrorCode")]


def _batches(records: Sequence[StreamRecord]) -> Iterator[list[StreamRecord]]:
    batch: list[StreamRecord] = []
    size = 0
    for record in records:
        grown = size + len(record.data)
        full = len(batch) == limits.STREAM_BATCH_MAX or grown > limits.STREAM_BATCH_MAX_BYTES
        if batch and full:
            yield batch
            batch, size = [], 0
        batch.append(record)
        size += len(record.data)
    if batch:
        yield batch
