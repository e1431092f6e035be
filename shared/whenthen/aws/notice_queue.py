"""The door to the notice queue: tells the notifier of a run's death."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from whenthen.aws.batches import send_all
from whenthen.aws.clients import make_client
from whenthen.domain import limits
from whenthen.domain.schemas.notices import DeathNotice, encode


class NoticeQueue:
    """The SQS queue at `url`; nothing is connected before the first notice."""

    def __init__(self, url: str) -> None:
        self._url = url

    @cached_property
    def _client(self) -> Any:
        return make_client("sqs")

    def send(self, notices: Sequence[DeathNotice]) -> list[DeathNotice]:
        """Send `notices`; return those that could not be sent: their rows wake and send again."""
        failed: list[DeathNotice] = []
        for start in range(0, len(notices), limits.QUEUE_BATCH_MAX):
            batch = notices[start : start + limits.QUEUE_BATCH_MAX]
            failed += send_all(batch, self._send_batch, "notice queue")
        return failed

    def _send_batch(self, batch: Sequence[DeathNotice]) -> list[DeathNotice]:
        answer = self._client.send_message_batch(
            QueueUrl=self._url,
            Entries=[
                {"Id": str(n), "MessageBody": encode(notice)} for n, notice in enumerate(batch)
            ],
        )
        return [batch[int(entry["Id"])] for entry in answer.get("Failed", [])]
