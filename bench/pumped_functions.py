"""Matcher and executors as processes of their own, fed from a stream and from the emulated queue.

The queue is that of `whenthen dev`, in this process, without the HTTP in front of it.
"""

import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

from bench.aws_at_once import SentMessage
from bench.function_process import begin
from bench.lambda_batches import LambdaContext, queue_batch, stream_batch
from bench.two_processes import MATCH_BATCH, RUN_BATCH
from devstack.message_index import RECEIPT_PREFIX, MessageIndex

# The run queue's own attributes (template.yaml).
VISIBILITY_S = 1_080
RETENTION_S = 345_600
_POLL_S = 0.2
_JOIN_S = 30.0
_PAGE_MB = 4_096 / 1_048_576

_spawn = get_context("spawn")
Sent = TypeVar("Sent")


@dataclass(eq=False)
class QueueMessage:
    """A message as the queue's index keeps it."""

    body: str
    group_id: str | None
    delayed_until: float
    sent_timestamp: int
    receipt_handle: str | None = None
    approximate_receive_count: int = 0

    def mark_received(self, visibility_timeout: int | None = None) -> None:  # noqa: ARG002
        self.receipt_handle = RECEIPT_PREFIX + secrets.token_hex(16)
        self.approximate_receive_count += 1


@dataclass(eq=False)
class Stream:
    """Records in the order of their arrival, as base64 data."""

    records: deque[str] = field(default_factory=deque)
    arrived: threading.Condition = field(default_factory=threading.Condition)

    def put(self, records: Sequence[str]) -> None:
        with self.arrived:
            self.records.extend(records)
            self.arrived.notify_all()

    def take(self) -> list[str]:
        """Return the next batch, empty if none comes soon."""
        with self.arrived:
            self.arrived.wait_for(lambda: self.records, _POLL_S)
            return [self.records.popleft() for _ in range(min(MATCH_BATCH, len(self.records)))]


class Pumped:
    """One matcher and `executors` executors; `fair` is how the queue chooses its next message."""

    def __init__(self, environ: dict[str, str], executors: int, *, fair: bool) -> None:
        self.stream = Stream()
        self._queue = MessageIndex(fair=fair)
        self._end = threading.Event()
        self._matcher = _Function(_match, environ)
        self._executors = [_Function(_execute, environ) for _ in range(executors)]
        self._threads = [
            threading.Thread(target=self._pump_stream, daemon=True),
            *(
                threading.Thread(target=self._pump_queue, args=(executor,), daemon=True)
                for executor in self._executors
            ),
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """End every process, after the batch that it has at hand."""
        self._end.set()
        for thread in self._threads:
            thread.join(_JOIN_S)
        for function in (self._matcher, *self._executors):
            function.close()

    def memory_mb(self) -> float:
        """Return the resident memory of all these processes together."""
        return sum(function.memory_mb() for function in (self._matcher, *self._executors))

    def _pump_stream(self) -> None:
        while not self._end.is_set():
            if batch := self.stream.take():
                self._send(self._matcher.invoke(batch))

    def _pump_queue(self, executor: "_Function") -> None:
        while not self._end.is_set():
            if self._queue.wait(_POLL_S):
                taken: list[Any] = self._queue.receive(
                    RUN_BATCH, VISIBILITY_S, retention_s=RETENTION_S
                )
                if taken:
                    self.stream.put(executor.invoke([message.body for message in taken]))
                for message in taken:
                    self._queue.delete(message.receipt_handle)

    def _send(self, messages: Sequence[SentMessage]) -> None:
        for message in messages:
            now_ms = time.time() * 1_000
            until_ms = now_ms + message.delay_s * 1_000
            self._queue.add(QueueMessage(message.body, message.group, until_ms, int(now_ms)))


class _Function:
    """A process that answers each batch with what it sent meanwhile."""

    def __init__(self, work: Callable[..., None], environ: dict[str, str]) -> None:
        self._ours, theirs = _spawn.Pipe()
        self._process = _spawn.Process(target=work, args=(environ, theirs), daemon=True)
        self._process.start()
        # Else nobody would notice that it died: its end of the pipe would still be open here.
        theirs.close()

    def invoke(self, batch: Sequence[str]) -> list[Any]:
        self._ours.send(list(batch))
        sent: list[Any] = self._ours.recv()
        return sent

    def memory_mb(self) -> float:
        pages = Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]
        return int(pages) * _PAGE_MB

    def close(self) -> None:
        with suppress(OSError):
            self._ours.send(None)
        self._process.join(_JOIN_S)
        self._process.kill()


def _match(environ: dict[str, str], batches: Connection) -> None:
    aws = begin(environ)
    from stream_matcher.handler import lambda_handler  # noqa: PLC0415  # the environment comes first

    _serve(batches, lambda batch: lambda_handler(stream_batch(batch), None), lambda: aws.messages)


def _execute(environ: dict[str, str], batches: Connection) -> None:
    aws = begin(environ)
    from run_executor.handler import lambda_handler  # noqa: PLC0415  # the environment comes first

    _serve(
        batches,
        lambda batch: lambda_handler(queue_batch(batch), LambdaContext()),
        lambda: aws.records,
    )


def _serve(
    batches: Connection, handle: Callable[[list[str]], object], sent: Callable[[], list[Any]]
) -> None:
    while (batch := batches.recv()) is not None:
        handle(batch)
        batches.send(sent()[:])
        sent().clear()
