"""A pg8000 connection that spends one round trip on a parameterised statement instead of three.

pg8000 waits for the server after Parse, after Describe and after Execute. Sending Parse, Bind,
Describe, Execute and one Sync together brings a transaction of five statements from 19 round trips
to 7 (docs/decisions/0004-pipelined-pg8000.md). After an error the server skips to the Sync, so one
read of the answers ends in the same state either way.
"""

import os
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any

import pg8000.core
from pg8000.core import (
    BIND,
    CLOSE,
    DESCRIBE,
    EXECUTE_MSG,
    NULL_BYTE,
    PARSE,
    STATEMENT,
    SYNC_MSG,
    Context,
    make_params,
)
from pg8000.exceptions import DatabaseError, InterfaceError

from whenthen.store.pipelined_cursor import PipelinedCursor
from whenthen.store.reading import ReadingConnection

_PORTAL = b"P" + NULL_BYTE
# How pg8000 itself ends a transaction.
_ENDS = frozenset({"commit", "rollback"})

# What a dying socket makes of pg8000's reader; SQLAlchemy knows only InterfaceError as "lost".
_BROKEN = (OSError, struct.error, IndexError, AttributeError)


# A plan made for an empty table is wrong for a full one, and the server keeps it until the table is
# analysed, a minute or more later: a statement is prepared anew when its plan is this old.
PLAN_AGE_S = 10.0


# A transaction that begins with a statement that is kept finds all its rows by key. The planner
# would rather read a table through while it is small, or looked small when it was asked; and it
# would ask about the values five times before it believes that they decide nothing. Up to
# Postgres 17, a table that has to be read through costs so much then that it is worth compiling.
_BY_KEY = (
    "; set local enable_seqscan = off; set local plan_cache_mode = force_generic_plan"
    "; set local jit = off"
)


# Several statements are sent before the first answer is read. Where both sides wrote more than the
# socket holds, each would wait for the other to read: from 60 kB on a local socket (measured).
TOGETHER_MAX_BYTES = 20_000

# Values as the server reads them.
Params = Sequence[str | None]


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A statement that the server has parsed, since when, and how its rows are read."""

    name: bytes
    since_s: float
    columns: Any
    input_funcs: Sequence[Any]


class PipelinedConnection(ReadingConnection):
    """A DB-API connection; `begin_sql` opens its transactions, `statements` counts what it ran.

    What goes through `run_together` is parsed and planned once in `plan_age_s` seconds, unless
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
        self._mark = os.urandom(8).hex()
        self._names = 0
        # Names that the server may still know, and that are not used again.
        self._given_up: list[bytes] = []
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
            self._parse_and_execute(NULL_BYTE, statement, make_params(self.py_types, vals), oids)
            self._run(answers)
        return answers

    def run_together(self, asked: Sequence[tuple[str, Sequence[Any]]]) -> list[Context]:
        """Run statements one after the other in one round trip; behind one that fails none runs.

        Their parameters are numbered; where no transaction is open, they open one. Each sees what
        those before it have done, and what others have committed meanwhile. The time for an answer
        is the time for all of theirs. Where they ask too much at once, each has a round trip of its
        own.
        """
        sent = [(statement, make_params(self.py_types, vals)) for statement, vals in asked]
        if len(sent) > 1 and sum(map(_bytes_at_most, sent)) > TOGETHER_MAX_BYTES:
            return [answers for one in asked for answers in self.run_together([one])]
        if not self._in_transaction and not self.autocommit:
            self.begin_with_next(_BY_KEY)
        for statement, _ in sent:
            self._give_up_outdated(statement)
        with self._counting(*(statement for statement, _ in sent)):
            self._close_given_up()
            names, answers = zip(*(self._send(*one) for one in sent), strict=True)
            # Till all has gone well: the server may know the name of a statement that fails.
            self._given_up += [name for name in names if name is not None]
            self._run(*answers)
        for name, answer in zip(names, answers, strict=True):
            if name is not None and answer.statement not in self._prepared:
                self._given_up.remove(name)
                self._prepared[answer.statement] = _Prepared(
                    name, monotonic(), answer.columns, answer.input_funcs
                )
        return list(answers)

    def _give_up_outdated(self, statement: str) -> None:
        known = self._prepared.get(statement)
        if known is not None and monotonic() - known.since_s > self.plan_age_s:
            del self._prepared[statement]
            self._given_up.append(known.name)

    def _close_given_up(self) -> None:
        """Let the server forget what is not used again; a name that it does not know is no error.

        Before anything that could fail: behind an error the server listens no more.
        """
        for name in self._given_up:
            self._send_message(CLOSE, STATEMENT + name)
        self._given_up.clear()

    def execute_simple(self, statement: str) -> Context:
        opens = statement == "begin transaction"
        with self._counting(*([] if opens else [statement])):
            return super().execute_simple(self.begin_sql if opens else statement)

    def _send(self, statement: str, params: Params) -> tuple[bytes | None, Context]:
        """Ask the server to run `statement`; return its name if it is new, and room for answers."""
        known = self._prepared.get(statement)
        if known is not None:
            self.send_BIND(known.name, params)
            pg8000.core._write(self._sock, EXECUTE_MSG)  # noqa: SLF001  # the driver has no public door
            return None, Context(statement, columns=known.columns, input_funcs=known.input_funcs)
        answers = Context(statement)
        if not self.keeps_statements:
            self._parse_and_execute(NULL_BYTE, statement, params)
            return None, answers
        # A name of its own each time: one whose first execution failed may be known to the server,
        # and where a pooler put another session behind this connection, none there may be taken
        # for one of ours.
        self._names += 1
        name = f"whenthen_{self._mark}_{self._names}".encode() + NULL_BYTE
        self._parse_and_execute(name, statement, params)
        return name, answers

    def _parse_and_execute(
        self, name: bytes, statement: str, params: Params, oids: Sequence[int] = ()
    ) -> None:
        self.send_PARSE(name, statement, oids)
        self.send_BIND(name, params)
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

    def send_BIND(self, name: bytes, params: Params) -> None:  # noqa: N802
        """Send Bind as the driver does, but without asking the server to answer it at once."""
        body = bytearray(NULL_BYTE + name + struct.pack("!HH", 0, len(params)))
        for value in params:
            encoded = None if value is None else value.encode(self._client_encoding)
            body += struct.pack("!i", -1 if encoded is None else len(encoded))
            body += encoded or b""
        self._send_message(BIND, body + struct.pack("!H", 0))

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


def _bytes_at_most(sent: tuple[str, Params]) -> int:
    statement, params = sent
    return sum(len(text) * (1 if text.isascii() else 4) for text in (statement, *params) if text)


# Of an error: detail (`Failing row contains (…)`), hint, context, internal query.
_TELLING = ("D", "H", "W", "q")


def _forget_values(error: DatabaseError) -> None:
    """Leave out what would bring people's data into the log."""
    facts = error.args[0] if error.args else None
    if isinstance(facts, dict):
        for field in _TELLING:
            facts.pop(field, None)
