"""Messages between the stack and a worker: four bytes of length, then JSON."""

import json
import socket
import struct
from typing import Any

_LENGTH = struct.Struct("!I")


def send_frame(channel: socket.socket, value: Any) -> None:
    """Send one message. Raises OSError when the other side is gone."""
    body = json.dumps(value, separators=(",", ":")).encode()
    channel.sendall(_LENGTH.pack(len(body)) + body)


def receive_frame(channel: socket.socket) -> Any:
    """Return the next message.

    Raises:
        EOFError: the other side is gone.
        TimeoutError: the channel's timeout passed first.

    """
    (length,) = _LENGTH.unpack(_receive_exactly(channel, _LENGTH.size))
    return json.loads(_receive_exactly(channel, length))


def _receive_exactly(channel: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        try:
            part = channel.recv(min(size - len(parts), 1 << 20))
        except ConnectionResetError as error:
            raise EOFError from error
        if not part:
            raise EOFError
        parts += part
    return bytes(parts)
