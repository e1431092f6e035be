"""Answers every AWS call of this process at once, and keeps what was sent.

The calls are still built, validated, signed and parsed by botocore: that work is the handlers' own
and belongs to their CPU seconds.
"""

import base64
import json
from collections.abc import Callable
from typing import Any, NamedTuple

import botocore.handlers
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders

Json = dict[str, Any]
_EVENT = "before-send"


class SentMessage(NamedTuple):
    """A message of a run, its group, and the seconds that it is held back."""

    body: str
    group: str
    delay_s: int


class AwsAtOnce:
    """What this process has sent: run messages, and data of stream records."""

    def __init__(self) -> None:
        self.messages: list[SentMessage] = []
        self.records: list[str] = []

    def install(self) -> None:
        """Answer the calls of every client that is made from now on, in place of an earlier one."""
        known = botocore.handlers.BUILTIN_HANDLERS
        known[:] = [entry for entry in known if not _is_ours(entry)]
        known.append((_EVENT, self._answer))

    def _answer(self, request: Any, **_: Any) -> AWSResponse:
        operation = request.headers["X-Amz-Target"].decode().rpartition(".")[2]
        body = json.loads(request.body)
        answers: dict[str, Callable[[Json], Json]] = {
            "SendMessageBatch": self._send_messages,
            "PutRecords": self._put_records,
        }
        text = json.dumps(answers[operation](body)).encode()
        headers = HTTPHeaders()
        headers["content-type"] = "application/x-amz-json-1.0"
        return AWSResponse(request.url, 200, headers, _Raw(text))

    def _send_messages(self, body: Json) -> Json:
        entries = body["Entries"]
        self.messages += [
            SentMessage(e["MessageBody"], e["MessageGroupId"], e["DelaySeconds"]) for e in entries
        ]
        sent = [{"Id": e["Id"], "MessageId": e["Id"], "MD5OfMessageBody": ""} for e in entries]
        return {"Successful": sent, "Failed": []}

    def _put_records(self, body: Json) -> Json:
        records = body["Records"]
        self.records += [record["Data"] for record in records]
        put = [{"SequenceNumber": "1", "ShardId": "shardId-000000000000"} for _ in records]
        return {"FailedRecordCount": 0, "Records": put}


class _Raw:
    """The part of an HTTP response that botocore reads."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def stream(self, **_: Any) -> list[bytes]:
        return [self._body]


def record_data(event: Json) -> str:
    """Return `event` as a stream record holds it: JSON in base64."""
    return base64.b64encode(json.dumps(event).encode()).decode()


def _is_ours(entry: Any) -> bool:
    return entry[0] == _EVENT and isinstance(getattr(entry[1], "__self__", None), AwsAtOnce)
