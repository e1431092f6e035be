"""The stack's front door: a threaded HTTP server that stands for the API Gateway."""

import queue
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from devstack.errors import StackError
from devstack.function_pool import PoolClosedError
from devstack.gateway_event import (
    Request,
    Response,
    gateway_error,
    gateway_event,
    http_response,
)
from devstack.sandbox import Invocation

# Source: AWS, "Quotas for configuring and running an HTTP API": 10 MB of body, 10,240 bytes of
# headers, 30 s of integration timeout.
BODY_MAX_BYTES = 10 * 1024 * 1024
HEADERS_MAX_BYTES = 10_240
INTEGRATION_TIMEOUT_S = 30.0
NO_BODY_STATUSES = frozenset({204, 304})

Invoke = Callable[[Any, float], Invocation]


class _BodyError(ValueError):
    """Raised when a request's body cannot be read; carries the gateway's answer."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status)
        self.response = response


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256
    # A restart may take the port at once.
    allow_reuse_address = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of callers that hang up."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class HttpServer:
    """Serves on `port` of the loopback interface (0: any free one) once `start` was called."""

    def __init__(self, port: int, invoke: Invoke) -> None:
        try:
            self._server = _Server(("127.0.0.1", port), _handler_class(invoke))
        except OSError as error:
            raise StackError(f"port {port} is not free: {error.strerror}") from error
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Serve no more requests."""
        self._server.shutdown()

    def close(self) -> None:
        """Give the port back; call it after `stop`, or without `start`."""
        self._server.server_close()


def _handler_class(invoke: Invoke) -> type[BaseHTTPRequestHandler]:
    class Handler(_GatewayHandler):
        def answer(self, request: Request) -> Response:
            try:
                return http_response(invoke(gateway_event(request), INTEGRATION_TIMEOUT_S))
            except (queue.Empty, PoolClosedError):
                return gateway_error(503, "Service Unavailable")

    for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        setattr(Handler, f"do_{method}", Handler.serve)
    return Handler


class _GatewayHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body leave in two writes; with Nagle the second waits for the peer's delayed ACK.
    disable_nagle_algorithm = True
    # A connection on which nothing comes is closed.
    timeout = 75

    def answer(self, request: Request) -> Response:
        raise NotImplementedError

    def serve(self) -> None:
        if sum(len(k) + len(v) + 4 for k, v in self.headers.items()) > HEADERS_MAX_BYTES:
            self.close_connection = True
            self._write(gateway_error(431, "Request Header Fields Too Large"))
            return
        try:
            body = self._read_body()
        except _BodyError as error:
            # What is left of the body would be taken for the next request.
            self.close_connection = True
            self._write(error.response)
            return
        request = Request(
            method=self.command,
            target=self.path,
            headers=list(self.headers.items()),
            body=body,
            source_ip=self.client_address[0],
            protocol=self.request_version,
        )
        self._write(self.answer(request))

    def _read_body(self) -> bytes:
        if "chunked" in self.headers.get("transfer-encoding", "").lower():
            return self._read_chunks()
        text = self.headers.get("content-length", "0").strip()
        if not (text.isascii() and text.isdigit()):
            raise _BodyError(gateway_error(400, "Bad Request"))
        length = int(text)
        if length > BODY_MAX_BYTES:
            raise _BodyError(gateway_error(413, "Request Entity Too Large"))
        return self._read(length)

    def _read_chunks(self) -> bytes:
        body = bytearray()
        while True:
            head = self.rfile.readline(1024).split(b";")[0].strip()
            try:
                size = int(head, 16)
            except ValueError as error:
                raise _BodyError(gateway_error(400, "Bad Request")) from error
            if size < 0 or len(body) + size > BODY_MAX_BYTES:
                raise _BodyError(gateway_error(413, "Request Entity Too Large"))
            body += self._read(size)
            self.rfile.readline(1024)
            if size == 0:
                return bytes(body)

    def _read(self, size: int) -> bytes:
        data = self.rfile.read(size)
        if len(data) < size:
            raise ConnectionAbortedError("the caller went in the middle of a body")
        return data

    def _write(self, response: Response) -> None:
        self.send_response(response.status)
        # Of a header's value only what fits on its line may leave.
        for name, value in response.headers:
            if name not in {"content-length", "connection", "transfer-encoding"}:
                self.send_header(name, value.replace("\r", " ").replace("\n", " "))
        if response.status not in NO_BODY_STATUSES:
            self.send_header("content-length", str(len(response.body)))
        if self.close_connection:
            self.send_header("connection", "close")
        self.end_headers()
        if self.command != "HEAD" and response.status not in NO_BODY_STATUSES:
            self.wfile.write(response.body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base class's name
        """Say nothing: the functions log what they serve."""
