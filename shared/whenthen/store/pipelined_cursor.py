"""The DB-API cursor of a pipelined connection: what SQLAlchemy's own statements go through."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pg8000.dbapi

if TYPE_CHECKING:
    from whenthen.store.pipelined import PipelinedConnection


class PipelinedCursor(pg8000.dbapi.Cursor):  # type: ignore[misc]
    """A DB-API cursor that scans the text of a statement once per process, not at every execution.

    The driver's own scan goes through the text one character at a time, which for the engine's
    long statements took a fifth of the executor's CPU (docs/decisions/0013-prepared-statements.md).
    """

    def __init__(self, connection: "PipelinedConnection") -> None:
        super().__init__(connection)
        self._input_oids: Sequence[int] = ()
        self.input_types: Sequence[int] = ()

    def execute(self, operation: str, args: Sequence[Any] = (), stream: Any = None) -> None:
        if not args or stream is not None:
            super().execute(operation, args, stream)
            return
        connection = self._c
        if not connection._in_transaction and not connection.autocommit:  # noqa: SLF001  # as the driver does
            connection.begin_with_next()
        self._context = connection.execute_unnamed(numbered(operation), args, self._input_oids)
        self._row_iter = None if self._context.rows is None else iter(self._context.rows)
        self._input_oids = ()
        self.input_types = ()


@lru_cache(maxsize=1024)
def numbered(operation: str) -> str:
    """Return `operation` with its parameters as the server numbers them: `%s` as `$1`."""
    statement, _ = pg8000.dbapi.convert_paramstyle("format", operation, ())
    return str(statement)
