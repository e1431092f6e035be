"""Matcher and executor in two processes, fed with real batches: events in, SUCCEEDED runs out.

What a run puts on the stream goes through the matcher as well, as it does in a deployment: three
events a run.
"""

import os
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.queues import SimpleQueue

from bench.aws_at_once import AwsAtOnce
from bench.lambda_batches import LambdaContext, queue_batch, stream_batch

MATCH_BATCH = 100
RUN_BATCH = 5
EVENTS_PER_RUN = 3
_WAIT_S = 600.0

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
    records: SimpleQueue[list[str]] = _fork.SimpleQueue()
    messages: SimpleQueue[list[str]] = _fork.SimpleQueue()
    ended: SimpleQueue[Ended | None] = _fork.SimpleQueue()
    n = len(events)
    processes = [
        _fork.Process(target=_match, args=(environ, n, records, messages, ended), daemon=True),
        _fork.Process(target=_execute, args=(environ, n, records, messages, ended), daemon=True),
    ]
    for process in processes:
        process.start()
    for _ in processes:
        ended.get()  # each is warm
    started_s = time.time()
    for start in range(0, n, MATCH_BATCH):
        records.put(list(events[start : start + MATCH_BATCH]))
    both = [ended.get(), ended.get()]
    for process in processes:
        process.join(_WAIT_S)
    done = [one for one in both if one is not None]
    return Throughput(max(one.at_s for one in done) - started_s, sum(one.cpu_s for one in done))


def _match(
    environ: dict[str, str],
    runs: int,
    records: "SimpleQueue[list[str]]",
    messages: "SimpleQueue[list[str]]",
    ended: "SimpleQueue[Ended | None]",
) -> None:
    aws = _begin(environ)
    from stream_matcher.handler import lambda_handler  # noqa: PLC0415  # the environment comes first

    lambda_handler(stream_batch([]), None)
    ended.put(None)
    cpu_before_s = _cpu_s()
    waiting: list[str] = []
    handled = 0
    while handled < runs * EVENTS_PER_RUN:
        while not waiting or (len(waiting) < MATCH_BATCH and not records.empty()):
            waiting += records.get()
        batch, waiting = waiting[:MATCH_BATCH], waiting[MATCH_BATCH:]
        lambda_handler(stream_batch(batch), None)
        handled += len(batch)
        if aws.messages:
            messages.put(aws.messages[:])
            aws.messages.clear()
    ended.put(Ended(time.time(), _cpu_s() - cpu_before_s))


def _execute(
    environ: dict[str, str],
    runs: int,
    records: "SimpleQueue[list[str]]",
    messages: "SimpleQueue[list[str]]",
    ended: "SimpleQueue[Ended | None]",
) -> None:
    aws = _begin(environ)
    from run_executor.handler import lambda_handler  # noqa: PLC0415  # the environment comes first

    lambda_handler(queue_batch([]), LambdaContext())
    ended.put(None)
    cpu_before_s = _cpu_s()
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
    ended.put(Ended(time.time(), _cpu_s() - cpu_before_s))


def _begin(environ: dict[str, str]) -> AwsAtOnce:
    """Make this process one of a function; its metric lines are nobody's."""
    os.environ.update(environ)
    sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115  # until the process ends
    aws = AwsAtOnce()
    aws.install()
    return aws


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
