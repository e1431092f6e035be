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
from time import monotonic
from typing import Any

import pg8000.core
import pg8000.dbapi
from pg8000.core import (
    BIND,
    CLOSE,
    COMMAND_COMPLETE,
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

from whenthen.store.pipelined_cursor import PipelinedCursor

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
            self._parse_and_execute(NULL_BYTE, statement, vals, oids)
            self._run(answers)
        return answers

    def run(self, statement: str, vals: Sequence[Any]) -> Context:
        """Run `statement`, its parameters numbered, in the transaction or in one that it opens."""
        (answers,) = self.run_together([(statement, vals)])
        return answers

    def run_together(self, asked: Sequence[tuple[str, Sequence[Any]]]) -> list[Context]:
        """Run statements one after the other in one round trip; behind one that fails none runs.

        Each sees what those before it have done, and what others have committed meanwhile.
        """
        if not self._in_transaction and not self.autocommit:
            self.begin_with_next(_BY_KEY)
        with self._counting(*(statement for statement, _ in asked)):
            names, answers = zip(*(self._send(*one) for one in asked), strict=True)
            self._run(*answers)
        for name, answer in zip(names, answers, strict=True):
            if name is not None:
                self._prepared[answer.statement] = _Prepared(
                    name, monotonic(), answer.columns, answer.input_funcs
                )
        return list(answers)

    def execute_simple(self, statement: str) -> Context:
        opens = statement == "begin transaction"
        with self._counting(*([] if opens else [statement])):
            return super().execute_simple(self.begin_sql if opens else statement)

    def _send(self, statement: str, vals: Sequence[Any]) -> tuple[bytes | None, Context]:
        """Ask the server to run `statement`; return its name if it is new, and room for answers."""
        known = self._prepared.get(statement)
        if known is not None and monotonic() - known.since_s <= self.plan_age_s:
            self.send_BIND(known.name, make_params(self.py_types, vals))
            pg8000.core._write(self._sock, EXECUTE_MSG)  # noqa: SLF001  # the driver has no public door
            return None, Context(statement, columns=known.columns, input_funcs=known.input_funcs)
        answers = Context(statement)
        if not self.keeps_statements:
            self._parse_and_execute(NULL_BYTE, statement, vals)
            return None, answers
        # A name of its own each time: one whose first execution failed may be known to the server.
        self._names += 1
        name = f"whenthen_{self._names}".encode() + NULL_BYTE
        if known is not None:
            del self._prepared[statement]
            self._send_message(CLOSE, STATEMENT + known.name)
        self._parse_and_execute(name, statement, vals)
        return name, answers

    def _parse_and_execute(
        self, name: bytes, statement: str, vals: Sequence[Any], oids: Sequence[int] = ()
    ) -> None:
        self.send_PARSE(name, statement, oids)
        self.send_BIND(name, make_params(self.py_types, vals))
        self._send_message(DESCRIBE, _PORTAL)
        pg8000.core._write(self._sock, EXECUTE_MSG)  # noqa: SLF001

    def begin_with_next(self, more: str = "") -> None:
        """Let a transaction begin, with `more` lines, in the same round trip as the next statement.

        Should the server refuse to begin, it refuses the statement too: nothing runs outside of a
        transaction, as `begin_sql` fails only after its BEGIN.
        """
        begin_sql = self.begin_sql + more
        self._begin = Context(begin_sql)
        with self._counting():
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

    def _run(self, *answers: Context) -> None:
        pg8000.core._write(self._sock, SYNC_MSG)  # noqa: SLF001
        pg8000.core._flush(self._sock)  # noqa: SLF001
        begin, self._begin = self._begin, None
        try:
            if begin is not None:
                self.handle_messages(begin)
        except DatabaseError:
            with suppress(DatabaseError):
                self.handle_messages(*answers)
            raise
        self.handle_messages(*answers)

    @contextmanager
    def _counting(self, *statements: str) -> Iterator[None]:
        try:
            yield
        except _BROKEN as error:
            raise InterfaceError("network error: the connection broke") from error
        except DatabaseError as error:
            _forget_values(error)
            raise
        for statement in statements:
            if statement in _ENDS:
                continue
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
