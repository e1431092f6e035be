"""A pg8000 connection that reads the server's answers in fewer steps than the driver does."""

from typing import Any

import pg8000.dbapi
from pg8000.core import COMMAND_COMPLETE, READY_FOR_QUERY, Context, ci_unpack, i_unpack
from pg8000.exceptions import InterfaceError

# A message: its kind, its length with these four bytes, and the rest. A row's begins with two bytes
# that count its values.
_HEADER_BYTES = 5
_LENGTH_BYTES = 4
_FIRST_VALUE = 2


class ReadingConnection(pg8000.dbapi.Connection):  # type: ignore[misc]
    """A DB-API connection; what becomes of each kind of message is the driver's.

    Source: PostgreSQL, "Message Formats".
    """

    def handle_messages(self, *contexts: Context) -> None:
        """Read answers until the server is ready: as the driver does, in fewer steps a message.

        Where several statements were sent, each has its own of `contexts`.
        """
        read = self._sock.read
        following = iter(contexts)
        context = next(following)
        code = None
        while code != READY_FOR_QUERY:
            # Of a connection that ends here there are too few bytes to unpack.
            code, size = ci_unpack(read(_HEADER_BYTES))
            body = read(size - _LENGTH_BYTES) if size > _LENGTH_BYTES else b""
            if len(body) < size - _LENGTH_BYTES:
                raise InterfaceError("network error: an answer broke off")
            self.message_types[code](body, context)
            if code == COMMAND_COMPLETE:
                # BEGIN and its settings are several commands, told to one.
                context = next(following, context)
        for told in contexts:
            if told.error is not None:
                raise told.error

    def handle_DATA_ROW(self, data: bytes, context: Context) -> None:  # noqa: N802
        """Read one row as the driver does, each value decoded where it is cut out."""
        encoding = self._client_encoding
        row: list[Any] = []
        at = _FIRST_VALUE
        for read_value in context.input_funcs:
            (size,) = i_unpack(data, at)
            at += _LENGTH_BYTES
            if size < 0:
                row.append(None)
                continue
            end = at + size
            row.append(read_value(data[at:end].decode(encoding)))
            at = end
        context.rows.append(row)
