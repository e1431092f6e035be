"""Batches as the event source mappings hand them to the handlers."""

import time
from collections.abc import Sequence
from itertools import count
from typing import Any

_sequence = count(1)


class LambdaContext:
    """A fresh invocation's context: all of its 180 seconds are left."""

    def get_remaining_time_in_millis(self) -> int:
        return 180_000


def stream_batch(records: Sequence[str]) -> dict[str, Any]:
    """Return a Kinesis event of `records`, each base64 data."""
    arrived_at = time.time()
    return {"Records": [_stream_record(data, arrived_at) for data in records]}


def queue_batch(bodies: Sequence[str]) -> dict[str, Any]:
    """Return an SQS event of messages with `bodies`."""
    return {"Records": [{"messageId": str(next(_sequence)), "body": body} for body in bodies]}


def _stream_record(data: str, arrived_at: float) -> dict[str, Any]:
    sequence = str(next(_sequence))
    return {
        "eventID": f"shardId-000000000000:{sequence}",
        "kinesis": {
            "data": data,
            "sequenceNumber": sequence,
            "approximateArrivalTimestamp": arrived_at,
        },
    }
