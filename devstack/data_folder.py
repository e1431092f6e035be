"""The folder that keeps a stack's data: one stack at a time."""

import fcntl
import shutil
from pathlib import Path
from typing import IO

from devstack.errors import StackError
from devstack.postgres import start_postgres


class DataFolder:
    """A folder locked by this process until the process ends, in whatever way."""

    def __init__(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self.path = path.resolve()
        self._lock: IO[str] = (self.path / ".lock").open("a")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._lock.close()
            raise StackError(f"another stack runs on {self.path}") from error

    def empty(self) -> None:
        """Delete everything but the lock, once a Postgres that a killed stack left has ended."""
        if (self.path / "postgres" / "postmaster.pid").exists():
            start_postgres(self.path).stop()
        for item in self.path.iterdir():
            if item.is_dir() and not item.is_symlink():
                shutil.rmtree(item)
            elif item.name != ".lock":
                item.unlink()

    def close(self) -> None:
        """Let another stack have the folder."""
        self._lock.close()
