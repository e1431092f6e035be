"""A pg8000 connection that spends one round trip on a parameterised statement instead of three.

pg8000 waits for the server after Parse, after Describe and after Execute. Sending Parse, Bind,
Describe, Execute and one Sync together brings a transaction of five statements from 19 round trips
to 7 (docs/decisions/0004-pipelined-pg8000.md). After an error the server skips to the Sync, so one
read of the answers ends in the same state either way.
"""

import struct
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pg8000.core
import pg8000.dbapi
from pg8000.core import DESCRIBE, NULL_BYTE, SYNC_MSG, Context, make_params
from pg8000.exceptions import InterfaceError

_PORTAL = b"P" + NULL_BYTE
# How pg8000 itself ends a transaction.
_ENDS = frozenset({"commit", "rollback"})

# What a dying socket makes of pg8000's reader; SQLAlchemy knows only InterfaceError as "lost".
_BROKEN = (OSError, struct.error, IndexError, AttributeError)


class PipelinedConnection(pg8000.dbapi.Connection):  # type: ignore[misc]
    """A DB-API connection; `begin_sql` opens its transactions, `statements` counts what it ran.

    `begin_sql` may carry `set local` lines: they travel in the same message as BEGIN, so a
    transaction's timeouts cost no round trip. `statements` leaves BEGIN and COMMIT out.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.begin_sql = "begin"
        self.statements = 0
        super().__init__(*args, **kwargs)

    def close(self) -> None:
        """Close the socket; that a peer which is gone already cannot be told is no error."""
        with suppress(InterfaceError):
            super().close()

    def execute_unnamed(
        self, statement: str, vals: Sequence[Any] = (), oids: Sequence[int] = (), stream: Any = None
    ) -> Context:
        answers = Context(statement, stream=stream)
        try:
            self.send_PARSE(NULL_BYTE, statement, oids)
            self.send_BIND(NULL_BYTE, make_params(self.py_types, vals))
            self._send_message(DESCRIBE, _PORTAL)
            self.send_EXECUTE()
            pg8000.core._write(self._sock, SYNC_MSG)  # noqa: SLF001  # the driver has no public door
            pg8000.core._flush(self._sock)  # noqa: SLF001
            self.handle_messages(answers)
        except _BROKEN as error:
            raise InterfaceError("network error: the connection broke") from error
        if statement not in _ENDS:
            self.statements += 1
        return answers

    def execute_simple(self, statement: str) -> Context:
        opens = statement == "begin transaction"
        try:
            answers = super().execute_simple(self.begin_sql if opens else statement)
        except _BROKEN as error:
            raise InterfaceError("network error: the connection broke") from error
        if not opens:
            self.statements += 1
        return answers
