"""A connection as smtplib uses one, each wait of it under the one deadline."""

import io
import socket
import ssl
from typing import Any, Final

from whenthen.actions.deadline import Deadline

# What a server says in one conversation; lines of an answer without end stop here.
_SAID_MAX_BYTES: Final = 256 * 1024


class SmtpChannel:
    """What smtplib asks of a socket: `sendall`, `makefile` and `close`.

    A timeout of a socket begins anew with every byte that comes; the deadline does not.
    """

    def __init__(self, connection: socket.socket, deadline: Deadline) -> None:
        self._connection = connection
        self._deadline = deadline
        self._left_bytes = _SAID_MAX_BYTES

    def sendall(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            with self._deadline.bounds(self._connection):
                sent = self._connection.send(left)
            left = left[sent:]

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Reader(self))

    def receive_into(self, buffer: Any) -> int:
        with self._deadline.bounds(self._connection):
            n = self._connection.recv_into(buffer)
        self._left_bytes -= n
        if self._left_bytes < 0:
            raise OSError("the mail server says more than a conversation may need")
        return n

    def secured(self, tls: ssl.SSLContext, host: str) -> "SmtpChannel":
        """Return the same connection under TLS, its certificate checked for `host`."""
        with self._deadline.bounds(self._connection):
            connection = tls.wrap_socket(self._connection, server_hostname=host)
        return SmtpChannel(connection, self._deadline)

    def close(self) -> None:
        self._connection.close()


class _Reader(io.RawIOBase):
    def __init__(self, channel: SmtpChannel) -> None:
        self._channel = channel

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._channel.receive_into(buffer)
