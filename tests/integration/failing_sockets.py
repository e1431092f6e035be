"""Peers that go away at the worst moment: a proxy before Postgres, and a socket that is dying."""

import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any


class Proxy:
    """A door to Postgres on a port of its own that can be slammed while somebody is using it."""

    def __init__(self, socket_path: str) -> None:
        self._socket_path = socket_path
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._threads: list[threading.Thread] = []
        # The client's bytes on which the door slams: before the server has them, or after it has
        # answered.
        self.slam_before: bytes | None = None
        self.slam_after: bytes | None = None
        self._start(self._accept)

    @property
    def accepted(self) -> int:
        return len(self._pairs)

    def slam(self, *, reset: bool = False) -> None:
        """End every connection towards the client: with FIN, or with RST."""
        for client, _ in self._pairs:
            if reset:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                # A thread that waits in recv() would keep the socket from being closed.
                _shut(client, socket.SHUT_RD)
                client.close()
            else:
                _shut(client)

    def close(self) -> None:
        _shut(self._listener)
        for client, _ in self._pairs:
            _shut(client)
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive()
        for sock in (self._listener, *(sock for pair in self._pairs for sock in pair)):
            sock.close()

    def _start(self, run: Callable[..., None], *arguments: Any) -> None:
        thread = threading.Thread(target=run, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._socket_path)
            self._pairs.append((client, server))
            last_answer = threading.Event()
            self._start(self._to_server, client, server, last_answer)
            self._start(self._to_client, client, server, last_answer)

    def _to_server(
        self, client: socket.socket, server: socket.socket, last_answer: threading.Event
    ) -> None:
        while data := _received(client):
            if self.slam_before is not None and self.slam_before in data:
                _shut(client)
                break
            if self.slam_after is not None and self.slam_after in data:
                last_answer.set()
            server.sendall(data)
        _shut(server)

    def _to_client(
        self, client: socket.socket, server: socket.socket, last_answer: threading.Event
    ) -> None:
        while (data := _received(server)) and not last_answer.is_set():
            with suppress(OSError):
                client.sendall(data)
        _shut(client)


def _received(sock: socket.socket) -> bytes:
    try:
        return sock.recv(65_536)
    except OSError:
        return b""


def _shut(sock: socket.socket, how: int = socket.SHUT_RDWR) -> None:
    with suppress(OSError):
        sock.shutdown(how)


class DyingSocket:
    """Takes every question, and answers as a socket does whose peer has just gone."""

    def __init__(self, answer: bytes | Exception) -> None:
        self._answer = answer

    def write(self, _data: bytes) -> None:
        pass

    def flush(self) -> None:
        pass

    def read(self, size: int) -> bytes:
        if isinstance(self._answer, Exception):
            raise self._answer
        answer, self._answer = self._answer[:size], self._answer[size:]
        return answer
