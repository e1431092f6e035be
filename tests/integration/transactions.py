"""What tests of transactions write, and what they see of it afterwards."""

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy
from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.domain.rules.classify import classify_error
from whenthen.store.connection import Database

LOST = "DB_CONNECTION_LOST"


def new_workspace(database: Database) -> UUID:
    """Return a workspace to write its name: the row by which a test sees what was committed."""
    workspace_id = uuid4()
    database.transact(lambda connection: insert(connection, workspace_id))
    return workspace_id


def insert(connection: Connection, workspace_id: UUID) -> None:
    connection.execute(
        text("insert into workspaces (id, name) values (:id, 'before')"), {"id": workspace_id}
    )


def rename(connection: Connection, workspace_id: UUID, name: str) -> None:
    connection.execute(
        text("update workspaces set name = :name where id = :id"),
        {"id": workspace_id, "name": name},
    )


def name_of(database: Database, workspace_id: UUID) -> Any:
    return value(database, "select name from workspaces where id = :id", id=workspace_id)


def value(database: Database, statement: str, **values: Any) -> Any:
    return database.transact(lambda c: c.execute(text(statement), values).scalar_one())


def code_of(failing: Callable[[], object]) -> str:
    with pytest.raises(sqlalchemy.exc.SQLAlchemyError) as raised:
        failing()
    verdict = classify_error(raised.value)
    assert verdict.retryable
    return verdict.code
