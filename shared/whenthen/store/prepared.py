"""Statements of the hot path, which each connection parses and plans once."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, NoReturn, cast

import pg8000.dbapi
from pg8000.core import Context
from sqlalchemy.engine import Connection

from whenthen.store.pipelined import PipelinedConnection

# A name behind a colon, as in SQLAlchemy's text: neither `::type` nor `\:`, a bare colon, is one.
_NAME = re.compile(r"(?<![:\w\\]):(\w+)(?![:\w])")
_ESCAPED = re.compile(r"\\(:[\w$]*)(?![:\w$])")


class Prepared:
    """A statement that goes to the driver as it is, with its values in their order.

    SQLAlchemy's own way of carrying out a statement took an eighth of the executor's CPU
    (docs/decisions/0023-statements-straight-to-the-driver.md). Its connections and transactions
    serve these statements too, and its errors are what they raise.
    """

    __slots__ = ("_names", "sql")

    def __init__(self, sql: str) -> None:
        names: dict[str, int] = {}
        numbered = _NAME.sub(partial(_number, names), sql)
        self.sql = _ESCAPED.sub(r"\1", numbered)
        self._names = tuple(names)

    def run(self, connection: Connection, values: Mapping[str, Any]) -> None:
        """Carry out the statement, of which no row is read.

        Raises:
            sqlalchemy.exc.DBAPIError: the server refuses, or the connection is lost.

        """
        _answers(connection, (self, values))

    def rows(self, connection: Connection, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the statement's rows by the names of their columns.

        Raises:
            sqlalchemy.exc.DBAPIError: the server refuses, or the connection is lost.

        """
        (answers,) = _answers(connection, (self, values))
        return _rows(answers)

    def in_order(self, values: Mapping[str, Any]) -> list[Any]:
        """Return those of `values` that the statement names, as its numbers ask for them."""
        return [values[name] for name in self._names]


def prepared(sql: str) -> Prepared:
    """Return `sql` as a statement that the server keeps parsed and planned on each connection.

    For statements whose best plan does not depend on their values: rows by key, or the rows of one
    JSON parameter. A search with optional filters stays a plain `text`, planned for its values.
    """
    return Prepared(sql)


def rows_together(
    connection: Connection, *asked: tuple[Prepared, Mapping[str, Any]]
) -> list[list[dict[str, Any]]]:
    """Return the rows of each statement, all carried out one after the other in one round trip.

    Each sees what those before it have done, and what others have committed meanwhile. Behind one
    that fails none is carried out.

    Raises:
        sqlalchemy.exc.DBAPIError: the server refuses, or the connection is lost.

    """
    return [_rows(answers) for answers in _answers(connection, *asked)]


def _answers(connection: Connection, *asked: tuple[Prepared, Mapping[str, Any]]) -> list[Context]:
    if not connection.in_transaction():
        connection.begin()
    raw = cast("PipelinedConnection", connection.connection.dbapi_connection)
    sent = [(statement.sql, statement.in_order(values)) for statement, values in asked]
    try:
        return raw.run_together(sent)
    except BaseException as error:  # noqa: BLE001  # whatever it is, the connection may be of no more use
        _raise(connection, error, "; ".join(sql for sql, _ in sent))


def _rows(answers: Context) -> list[dict[str, Any]]:
    names = [column["name"] for column in answers.columns]
    return [dict(zip(names, row, strict=True)) for row in answers.rows]


def _number(names: dict[str, int], found: re.Match[str]) -> str:
    return f"${names.setdefault(found[1], len(names) + 1)}"


def _raise(connection: Connection, error: BaseException, sql: str) -> NoReturn:
    """Raise `error` as every other statement's: it decides whether the connection is lost."""
    # SQLAlchemy wraps whatever has a statement; an error that is not the driver's stays what it is.
    statement = sql if isinstance(error, pg8000.dbapi.Error) else None
    # There is no public door to it.
    connection._handle_dbapi_exception(error, statement, None, None, None)  # noqa: SLF001
