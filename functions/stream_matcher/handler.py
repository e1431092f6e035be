"""Starts runs for the events of the stream (Kinesis event source mapping)."""

import base64
import binascii
from datetime import UTC, datetime
from typing import Any

from whenthen.engine.composition import process_context
from whenthen.engine.match_events import Arrival, match_events
from whenthen.store.stream_ends import DeadEvent


def lambda_handler(event: dict[str, Any], _lambda_context: object) -> dict[str, Any]:
    """Match one batch; no record is ever reported as failed.

    What cannot be decoded is kept as a dead event. Only an unreachable database raises, and then
    the mapping delivers the whole batch again.

    Source: the event shape of AWS, "Process Amazon Kinesis records with Lambda".
    """
    context = process_context("stream-matcher")
    arrivals, dead = [], []
    for record in event["Records"]:
        source, body = record["eventID"], record["kinesis"]
        try:
            data = base64.b64decode(body["data"], validate=True)
        except (binascii.Error, ValueError):
            dead.append(DeadEvent(source, "not base64", str(body["data"]).encode()))
            continue
        arrived_at = datetime.fromtimestamp(body["approximateArrivalTimestamp"], UTC)
        arrivals.append(Arrival(source, data, arrived_at))
    try:
        match_events(context, arrivals, dead)
    finally:
        context.metrics.flush()
    return {"batchItemFailures": []}
