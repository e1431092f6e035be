"""Counts for CloudWatch, in embedded metric format, written as one line per set of dimensions."""

import threading
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aws_lambda_powertools.metrics import EphemeralMetrics

Dimensions = tuple[tuple[str, str], ...]


class Metrics:
    """Collects counts during an invocation; `flush` writes them to standard output.

    Dimension values are words of our own enums, never ids or names that strangers choose: each
    new value is a new metric that CloudWatch bills.
    """

    def __init__(self, namespace: str, service: str) -> None:
        self._namespace = namespace
        self._service = service
        self._counts: Counter[tuple[str, Dimensions]] = Counter()
        self._lock = threading.Lock()

    def count(self, name: str, n: int = 1, **dimensions: str) -> None:
        """Add `n` to the metric `name` of `dimensions`; zero adds nothing."""
        if n:
            with self._lock:
                self._counts[name, tuple(sorted(dimensions.items()))] += n

    def flush(self) -> None:
        """Write what was counted since the last flush; nothing when nothing was."""
        with self._lock:
            counts, self._counts = self._counts, Counter()
            by_dimensions: dict[Dimensions, dict[str, int]] = {}
            for (name, dimensions), n in counts.items():
                by_dimensions.setdefault(dimensions, {})[name] = n
            for dimensions, metrics in by_dimensions.items():
                self._write(dimensions, metrics)

    @cached_property
    def _emitter(self) -> "EphemeralMetrics":
        # Made once: it costs as much as a line does.
        from aws_lambda_powertools.metrics import EphemeralMetrics  # noqa: PLC0415  # import budget

        return EphemeralMetrics(namespace=self._namespace, service=self._service)

    def _write(self, dimensions: Dimensions, counts: dict[str, int]) -> None:
        try:
            for name, value in dimensions:
                self._emitter.add_dimension(name, value)
            for name, n in counts.items():
                self._emitter.add_metric(name, "Count", n)
            self._emitter.flush_metrics()
        finally:
            # Else what could not be written would be part of the next line.
            self._emitter.clear_metrics()
