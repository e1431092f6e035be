"""Targets that webhooks are sent to, the well-behaved and the hostile, and the way there."""

import socket
import ssl
import struct
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import Any

from tests.integration.step_requests import step_request
from whenthen.actions.requests import StepRequest
from whenthen.actions.resolving import system_addresses
from whenthen.actions.send_webhook import Network
from whenthen.domain import json_text
from whenthen.domain.kinds import ActionType
from whenthen.domain.schemas.actions import stored_config

IDLE_WITHIN_S = 60


@dataclass(frozen=True)
class Hit:
    """One request as it arrived; header names in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


# Answers one request on its connection; the connection is closed afterwards.
Behaviour = Callable[[socket.socket, Hit], None]


def respond(status: int, body: bytes | str = b"", **headers: str) -> Behaviour:
    """Answer properly; `retry_after` stands for the header `retry-after`."""
    data = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status} Whatever", f"content-length: {len(data)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return send("\r\n".join(lines).encode() + b"\r\n\r\n" + data)


def send(data: bytes) -> Behaviour:
    """Say exactly `data`."""

    def behave(connection: socket.socket, _hit: Hit) -> None:
        connection.sendall(data)

    return behave


def repeat(head: bytes, piece: bytes, every_s: float = 0) -> Behaviour:
    """Say `head`, then `piece` again and again until the other side hangs up."""

    def behave(connection: socket.socket, _hit: Hit) -> None:
        pause = threading.Event()
        connection.sendall(head)
        while True:
            connection.sendall(piece)
            pause.wait(every_s)

    return behave


def hang(connection: socket.socket, _hit: Hit) -> None:
    """Say nothing until the other side hangs up."""
    connection.settimeout(60)
    while connection.recv(65_536):
        pass


def reset(connection: socket.socket, _hit: Hit, said: bytes = b"") -> None:
    """Break the connection off with RST instead of FIN."""
    connection.sendall(said)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def bomb_block(size: int) -> tuple[bytes, bytes]:
    """Return the head of a gzip text, and a block that may follow it again and again.

    Each block unpacks to `size` zeros.
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    head = packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(size)) + packer.flush(zlib.Z_FULL_FLUSH)
    return head, block


@dataclass
class Target:
    """An HTTP server on loopback; each path behaves as `paths` says, each in its turn."""

    paths: dict[str, list[Behaviour]] = field(default_factory=dict)
    hits: list[Hit] = field(default_factory=list)
    # Connections that were accepted, whatever came over them.
    accepted: int = 0
    # Names that TLS clients asked for.
    names: list[str | None] = field(default_factory=list)
    tls: ssl.SSLContext | None = None
    # Whether it waits for the body of a request before it answers.
    reads_bodies: bool = True
    _open: int = 0
    _lock: threading.Condition = field(default_factory=threading.Condition)

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        if self.tls is not None:
            self.tls.sni_callback = self._note_name
        threading.Thread(target=self._accept, daemon=True).start()

    def on(self, path: str, *behaviours: Behaviour) -> str:
        """Let `path` behave so, the last one for ever; return its URL."""
        self.paths[path] = list(behaviours)
        return self.url + path

    def wait_until_idle(self) -> None:
        """Return once every connection is closed by its client, or fail."""
        with self._lock:
            assert self._lock.wait_for(lambda: not self._open, IDLE_WITHIN_S), "still connected"

    def close(self) -> None:
        # Closing alone does not wake a thread that waits in accept.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _note_name(self, _socket: Any, name: str | None, _context: ssl.SSLContext) -> None:
        self.names.append(name)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._count(1)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _count(self, change: int) -> None:
        with self._lock:
            self.accepted += change > 0
            self._open += change
            self._lock.notify_all()

    def _serve(self, raw: socket.socket) -> None:
        try:
            with suppress(OSError, EOFError), raw, self._secured(raw) as connection:
                hit = read_request(connection, with_body=self.reads_bodies)
                self.hits.append(hit)
                behaviours = self.paths[hit.target.partition("?")[0]]
                behave = behaviours.pop(0) if len(behaviours) > 1 else behaviours[0]
                behave(connection, hit)
        finally:
            self._count(-1)

    @contextmanager
    def _secured(self, raw: socket.socket) -> Iterator[socket.socket]:
        if self.tls is None:
            yield raw
            return
        with self.tls.wrap_socket(raw, server_side=True) as connection:
            yield connection


def read_request(connection: socket.socket, *, with_body: bool = True) -> Hit:
    """Return the next request; its body is as long as `content-length` says.

    Raises:
        EOFError: what comes is no request.

    """
    with connection.makefile("rb") as reader:
        method, _, rest = reader.readline().decode("latin-1").partition(" ")
        target, _, version = rest.partition(" ")
        if not version.startswith("HTTP/1.1"):
            raise EOFError
        headers: dict[str, str] = {}
        while line := reader.readline().strip():
            name, _, value = line.partition(b":")
            headers[name.decode().lower()] = value.strip().decode("utf-8", "replace")
        body = reader.read(int(headers.get("content-length", "0"))) if with_body else b""
        return Hit(method, target, headers, body)


def echo(connection: socket.socket, hit: Hit) -> None:
    """Answer with the request as JSON."""
    said = {
        "method": hit.method,
        "target": hit.target,
        "headers": dict(hit.headers),
        "body": hit.body.decode("utf-8", "replace"),
    }
    respond(200, json_text.dumps(said), content_type="application/json")(connection, hit)


def webhook(
    url: Any, *, allow: str = "127.0.0.1", timeout_s: float = 60, **config: Any
) -> StepRequest:
    """One try of a SEND_WEBHOOK step; `config` in Python's spelling (`signingSecret` as such)."""
    checked = stored_config(ActionType.SEND_WEBHOOK, {"url": "http://x.test/", **config})
    return step_request(checked | {"url": url}, timeout_s, WEBHOOK_ALLOW_HOSTS=allow)


@dataclass
class Wire:
    """A network of the test's own: it knows names, and every connection ends at `target`.

    `names`: the answers of a name, one list per question, the last one for ever. An unknown name
    is asked of the machine's own resolver, which reads all notations of an address.
    """

    target: Target
    names: dict[str, list[Sequence[str]]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    dialled: list[tuple[str, int]] = field(default_factory=list)
    # Addresses that do not answer, with the error that connecting to them brings.
    dead: dict[str, OSError] = field(default_factory=dict)
    authorities: ssl.SSLContext | None = None

    def network(self) -> Network:
        network = partial(Network, resolve=self._resolve, dial=self._dial)
        authorities = self.authorities
        return network() if authorities is None else network(tls=lambda: authorities)

    def _resolve(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        answers = self.names.get(host)
        if answers is None:
            return system_addresses(host)
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def _dial(self, address: str, port: int, timeout_s: float) -> socket.socket:
        self.dialled.append((address, port))
        if address in self.dead:
            raise self.dead[address]
        return socket.create_connection(("127.0.0.1", self.target.port), timeout_s)


def wait_for(claim: Callable[[], bool]) -> None:
    """Return once `claim` holds, or fail."""
    pause = threading.Event()
    deadline_s = monotonic() + IDLE_WITHIN_S
    while not claim():
        assert monotonic() < deadline_s, "not in time"
        pause.wait(0.01)


@contextmanager
def took(at_least_s: float, at_most_s: float) -> Iterator[None]:
    """Fail unless what is inside takes that long."""
    started_s = monotonic()
    yield
    assert at_least_s <= monotonic() - started_s <= at_most_s
