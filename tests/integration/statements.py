"""Counts what a piece of work costs at the database."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from sqlalchemy import event

from whenthen.engine import step_transaction
from whenthen.store.connection import Database


@dataclass
class Cost:
    """The statements that ran, and how many transactions committed."""

    statements: list[str] = field(default_factory=list)
    commits: int = 0


@contextmanager
def counted(database: Database, *, time_passes: bool = False) -> Iterator[Cost]:
    """Count every statement and commit of `database` inside the block, of whatever thread.

    No time passes there for the limits of data steps unless `time_passes`: a transaction that a
    busy machine holds up for half a second costs more, and that is not what is counted.
    """
    cost = Cost()
    patch = pytest.MonkeyPatch()
    if not time_passes:
        patch.setattr(step_transaction, "monotonic", lambda: 0.0)

    def on_commit(_connection: Any) -> None:
        cost.commits += 1

    database.on_statement = cost.statements.append
    event.listen(database.engine, "commit", on_commit)
    try:
        yield cost
    finally:
        patch.undo()
        database.on_statement = None
        event.remove(database.engine, "commit", on_commit)
