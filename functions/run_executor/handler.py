"""Executes the runs that the queue's messages name (SQS event source mapping)."""

import os
from typing import Any, Protocol

from whenthen.domain.schemas.messages import RunMessage, UnreadableMessage, decode
from whenthen.engine.composition import process_context
from whenthen.engine.execute_runs import execute_runs


class LambdaContext(Protocol):
    def get_remaining_time_in_millis(self) -> int: ...


def lambda_handler(event: dict[str, Any], lambda_context: LambdaContext) -> dict[str, Any]:
    """Execute one batch; only what is no run message is reported as failed.

    A message of a newer version is acknowledged: its run's row wakes itself. When the database is
    out of reach the error is raised and every message returns to the queue.

    Source: AWS, "Implementing partial batch responses" for SQS.
    """
    context = process_context("run-executor")
    messages = {record["messageId"]: decode(record["body"]) for record in event["Records"]}
    run_ids = {message.run_id for message in messages.values() if isinstance(message, RunMessage)}
    unreadable = [key for key, what in messages.items() if isinstance(what, UnreadableMessage)]
    context.metrics.count("automations.unreadable_messages", len(unreadable))
    try:
        execution = execute_runs(
            context,
            sorted(run_ids),
            lambda: lambda_context.get_remaining_time_in_millis() / 1000,
        )
    finally:
        context.metrics.flush()
    if execution.has_stragglers:
        # A thread past its deadline would thaw inside the next invocation and act there.
        os._exit(1)
    return {"batchItemFailures": [{"itemIdentifier": key} for key in unreadable]}
