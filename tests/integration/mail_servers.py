"""Mail servers that mail is handed to: a well-behaved one, and one that says what it is told to."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any, cast

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

from whenthen.actions.smtp_mail import SmtpNetwork

HOST = "mail.example"
ACCEPTED = "250 OK"


def network(port: int, tls: ssl.SSLContext | None = None) -> SmtpNetwork:
    """A network in which `mail.example` is the server on this port of loopback."""

    def dial(_address: str, _port: int, timeout_s: float) -> socket.socket:
        return socket.create_connection(("127.0.0.1", port), timeout_s)

    def resolve(host: str) -> Sequence[str]:
        assert host == HOST
        return ["192.0.2.25"]

    if tls is None:
        return SmtpNetwork(resolve, dial)
    return SmtpNetwork(resolve, dial, lambda: tls)


@dataclass
class Mailroom:
    """What aiosmtpd has received; `answers` is what it says to a recipient, or to the message."""

    answers: dict[str, str] = field(default_factory=dict)
    greeted_as: list[str] = field(default_factory=list)
    senders: list[str] = field(default_factory=list)
    recipients: list[list[str]] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    logins: list[tuple[str, str]] = field(default_factory=list)
    port: int = 0

    def the_message(self) -> EmailMessage:
        (raw,) = self.raw
        return parsed(raw)

    async def handle_EHLO(  # noqa: N802
        self, _server: Any, session: Any, _envelope: Any, hostname: str, responses: list[str]
    ) -> list[str]:
        session.host_name = hostname
        self.greeted_as.append(hostname)
        return responses

    async def handle_RCPT(  # noqa: N802
        self, _server: Any, _session: Any, envelope: Any, address: str, _options: Any
    ) -> str:
        answer = self.answers.get(address, ACCEPTED)
        if answer.startswith("2"):
            envelope.rcpt_tos.append(address)
        return answer

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802
        answer = self.answers.get("DATA", ACCEPTED)
        if answer.startswith("2"):
            self.senders.append(envelope.mail_from)
            self.recipients.append(envelope.rcpt_tos)
            self.raw.append(envelope.content)
        return answer

    def authenticate(
        self, _server: Any, _session: Any, _envelope: Any, _mechanism: str, data: Any
    ) -> AuthResult:
        login = cast("LoginPassword", data)
        self.logins.append((login.login.decode(), login.password.decode()))
        return AuthResult(success=login.password == b"right", handled=False)


def parsed(raw: bytes) -> EmailMessage:
    """The message as a mail program reads it."""
    return message_from_bytes(raw, policy=policy.default)


class _OnAnyPort(Controller):
    def _trigger_server(self) -> None:
        # It connects to itself before it is ready, and has to know where.
        server: Any = self.server
        self.port = server.sockets[0].getsockname()[1]
        super()._trigger_server()  # type: ignore[no-untyped-call]


@contextmanager
def mailroom(**options: Any) -> Iterator[Mailroom]:
    """A server of aiosmtpd on loopback."""
    room = Mailroom()
    controller = _OnAnyPort(
        room, hostname="127.0.0.1", port=0, authenticator=room.authenticate, **options
    )
    controller.start()
    try:
        room.port = controller.port
        yield room
    finally:
        controller.stop()


@dataclass
class Script:
    """A server that lets `behave` talk on each connection, until that one is closed."""

    behave: Callable[[socket.socket], None]
    accepted: int = 0
    _open: int = 0
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Stop listening, once every connection has been closed by its client."""
        with self._changed:
            assert self._changed.wait_for(lambda: not self._open, 10), "still connected"
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._count(1)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with suppress(OSError), connection:
                self.behave(connection)
        finally:
            self._count(-1)

    def _count(self, change: int) -> None:
        with self._changed:
            self.accepted += change > 0
            self._open += change
            self._changed.notify_all()


def says(*answers: bytes, then: Callable[[socket.socket], None] | None = None) -> Any:
    """Greet and answer each command with the next of `answers`, then do `then`, or hang up."""

    def behave(connection: socket.socket) -> None:
        reader = connection.makefile("rb")
        with reader:
            connection.sendall(answers[0])
            for answer in answers[1:]:
                line = reader.readline()
                if not line:
                    return
                connection.sendall(answer)
            reader.readline()
            if then is not None:
                then(connection)

    return behave


def drips(connection: socket.socket) -> None:
    """Say one more byte of an endless line every few milliseconds."""
    pause = threading.Event()
    while True:
        connection.sendall(b"2")
        pause.wait(0.02)


def hangs(connection: socket.socket) -> None:
    """Say nothing more until the other side hangs up."""
    connection.settimeout(60)
    while connection.recv(65_536):
        pass


def floods(connection: socket.socket) -> None:
    """Go on with one answer for ever."""
    while True:
        connection.sendall(b"250-more\r\n" * 1_000)
