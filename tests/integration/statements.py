"""Counts what a piece of work costs at the database."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import event

from whenthen.store.connection import Database


@dataclass
class Cost:
    """The statements that ran, and how many transactions committed."""

    statements: list[str] = field(default_factory=list)
    commits: int = 0


@contextmanager
def counted(database: Database) -> Iterator[Cost]:
    """Count every statement and commit of `database` inside the block, of whatever thread."""
    cost = Cost()

    def on_commit(_connection: Any) -> None:
        cost.commits += 1

    database.on_statement = cost.statements.append
    event.listen(database.engine, "commit", on_commit)
    try:
        yield cost
    finally:
        database.on_statement = None
        event.remove(database.engine, "commit", on_commit)
