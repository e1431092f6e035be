"""Matcher and executor in this process, one batch after another: what a run costs them alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from sqlalchemy import text

from bench.aws_at_once import AwsAtOnce
from bench.lambda_batches import LambdaContext, queue_batch, stream_batch
from bench.two_processes import MATCH_BATCH, RUN_BATCH
from whenthen.engine.composition import process_context
from whenthen.store.connection import Database

# How the claim is told from what else a batch runs.
CLAIMS = "for update skip locked"
# Backends hand their counts over at most once a second; this makes them.
FLUSH = text("select pg_stat_force_next_flush()")
_COMMITS = text("select xact_commit from pg_stat_database where datname = current_database()")


@dataclass(frozen=True)
class Counts:
    """Statements (BEGIN and COMMIT left out) of 100 events, and claims of a batch of 5 runs."""

    matcher_statements: int
    executor_claims: int


class Handlers:
    """The two handlers, whose AWS calls are answered at once."""

    def __init__(self, aws: AwsAtOnce) -> None:
        from run_executor import handler as executor  # noqa: PLC0415  # the environment comes first
        from stream_matcher import handler as matcher  # noqa: PLC0415

        self._aws = aws
        self._match: Callable[[dict[str, Any], object], object] = matcher.lambda_handler
        self._execute: Callable[[dict[str, Any], Any], object] = executor.lambda_handler
        self.matcher_database = process_context("stream-matcher").database
        self.executor_database = process_context("run-executor").database

    def close(self) -> None:
        self.matcher_database.close()
        self.executor_database.close()

    def match(self, records: Sequence[str]) -> None:
        self._match(stream_batch(records), None)

    def execute(self) -> None:
        """Execute the next five of the runs whose messages were sent."""
        batch = [message.body for message in self._aws.messages[:RUN_BATCH]]
        del self._aws.messages[:RUN_BATCH]
        self._execute(queue_batch(batch), LambdaContext())

    def run_all(self, events: Sequence[str]) -> float:
        """Return the seconds until each run of `events` has ended and its events are matched."""
        started_s = perf_counter()
        waiting = list(events)
        while waiting or self._aws.messages or self._aws.records:
            waiting += self._aws.records
            self._aws.records.clear()
            batch, waiting = waiting[:MATCH_BATCH], waiting[MATCH_BATCH:]
            if batch:
                self.match(batch)
            while self._aws.messages:
                self.execute()
        return perf_counter() - started_s

    def count(self, events: Sequence[str]) -> Counts:
        """Count one batch of 100 `events`, and then one of five of its runs."""
        matched = _statements(self.matcher_database, lambda: self.match(events))
        executed = _statements(self.executor_database, self.execute)
        self.run_all([])
        return Counts(len(matched), sum(CLAIMS in statement for statement in executed))


def commits(database: Database) -> int:
    """Return how many transactions the database has committed by now."""

    def read(connection: Any) -> int:
        connection.execute(FLUSH)
        return int(connection.execute(_COMMITS).scalar_one())

    return database.transact(read)


def _statements(database: Database, work: Callable[[], None]) -> list[str]:
    seen: list[str] = []
    database.on_statement = seen.append
    try:
        work()
    finally:
        database.on_statement = None
    return seen
