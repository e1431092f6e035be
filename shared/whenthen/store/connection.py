"""The one way to Postgres: `Database.transact` runs a function in one transaction."""

import socket
import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pg8000.dbapi
import sqlalchemy
from pg8000.exceptions import InterfaceError
from sqlalchemy import event
from sqlalchemy.engine import URL, Connection, Engine, ExceptionContext, make_url

from whenthen.domain import json_text, limits
from whenthen.domain.ids import known_id
from whenthen.store.pipelined import PipelinedConnection
from whenthen.store.trust import trusting_context

if TYPE_CHECKING:
    from whenthen.settings import Settings

Result = TypeVar("Result")
Credentials = tuple[str, str | None]

# The types of an instant and of an id in the server's catalogue.
TIMESTAMPTZ = 1184
UUID_TYPE = 2950
# A server that does not answer at all: the socket gives up (connect, and every read unless told).
SOCKET_TIMEOUT_S = 40
SERVER_FIRST_S = 2
# A statement that runs on: the server gives up, well before the socket.
STATEMENT_TIMEOUT_MS = 30_000
# A transaction whose client froze: the server ends it, and with it its locks.
IDLE_TIMEOUT_MS = 60_000
POOL_TIMEOUT_S = 10
# SQLSTATEs after which the connection is of no more use: terminated, crashed, starting up, a
# read-only session (the old primary after a fail-over), and a prepared statement that the server
# does not know (a pooler has put another session behind the connection).
LOST_STATES = frozenset({"57P01", "57P02", "57P03", "25006", "26000"})


class Database:
    """A lazily opened pool of connections to one Postgres.

    `answer_within_s` is how long one statement's answer is waited for. `clock_offset_s` turns the
    database's clock for every transaction begun here, `on_statement` is told the text of each
    statement; only tests and measurements set them.
    """

    def __init__(
        self,
        settings: "Settings",
        credentials: Callable[[], Credentials],
        *,
        answer_within_s: float = SOCKET_TIMEOUT_S,
    ) -> None:
        self._settings = settings
        self._credentials = credentials
        self._answer_within_s = answer_within_s
        self._engine: Engine | None = None
        self._opening = threading.Lock()
        self.clock_offset_s = 0.0
        self.on_statement: Callable[[str], None] | None = None

    @property
    def engine(self) -> Engine:
        if self._engine is None:
            # Two threads at once would open a pool each, and together take too many connections.
            with self._opening:
                if self._engine is None:
                    self._engine = self._open()
        return self._engine

    def transact(
        self,
        work: Callable[[Connection], Result],
        *,
        lock_timeout_ms: int = limits.LOCK_TIMEOUT_MS,
        statement_timeout_ms: int = STATEMENT_TIMEOUT_MS,
        together: int = 1,
    ) -> Result:
        """Return what `work(connection)` returns, its statements committed as one transaction.

        A pooled connection that turns out dead at its first statement is replaced once: nothing
        ran on it, so nothing can run twice. Any other failure rolls back and is raised; when the
        connection breaks at COMMIT the outcome is unknown to the caller. `together` is how many
        statements share one round trip at most, and with it the time that an answer may take.
        """
        begin_sql = self._begin_sql(lock_timeout_ms, statement_timeout_ms, together)
        try:
            return self._attempt(work, begin_sql)
        except _DeadOnArrivalError:
            return self._attempt(work, begin_sql, reused_may_fail=False)

    def close(self) -> None:
        """Close every pooled connection; the next use opens the pool again."""
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None

    def _attempt(
        self,
        work: Callable[[Connection], Result],
        begin_sql: str,
        *,
        reused_may_fail: bool = True,
    ) -> Result:
        with self.engine.connect() as connection:
            raw = cast("PipelinedConnection", connection.connection.dbapi_connection)
            raw.begin_sql = begin_sql
            raw.on_statement = self.on_statement
            statements_before = raw.statements
            try:
                result = work(connection)
                connection.commit()
            except sqlalchemy.exc.DBAPIError as error:
                nothing_ran = raw.statements == statements_before
                reused = statements_before > 0
                if error.connection_invalidated and nothing_ran and reused and reused_may_fail:
                    raise _DeadOnArrivalError from error
                raise
            return result

    def _begin_sql(self, lock_timeout_ms: int, statement_timeout_ms: int, together: int) -> str:
        # The server gives up first: then there is an error to read, and a connection to keep.
        answer_ms = (self._answer_within_s - SERVER_FIRST_S) * 1000
        # Nought would be no limit at all.
        statement_timeout_ms = max(round(min(statement_timeout_ms, answer_ms / together)), 1)
        lines = [
            "begin",
            f"set local lock_timeout = {int(lock_timeout_ms)}",
            f"set local statement_timeout = {int(statement_timeout_ms)}",
            f"set local idle_in_transaction_session_timeout = {IDLE_TIMEOUT_MS}",
        ]
        if self.clock_offset_s:
            lines.append(f"set local whenthen.clock_offset_s = '{float(self.clock_offset_s)}'")
        return "; ".join(lines)

    def _open(self) -> Engine:
        engine = sqlalchemy.create_engine(
            "postgresql+pg8000://",
            module=pg8000.dbapi,
            creator=self._connect,
            json_deserializer=json_text.loads_stored,
            json_serializer=json_text.dumps,
            pool_size=self._settings.database_pool_size,
            max_overflow=0,
            pool_timeout=POOL_TIMEOUT_S,
            pool_use_lifo=True,
            # An error's text goes to the log; the rows that it was about must not.
            hide_parameters=True,
        )
        event.listen(engine, "handle_error", _mark_lost)
        return engine

    def _connect(self) -> PipelinedConnection:
        arguments = self._arguments()
        connect_s = min(SOCKET_TIMEOUT_S, self._answer_within_s)
        if "host" in arguments:
            arguments["sock"] = _dial(arguments["host"], arguments["port"], connect_s)
        try:
            connection = PipelinedConnection(**arguments, timeout=connect_s)
        except BaseException as error:
            # The driver leaves a socket open whose server stops answering before it is one of ours.
            if "sock" in arguments:
                arguments["sock"].close()
            if isinstance(error, TimeoutError):
                raise InterfaceError("network error: the server says nothing") from error
            raise
        connection.wait_at_most(self._answer_within_s)
        connection.keeps_statements = self._settings.database_prepare
        # The driver tries one format after another with strptime; the standard library's reader
        # of ISO 8601 is twenty times as fast.
        connection.register_in_adapter(TIMESTAMPTZ, datetime.fromisoformat)
        connection.register_in_adapter(UUID_TYPE, known_id)
        return connection

    def _arguments(self) -> dict[str, Any]:
        settings = self._settings
        if settings.database_url:
            return _from_url(make_url(settings.database_url))
        user, password = self._credentials()
        host = settings.database_host or ""
        arguments: dict[str, Any] = {
            "user": user,
            "password": password,
            "database": settings.database_name,
        }
        if host.startswith("/"):
            return arguments | {"unix_sock": f"{host}/.s.PGSQL.{settings.database_port}"}
        if settings.database_ssl:
            arguments["ssl_context"] = trusting_context()
        return arguments | {"host": host, "port": settings.database_port}


