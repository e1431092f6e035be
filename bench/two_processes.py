"""Matcher and executors in two processes, fed with real batches: events in, SUCCEEDED runs out.

One process matches, and executes while fewer events wait than make a batch; the other executes.
What a run puts on the stream goes through the matcher as well, as it does in a deployment: three
events a run.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from multiprocessing.queues import Queue
from queue import Empty
from typing import TypeVar

from bench.aws_at_once import AwsAtOnce
from bench.function_process import begin, own_cpu_s
from bench.lambda_batches import LambdaContext, queue_batch, stream_batch

MATCH_BATCH = 100
RUN_BATCH = 5
EVENTS_PER_RUN = 3
_WAIT_S = 600.0
_LOOK_S = 1.0
_IDLE_S = 0.01

_spawn = get_context("spawn")
Batch = TypeVar("Batch")


@dataclass(frozen=True)
class Ended:
    """When a process was done with its last batch (seconds of the wall clock), and its CPU."""

    at_s: float
    cpu_s: float


@dataclass(frozen=True)
class Throughput:
    """Seconds from the first event until all have been matched, and CPU of both processes."""

    wall_s: float
    cpu_s: float


def run_in_two_processes(environ: dict[str, str], events: Sequence[str]) -> Throughput:
    """Publish `events` (base64 data, one run each) and wait until every run has been executed.

    That of a run's three events the last is matched comes after the run has SUCCEEDED.
    """
    # Not pipes alone: each process would wait for room in the other's, and none would read.
    records: Queue[list[str]] = _spawn.Queue()
    messages: Queue[list[str] | None] = _spawn.Queue()
    ended: Queue[Ended | None] = _spawn.Queue()
    to_match = len(events) * EVENTS_PER_RUN
    processes = [
        _spawn.Process(
            target=_match, args=(environ, to_match, records, messages, ended), daemon=True
        ),
        _spawn.Process(target=_execute, args=(environ, records, messages, ended), daemon=True),
    ]
    for process in processes:
        process.start()
    for _ in processes:
        _next(ended, processes)  # each is warm
    started_s = time.time()
    for start in range(0, len(events), MATCH_BATCH):
        records.put(list(events[start : start + MATCH_BATCH]))
    both = [_next(ended, processes) for _ in processes]
    for process in processes:
        process.join(_WAIT_S)
    done = [one for one in both if one is not None]
    return Throughput(max(one.at_s for one in done) - started_s, sum(one.cpu_s for one in done))


def _next(ended: "Queue[Ended | None]", processes: Sequence[BaseProcess]) -> Ended | None:
    """Return what the next process says; one that died or hangs ends the bench."""
    for _ in range(round(_WAIT_S / _LOOK_S)):
        try:
            return ended.get(timeout=_LOOK_S)
        except Empty:
            if any(process.exitcode for process in processes):
                raise SystemExit("a function's process has died") from None
    raise SystemExit(f"not every run has ended within {_WAIT_S:.0f} s")


class _Executor:
    """An executor's handler, which has run once: it is warm."""

    def __init__(self, aws: AwsAtOnce) -> None:
        from run_executor.handler import lambda_handler  # noqa: PLC0415  # the environment comes first

        self._handler = lambda_handler
        self._aws = aws
        self.execute([])

    def execute(self, bodies: Sequence[str]) -> None:
        self._handler(queue_batch(bodies), LambdaContext())

    def take_records(self) -> list[str]:
        """Return what its runs have put on the stream since the last time."""
        taken, self._aws.records = self._aws.records, []
        return taken


def _match(
    environ: dict[str, str],
    events: int,
    records: "Queue[list[str]]",
    messages: "Queue[list[str] | None]",
    ended: "Queue[Ended | None]",
) -> None:
    """Match `events` events; execute runs whenever no whole batch of events waits."""
    aws = begin(environ)
    from stream_matcher.handler import lambda_handler  # noqa: PLC0415  # the environment comes first

    lambda_handler(stream_batch([]), None)
    executor = _Executor(aws)
    ended.put(None)
    cpu_before_s = own_cpu_s()
    waiting: list[str] = []
    while events > 0:
        waiting += executor.take_records()
        while len(waiting) < MATCH_BATCH and (more := _take(records)):
            waiting += more
        bodies = _take(messages) if len(waiting) < MATCH_BATCH else None
        if bodies:
            executor.execute(bodies)
        elif batch := waiting[:MATCH_BATCH]:
            del waiting[:MATCH_BATCH]
            lambda_handler(stream_batch(batch), None)
            events -= len(batch)
            sent = [message.body for message in aws.messages]
            aws.messages.clear()
            for start in range(0, len(sent), RUN_BATCH):
                messages.put(sent[start : start + RUN_BATCH])
        else:
            more = _take(records, _IDLE_S)
            waiting += more or []
    if events < 0:
        raise SystemExit(f"{-events} events too many have been matched")
    ended.put(Ended(time.time(), own_cpu_s() - cpu_before_s))
    messages.put(None)


def _execute(
    environ: dict[str, str],
    records: "Queue[list[str]]",
    messages: "Queue[list[str] | None]",
    ended: "Queue[Ended | None]",
) -> None:
    """Execute batches until there is a None; hand on what they put on the stream."""
    executor = _Executor(begin(environ))
    ended.put(None)
    cpu_before_s = own_cpu_s()
    put: list[str] = []
    while True:
        if put and (len(put) >= MATCH_BATCH or messages.empty()):
            records.put(put)
            put = []
        try:
            bodies = messages.get(timeout=_IDLE_S)
        except Empty:
            # What waits here may be all that the other process waits for: it has taken the rest.
            continue
        if bodies is None:
            break
        executor.execute(bodies)
        put += executor.take_records()
    ended.put(Ended(time.time(), own_cpu_s() - cpu_before_s))


def _take(queue: "Queue[Batch]", wait_s: float = 0.0) -> "Batch | None":
    """Return what comes next within `wait_s` seconds, if anything does."""
    try:
        return queue.get(timeout=wait_s) if wait_s else queue.get_nowait()
    except Empty:
        return None
