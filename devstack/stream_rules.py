"""Makes moto's shards safe under threads, cheap to append to, and observable.

moto's own append copies every key of the shard, and its sequence numbers begin anew at 1 with each
start of the stack, so records of two starts would be taken for one.
"""

import base64
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from moto.kinesis.models import KinesisBackend, Record, Shard, kinesis_backends

from devstack.replacing import replace

# An on-demand stream begins with four shards (AWS, Kinesis "Choose the data stream capacity mode").
ON_DEMAND_SHARDS = 4
# Records that a shard keeps behind its reader, for whoever looks with the Kinesis API.
KEPT_BEHIND_READER = 1_000

Listener = Callable[[bytes], None]
_listeners: list[Listener] = []
_changed = threading.Condition()


@dataclass(frozen=True, slots=True)
class StreamedRecord:
    """One record of a shard; `sequence` grows along the shard, `arrived_at` is a Unix time."""

    sequence: int
    partition_key: str
    data: bytes
    arrived_at: float


@cache
def teach_moto_kinesis() -> None:
    """Replace the append of every shard, once a process."""
    replace(Shard, put_record=_append)
    # One CloudWatch data point a call would be kept for ever.
    replace(KinesisBackend, _send_stream_metrics=lambda *_args, **_kwargs: None)


def on_record(listener: Listener) -> None:
    """Call `listener` with the data of every record that is put from now on."""
    _listeners.append(listener)


def shards_of(account_id: str, arn: str) -> list[Any]:
    """Return moto's shard objects of a stream's ARN."""
    region = arn.split(":")[3]
    stream = kinesis_backends[account_id][region].describe_stream(stream_arn=arn, stream_name=None)
    return list(stream.shards.values())


def read_after(shard: Any, sequence: int, limit: int) -> list[StreamedRecord]:
    """Return the oldest `limit` records whose number is above `sequence`."""
    with _changed:
        newer = []
        for number in reversed(shard.records):
            if number <= sequence:
                break
            newer.append(shard.records[number])
    return [_streamed(record) for record in newer[: -limit - 1 : -1]]


def wait_for_record(shard: Any, sequence: int, timeout_s: float) -> bool:
    """Return whether the shard has a record above `sequence`, waiting for one up to `timeout_s`."""

    def newest_is_newer() -> bool:
        newest = next(reversed(shard.records), None)
        return newest is not None and newest > sequence

    with _changed:
        return _changed.wait_for(newest_is_newer, timeout_s)


def trim(shard: Any, sequence: int) -> None:
    """Drop records up to `sequence` that nobody will read again, but for the newest of them."""
    with _changed:
        while len(shard.records) > KEPT_BEHIND_READER:
            oldest = next(iter(shard.records))
            if oldest > sequence:
                return
            del shard.records[oldest]


def _append(shard: Any, partition_key: str, data: str, explicit_hash_key: str) -> str:
    with _changed:
        newest = next(reversed(shard.records), 0)
        number = max(newest + 1, time.time_ns())
        shard.records[number] = Record(partition_key, data, number, explicit_hash_key)
        _changed.notify_all()
    for listener in _listeners:
        listener(base64.b64decode(data))
    return str(number)


def _streamed(record: Record) -> StreamedRecord:
    return StreamedRecord(
        record.sequence_number,
        record.partition_key,
        base64.b64decode(record.data),
        record.created_at,
    )