class _DeadOnArrivalError(Exception):
    """Raised when a pooled connection was already dead: nothing has run on it."""


def _dial(host: str, port: int, timeout_s: float) -> socket.socket:
    try:
        dialled = socket.create_connection((host, port), timeout_s)
    except OSError as error:
        # The driver's own words.
        told = f"Can't create a connection to host {host} and port {port}"
        raise InterfaceError(told) from error
    dialled.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return dialled


def _from_url(url: URL) -> dict[str, Any]:
    folder = url.query.get("host")
    host = folder if isinstance(folder, str) else url.host or "localhost"
    port = url.port or 5432
    arguments: dict[str, Any] = {
        "user": url.username or "postgres",
        "password": url.password,
        "database": url.database or "postgres",
    }
    if host.startswith("/"):
        return arguments | {"unix_sock": f"{host}/.s.PGSQL.{port}"}
    return arguments | {"host": host, "port": port}


def _mark_lost(context: ExceptionContext) -> None:
    error = context.original_exception
    if not isinstance(error, pg8000.dbapi.Error):
        # Raised between a question and the end of its answer, such as by a value that cannot be
        # read: whoever used this connection next would get the rest of it for an answer (measured).
        context.is_disconnect = True
        context.invalidate_pool_on_disconnect = False
    elif error.args and isinstance(error.args[0], dict) and _ends_connection(error.args[0]):
        context.is_disconnect = True


def _ends_connection(report: Mapping[str, str]) -> bool:
    state, message = report.get("C"), report.get("M", "")
    return state in LOST_STATES or (state == "0A000" and message.startswith("cached plan"))
