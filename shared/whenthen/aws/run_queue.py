"""The door to the run queue: sends hints that a run may be claimed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from whenthen.aws.batches import send_all
from whenthen.aws.clients import make_client
from whenthen.domain import limits
from whenthen.domain.schemas import messages


@dataclass(frozen=True, slots=True)
class QueuedRun:
    """A message to be: `delay_s` is 0..900 whole seconds."""

    run_id: UUID
    workspace_id: UUID
    delay_s: int = 0


class RunQueue:
    """The SQS queue at `url`; nothing is connected before the first message."""

    def __init__(self, url: str) -> None:
        self._url = url

    @cached_property
    def _client(self) -> Any:
        # Every parameter is made here, of typed fields.
        return make_client("sqs", checks_parameters=False)

    def send(self, runs: Sequence[QueuedRun]) -> list[QueuedRun]:
        """Send one message per run; return those that could not be sent.

        A lost message loses nothing: the run's row holds its own next wake-up. The message group
        is the workspace, which turns on the queue's fairness between tenants.
        """
        failed: list[QueuedRun] = []
        for start in range(0, len(runs), limits.QUEUE_BATCH_MAX):
            batch = runs[start : start + limits.QUEUE_BATCH_MAX]
            failed += send_all(batch, self._send_batch, "run queue")
        return failed

    def _send_batch(self, batch: Sequence[QueuedRun]) -> list[QueuedRun]:
        answer = self._client.send_message_batch(
            QueueUrl=self._url,
            Entries=[
                {
                    "Id": str(n),
                    "MessageBody": messages.encode(run.run_id),
                    "DelaySeconds": run.delay_s,
                    "MessageGroupId": str(run.workspace_id),
                }
                for n, run in enumerate(batch)
            ],
        )
        return [batch[int(entry["Id"])] for entry in answer.get("Failed", [])]
