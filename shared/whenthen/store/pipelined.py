"""A pg8000 connection that spends one round trip on a parameterised statement instead of three.

pg8000 waits for the server after Parse, after Describe and after Execute. Sending Parse, Bind,
Describe, Execute and one Sync together brings a transaction of five statements from 19 round trips
to 7 (docs/decisions/0004-pipelined-pg8000.md). After an error the server skips to the Sync, so one
read of the answers ends in the same state either way.
"""

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from time import monotonic
from typing import Any

import pg8000.core
import pg8000.dbapi
from pg8000.core import (
    BIND,
    CLOSE,
    DESCRIBE,
    EXECUTE_MSG,
    NULL_BYTE,
    PARSE,
    READY_FOR_QUERY,
    STATEMENT,
    SYNC_MSG,
    Context,
    ci_unpack,
    i_unpack,
    make_params,
)
from pg8000.exceptions import DatabaseError, InterfaceError

_PORTAL = b"P" + NULL_BYTE
# A message: its kind, its length with these four bytes, and the rest. A row's begins with two bytes
# that count its values.
_HEADER_BYTES = 5
_LENGTH_BYTES = 4
_FIRST_VALUE = 2
# How pg8000 itself ends a transaction.
_ENDS = frozenset({"commit", "rollback"})

# What a dying socket makes of pg8000's reader; SQLAlchemy knows only InterfaceError as "lost".
_BROKEN = (OSError, struct.error, IndexError, AttributeError)


# A plan made for an empty table is wrong for a full one, and the server keeps it until the table is
# analysed, a minute or more later: a statement is prepared anew when its plan is this old.
PLAN_AGE_S = 10.0


