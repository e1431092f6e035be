"""One function's invocations, measured in this process: time, CPU, round trips, calls and lines."""

import io
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from typing import Any

from botocore.awsrequest import AWSResponse
from sqlalchemy import event

from bench.aws_at_once import AwsAtOnce
from bench.cost_model import LOG_LINE_BYTES, Invocation
from whenthen.store.connection import Database

Metric = tuple[str, str]


class CountedAws(AwsAtOnce):
    """Answers at once, and counts the calls by their operation."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: Counter[str] = Counter()

    def _answer(self, request: Any, **_: Any) -> AWSResponse:
        self.calls[request.headers["X-Amz-Target"].decode().rpartition(".")[2]] += 1
        return super()._answer(request)


class Output:
    """What functions write: lines, and the metrics that some of them carry."""

    def __init__(self) -> None:
        # Name, and values of the dimensions: CloudWatch bills each by the month.
        self.metrics: set[Metric] = set()
        self._text = io.StringIO()

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Take what is written meanwhile; loggers that are made meanwhile write here for good."""
        with redirect_stdout(self._text), redirect_stderr(self._text):
            yield

    def take(self) -> int:
        """Return what CloudWatch counts (bytes) of the lines since the last time."""
        lines = self._text.getvalue().splitlines()
        self._text.seek(0)
        self._text.truncate()
        for line in lines:
            self.metrics |= _metrics_of(line)
        return sum(len(line.encode()) + LOG_LINE_BYTES for line in lines)


@dataclass
class MeasuredFunction:
    """A handler with the database that its statements go to; it is added up as it is called."""

    handler: Callable[[Any, Any], Any]
    database: Database
    aws: CountedAws
    output: Output
    invocations: int = 0
    _totals: Counter[str] = field(default_factory=Counter)

    def __call__(self, given: Any, lambda_context: object) -> Any:
        calls = self.aws.calls.total()
        with self.output.kept(), _round_trips(self.database, self._totals):
            cpu_s, started_s = time.process_time(), time.perf_counter()
            answer = self.handler(given, lambda_context)
            self._totals["wall_us"] += round((time.perf_counter() - started_s) * 1e6)
            self._totals["cpu_us"] += round((time.process_time() - cpu_s) * 1e6)
        self._totals["aws_calls"] += self.aws.calls.total() - calls
        self._totals["log_bytes"] += self.output.take()
        self.invocations += 1
        return answer

    def forget(self) -> None:
        """Begin again: what is paid once in a process is not part of a mean invocation."""
        self.invocations = 0
        self._totals.clear()

    def mean(self) -> Invocation:
        one = {name: total / self.invocations for name, total in self._totals.items()}
        return Invocation(
            wall_ms=one["wall_us"] / 1_000,
            cpu_ms=one["cpu_us"] / 1_000,
            round_trips=one.get("round_trips", 0.0),
            aws_calls=one["aws_calls"],
            log_bytes=one["log_bytes"],
        )


@contextmanager
def _round_trips(database: Database, totals: Counter[str]) -> Iterator[None]:
    """Count statements and COMMITs; BEGIN travels with the first statement."""

    def count(*_: object) -> None:
        totals["round_trips"] += 1

    names = ("commit", "rollback")
    database.on_statement = count
    for name in names:
        event.listen(database.engine, name, count)
    try:
        yield
    finally:
        database.on_statement = None
        for name in names:
            event.remove(database.engine, name, count)


def _metrics_of(line: str) -> set[Metric]:
    told = json.loads(line) if line.startswith("{") else {}
    return {
        (metric["Name"], "/".join(str(told[name]) for name in sorted(dimensions)))
        for directive in told.get("_aws", {}).get("CloudWatchMetrics", [])
        for dimensions in directive["Dimensions"]
        for metric in directive["Metrics"]
    }
