"""What a million runs cost, from what one run asks of AWS: the formula, without a measurement."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from bench.cost_prices import MILLION, PRICES

GB = 2**30
RECORD_STEP_BYTES = 1_024
# Memory that comes with one whole processor (AWS, "Configure Lambda function memory").
PROCESSOR_MB = 1_769
# One trip within an availability zone, and one request to SQS or Kinesis: what this machine, where
# both are answered at once, does not show.
ROUND_TRIP_MS = 1.0
AWS_CALL_MS = 10.0
# CloudWatch counts 26 bytes with each line; START, END and REPORT are three lines of 260 bytes.
LOG_LINE_BYTES = 26
PLATFORM_LOG_BYTES = 260 + 3 * LOG_LINE_BYTES
# A line of the API's access log, in the template's format.
ACCESS_LOG_BYTES = 330 + LOG_LINE_BYTES
# X-Ray's default rule: the first request of a second, and of the others this share.
TRACED_PER_S, TRACED_SHARE = 1.0, 0.05

Quantities = dict[str, float]
# What is added up under one name in docs/cost.md.
COMPONENTS = {
    "API Gateway": ("http_request", "internet_gb"),
    "Lambda requests": ("function_request",),
    "Lambda duration": ("function_gb_s",),
    "Kinesis": ("stream_gb_in", "stream_gb_out"),
    "SQS": ("queue_request", "queue_group_request"),
    "CloudWatch logs": ("log_gb",),
    "X-Ray": ("trace",),
}


@dataclass(frozen=True)
class Invocation:
    """A mean invocation, as this machine measured it."""

    wall_ms: float
    cpu_ms: float
    round_trips: float
    aws_calls: float
    log_bytes: float


@dataclass(frozen=True)
class FunctionWork:
    """One function's part of a run: of 5 runs to a batch, a run is 0.2 invocations."""

    memory_mb: int
    invocations: float
    billed_ms: float
    log_bytes: float


@dataclass(frozen=True)
class Work:
    """What one run asks of AWS, at a load of `runs_per_s`."""

    functions: Mapping[str, FunctionWork]
    runs_per_s: float
    http_requests: float
    answer_bytes: float
    stream_in_bytes: float
    stream_out_bytes: float
    queue_requests: float
    is_traced: bool


def billed_ms(measured: Invocation, memory_mb: int) -> float:
    """Return what Lambda would bill: the CPU at its share of a processor, and every wait."""
    share = min(memory_mb / PROCESSOR_MB, 1.0)
    waited_ms = max(measured.wall_ms - measured.cpu_ms, 0.0)
    afar_ms = measured.round_trips * ROUND_TRIP_MS + measured.aws_calls * AWS_CALL_MS
    return math.ceil(measured.cpu_ms / share + waited_ms + afar_ms)


def billed_record_bytes(size: int) -> int:
    """Return what Kinesis counts of a record that is written: whole kilobytes."""
    return math.ceil(size / RECORD_STEP_BYTES) * RECORD_STEP_BYTES


def traces(requests_per_s: float) -> float:
    """Return how many of that many requests a second X-Ray records, in a second."""
    first = min(requests_per_s, TRACED_PER_S)
    return first + (requests_per_s - first) * TRACED_SHARE


def quantities(work: Work) -> Quantities:
    """Return what a million runs are billed for, by the names of the prices."""
    functions = work.functions.values()
    logged = work.http_requests * ACCESS_LOG_BYTES
    logged += sum(f.invocations * (f.log_bytes + PLATFORM_LOG_BYTES) for f in functions)
    traced = sum(traces(f.invocations * work.runs_per_s) for f in functions) / work.runs_per_s
    one = {
        "http_request": work.http_requests,
        "internet_gb": work.http_requests * work.answer_bytes / GB,
        "function_request": sum(f.invocations for f in functions),
        "function_gb_s": sum(
            f.invocations * f.billed_ms / 1_000 * f.memory_mb / 1_024 for f in functions
        ),
        "stream_gb_in": work.stream_in_bytes / GB,
        "stream_gb_out": work.stream_out_bytes / GB,
        "queue_request": work.queue_requests,
        # All of them are about messages of a group: their workspace.
        "queue_group_request": work.queue_requests,
        "log_gb": logged / GB,
        "trace": traced if work.is_traced else 0.0,
    }
    return {name: quantity * MILLION for name, quantity in one.items()}


def costs(work: Work) -> dict[str, float]:
    """Return the US dollars of a million runs, by component."""
    asked = quantities(work)
    return {
        component: sum(PRICES[name].of(asked[name]) for name in names)
        for component, names in COMPONENTS.items()
    }
