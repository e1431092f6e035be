"""The connection of a webhook: to a checked address and no other, each wait under the deadline."""

import socket
import ssl
from collections.abc import Iterable, Sequence
from typing import Any

import httpcore

from whenthen.actions.deadline import Deadline
from whenthen.actions.dialling import Dial, connect_to_any
from whenthen.domain.limits import WEBHOOK_WIRE_MAX_BYTES


class PinnedBackend(httpcore.NetworkBackend):
    """Connects to `addresses` whatever host it is asked for; that one stays in Host and TLS."""

    def __init__(self, addresses: Sequence[str], deadline: Deadline, connect: Dial) -> None:
        self._addresses = addresses
        self._deadline = deadline
        self._connect = connect

    def connect_tcp(
        self,
        host: str,  # noqa: ARG002  # resolved and checked already; asking again could differ
        port: int,
        timeout: float | None = None,  # noqa: ARG002  # the deadline stands for all timeouts
        local_address: str | None = None,  # noqa: ARG002  # never set
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,  # noqa: ARG002  # never set
    ) -> httpcore.NetworkStream:
        """Connect to the first address that answers; raises as `connect_to_any` does."""
        return _Stream(
            connect_to_any(self._addresses, port, self._deadline, self._connect), self._deadline
        )


class _Stream(httpcore.NetworkStream):
    """One connection; errors of the system stay what they are, so that their errno is found."""

    def __init__(self, connection: socket.socket, deadline: Deadline) -> None:
        self._connection = connection
        self._deadline = deadline
        self._left_bytes = WEBHOOK_WIRE_MAX_BYTES
        self._write_error: OSError | None = None

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        with self._deadline.bounds(self._connection):
            data = self._connection.recv(max_bytes)
        if not data and self._write_error is not None:
            raise self._write_error
        self._left_bytes -= len(data)
        if self._left_bytes < 0:
            # Go-aheads or empty blocks without end would burn CPU until the deadline.
            raise httpcore.RemoteProtocolError("more than an answer may need")
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        left = memoryview(buffer)
        try:
            # Not sendall: over TLS it gives every record the whole time again.
            while left:
                with self._deadline.bounds(self._connection):
                    sent = self._connection.send(left)
                left = left[sent:]
        except OSError as error:
            # The target may have answered before it had read everything. The reader looks; if
            # there is no answer, this was the reason, and the system tells it only once.
            self._write_error = error
            raise httpcore.WriteError from error

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore.NetworkStream:
        try:
            with self._deadline.bounds(self._connection):
                secured = ssl_context.wrap_socket(self._connection, server_hostname=server_hostname)
        except BaseException:
            self.close()
            raise
        return _Stream(secured, self._deadline)

    def close(self) -> None:
        self._connection.close()

    def get_extra_info(self, info: str) -> Any:  # noqa: ARG002
        """Tell nothing: there is no second protocol to choose and no connection to use again."""
        return None
