"""Matcher and executor in two processes, fed with real batches: events in, SUCCEEDED runs out.

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

from bench.function_process import begin, own_cpu_s
from bench.lambda_batches import LambdaContext, queue_batch, stream_batch

MATCH_BATCH = 100
RUN_BATCH = 5
EVENTS_PER_RUN = 3
_WAIT_S = 600.0
_LOOK_S = 1.0

_fork = get_context("spawn")


@dataclass(frozen=True)
class Ended:
    """When a process was done with its last batch (seconds of the wall clock), and its CPU."""

    at_s: float
    cpu_s: float


@dataclass(frozen=True)
class Throughput:
    """Seconds from the first event to the last SUCCEEDED run, and CPU of both processes."""

    wall_s: float
    cpu_s: float


def run_in_two_processes(environ: dict[str, str], events: Sequence[str]) -> Throughput:
    """Publish `events` (base64 data, one run each) and wait until every run has been executed."""
    # Not pipes alone: each process would wait for room in the other's, and none would read.
    records: Queue[list[str]] = _fork.Queue()
    messages: Queue[list[str]] = _fork.Queue()
    ended: Queue[Ended | None] = _fork.Queue()
    n = len(events)
    processes = [
        _fork.Process(target=_match, args=(environ, n, records, messages, ended), daemon=True),
        _fork.Process(target=_execute, args=(environ, n, records, messages, ended), daemon=True),
    ]
    for process in processes:
        process.start()
    for _ in processes:
        _next(ended, processes)  # each is warm
    started_s = time.time()
    for start in range(0, n, MATCH_BATCH):
        records.put(list(events[start : start + MATCH_BATCH]))
    both = [_next(ended, processes) for _ in processes]
    for process in processes:
        process.join(_WAIT_S)
    done = [one for one in both if one is not None]
    return Throughput(max(one.at_s for one in done) - started_s, sum(one.cpu_s for one in done))


def _next(ended: "Queue[Ended | None]", processes: Sequence[BaseProcess]) -> Ended | None:
    """Return what the next process says; one that died ends the bench, for it never would."""
    while True:
        try:
            return ended.get(timeout=_LOOK_S)
        except Empty:
            if any(process.exitcode for process in processes):
                raise SystemExit("a function's process has died") from None


def _match(
    environ: dict[str, str],
    runs: int,
    records: "Queue[list[str]]",
    messages: "Queue[list[str]]",
    ended: "Queue[Ended | None]",
) -> None:
    aws = begin(environ)
    from stream_matcher.handler import lambda_handler  # noqa: PLC0415  # the environment comes first

    lambda_handler(stream_batch([]), None)
    ended.put(None)
    cpu_before_s = own_cpu_s()
    waiting: list[str] = []
    handled = 0
    while handled < runs * EVENTS_PER_RUN:
        while not waiting or (len(waiting) < MATCH_BATCH and not records.empty()):
            waiting += records.get()
        batch, waiting = waiting[:MATCH_BATCH], waiting[MATCH_BATCH:]
        lambda_handler(stream_batch(batch), None)
        handled += len(batch)
        if aws.messages:
            messages.put([message.body for message in aws.messages])
            aws.messages.clear()
    ended.put(Ended(time.time(), own_cpu_s() - cpu_before_s))


def _execute(
    environ: dict[str, str],
    runs: int,
    records: "Queue[list[str]]",
    messages: "Queue[list[str]]",
    ended: "Queue[Ended | None]",
) -> None:
    aws = begin(environ)
    from run_executor.handler import lambda_handler  # noqa: PLC0415  # the environment comes first

    lambda_handler(queue_batch([]), LambdaContext())
    ended.put(None)
    cpu_before_s = own_cpu_s()
    waiting: list[str] = []
    handled = 0
    while handled < runs:
        while not waiting or (len(waiting) < RUN_BATCH and not messages.empty()):
            waiting += messages.get()
        batch, waiting = waiting[:RUN_BATCH], waiting[RUN_BATCH:]
        lambda_handler(queue_batch(batch), LambdaContext())
        handled += len(batch)
        if len(aws.records) >= MATCH_BATCH or handled == runs:
            records.put(aws.records[:])
            aws.records.clear()
    ended.put(Ended(time.time(), own_cpu_s() - cpu_before_s))