# A transaction that begins with a statement that is kept finds all its rows by key. The planner
# would rather read a table through while it is small, or looked small when it was asked; and it
# would ask about the values five times before it believes that they decide nothing.
_BY_KEY = "; set local enable_seqscan = off; set local plan_cache_mode = force_generic_plan"


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A statement that the server has parsed, since when, and how its rows are read."""

    name: bytes
    since_s: float
    columns: Any
    input_funcs: Sequence[Any]


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


class PipelinedConnection(pg8000.dbapi.Connection):  # type: ignore[misc]
    """A DB-API connection; `begin_sql` opens its transactions, `statements` counts what it ran.

    What goes through `run` is parsed and planned once in `plan_age_s` seconds, unless
    `keeps_statements` is off.

    `begin_sql` may carry `set local` lines: they travel in the same message as BEGIN, so a
    transaction's timeouts cost no round trip. `statements` leaves BEGIN and COMMIT out, as does
    `on_statement`, which is told the text of each that was carried out.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.begin_sql = "begin"
        self.statements = 0
        self.on_statement: Callable[[str], None] | None = None
        self.keeps_statements = True
        self.plan_age_s = PLAN_AGE_S
        self._begin: Context | None = None
        self._prepared: dict[str, _Prepared] = {}
        self._names = 0
        super().__init__(*args, **kwargs)

    def cursor(self) -> PipelinedCursor:
        return PipelinedCursor(self)

    def wait_at_most(self, answer_s: float) -> None:
        """Give up on an answer, from now on, after that many seconds."""
        self._usock.settimeout(answer_s)

    def commit(self) -> None:
        """Commit by one plain message: there is nothing to parse, bind or describe."""
        self.execute_simple("commit")

    def close(self) -> None:
        """Close the socket; that a peer which is gone already cannot be told is no error."""
        with suppress(InterfaceError):
            super().close()

    def execute_unnamed(
        self, statement: str, vals: Sequence[Any] = (), oids: Sequence[int] = (), stream: Any = None
    ) -> Context:
        answers = Context(statement, stream=stream)
        with self._counting(statement):
            self.send_PARSE(NULL_BYTE, statement, oids)
            self.send_BIND(NULL_BYTE, make_params(self.py_types, vals))
            self._send_message(DESCRIBE, _PORTAL)
            self._run(answers)
        return answers

    def run(self, statement: str, vals: Sequence[Any]) -> Context:
        """Run `statement`, its parameters numbered, in the transaction or in one that it opens."""
        if not self._in_transaction and not self.autocommit:
            self.begin_with_next(_BY_KEY)
        execute = self.execute_prepared if self.keeps_statements else self.execute_unnamed
        return execute(statement, vals)

    def execute_prepared(self, statement: str, vals: Sequence[Any]) -> Context:
        """Run `statement` like any other, parsed and planned only once on this connection."""
        known = self._prepared.get(statement)
        if known is None or monotonic() - known.since_s > self.plan_age_s:
            return self._prepare(statement, vals)
        answers = Context(statement, columns=known.columns, input_funcs=known.input_funcs)
        with self._counting(statement):
            self.send_BIND(known.name, make_params(self.py_types, vals))
            self._run(answers)
        return answers

    def execute_simple(self, statement: str) -> Context:
        opens = statement == "begin transaction"
        with self._counting(None if opens else statement):
            return super().execute_simple(self.begin_sql if opens else statement)

    def _prepare(self, statement: str, vals: Sequence[Any]) -> Context:
        # A name of its own each time: one whose first execution failed may be known to the server.
        self._names += 1
        name = f"whenthen_{self._names}".encode() + NULL_BYTE
        answers = Context(statement)
        outdated = self._prepared.pop(statement, None)
        with self._counting(statement):
            if outdated is not None:
                self._send_message(CLOSE, STATEMENT + outdated.name)
            self.send_PARSE(name, statement)
            self.send_BIND(name, make_params(self.py_types, vals))
            self._send_message(DESCRIBE, _PORTAL)
            self._run(answers)
        self._prepared[statement] = _Prepared(
            name, monotonic(), answers.columns, answers.input_funcs
        )
        return answers

    def begin_with_next(self, more: str = "") -> None:
        """Let a transaction begin, with `more` lines, in the same round trip as the next statement.

        Should the server refuse to begin, it refuses the statement too: nothing runs outside of a
        transaction, as `begin_sql` fails only after its BEGIN.
        """
        begin_sql = self.begin_sql + more
        self._begin = Context(begin_sql)
        with self._counting(None):
            self.send_QUERY(begin_sql)

    def send_PARSE(self, name: bytes, statement: str, oids: Sequence[int] = ()) -> None:  # noqa: N802
        """Send Parse as the driver does, but without asking the server to answer it at once."""
        known = [0 if oid == -1 else oid for oid in oids]
        text = statement.encode(self._client_encoding) + NULL_BYTE
        self._send_message(PARSE, name + text + struct.pack(f"!H{len(known)}i", len(known), *known))

    def send_BIND(self, name: bytes, params: Sequence[str | None]) -> None:  # noqa: N802
        """Send Bind as the driver does, but without asking the server to answer it at once."""
        body = bytearray(NULL_BYTE + name + struct.pack("!HH", 0, len(params)))
        for value in params:
            encoded = None if value is None else value.encode(self._client_encoding)
            body += struct.pack("!i", -1 if encoded is None else len(encoded))
            body += encoded or b""
        self._send_message(BIND, body + struct.pack("!H", 0))

    def handle_messages(self, context: Context) -> None:
        """Read answers until the server is ready: as the driver does, in fewer steps a message."""
        read = self._sock.read
        code = None
        while code != READY_FOR_QUERY:
            # Of a connection that ends here there are too few bytes to unpack.
            code, size = ci_unpack(read(_HEADER_BYTES))
            body = read(size - _LENGTH_BYTES) if size > _LENGTH_BYTES else b""
            if len(body) < size - _LENGTH_BYTES:
                raise InterfaceError("network error: an answer broke off")
            self.message_types[code](body, context)
        if context.error is not None:
            raise context.error

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

    def _run(self, answers: Context) -> None:
        pg8000.core._write(self._sock, EXECUTE_MSG + SYNC_MSG)  # noqa: SLF001  # the driver has no public door
        pg8000.core._flush(self._sock)  # noqa: SLF001
        begin, self._begin = self._begin, None
        try:
            if begin is not None:
                self.handle_messages(begin)
        except DatabaseError:
            with suppress(DatabaseError):
                self.handle_messages(answers)
            raise
        self.handle_messages(answers)

    @contextmanager
    def _counting(self, statement: str | None) -> Iterator[None]:
        try:
            yield
        except _BROKEN as error:
            raise InterfaceError("network error: the connection broke") from error
        except DatabaseError as error:
            _forget_values(error)
            raise
        if statement is not None and statement not in _ENDS:
            self.statements += 1
            if self.on_statement is not None:
                self.on_statement(statement)


# Of an error: detail (`Failing row contains (…)`), hint, context, internal query.
_TELLING = ("D", "H", "W", "q")


def _forget_values(error: DatabaseError) -> None:
    """Leave out what would bring people's data into the log."""
    facts = error.args[0] if error.args else None
    if isinstance(facts, dict):
        for field in _TELLING:
            facts.pop(field, None)
