"""The warm processes of one function: kept alive, taken in turn, replaced when they die."""

import queue
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from devstack.sandbox import Invocation, Sandbox, SandboxGoneError

FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 5.0
READY_POLL_S = 0.1
# So many starts without one success: the handler cannot be imported.
HOPELESS_STARTS = 2

MakeSandbox = Callable[[], Sandbox]


class PoolClosedError(RuntimeError):
    """Raised when the stack is going down: nothing is invoked any more."""


class FunctionPool:
    """`size` processes of one function.

    Invocations take the process that has rested longest, so that with two processes consecutive
    ones meet in the database as they would in AWS. `on_change` is called with the pids whenever a
    process has come or gone.
    """

    def __init__(
        self, name: str, size: int, make: MakeSandbox, on_change: Callable[[], None]
    ) -> None:
        self.name = name
        self.size = size
        self._make = make
        self._on_change = on_change
        self._idle: queue.Queue[Sandbox | None] = queue.Queue()
        self._running: dict[int, Sandbox] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._failed_starts = 0
        self._first_ready = threading.Semaphore(0)
        self._keepers = [
            threading.Thread(target=self._keep_alive, name=f"{name}-{n}", daemon=True)
            for n in range(size)
        ]

    def start(self) -> None:
        """Begin to start the processes; returns at once."""
        for keeper in self._keepers:
            keeper.start()

    def wait_until_ready(self, timeout_s: float) -> bool:
        """Return whether every process has imported its handler in time.

        Gives up early when processes cannot start at all.
        """
        deadline = time.monotonic() + timeout_s
        ready = 0
        while ready < self.size and time.monotonic() < deadline:
            if self._first_ready.acquire(timeout=READY_POLL_S):
                ready += 1
            elif self._failed_starts >= HOPELESS_STARTS:
                return False
        return ready == self.size

    def pids(self) -> list[int]:
        """Return the process ids that are alive and ready."""
        with self._lock:
            return sorted(self._running)

    def invoke(self, event: Any, wait_s: float | None = None) -> Invocation:
        """Return what the function made of `event`.

        Waits for a free process; a process found dead is passed over, as nothing ran in it.

        Raises:
            queue.Empty: no process became free within `wait_s`.
            PoolClosedError: the stack is going down.

        """
        while True:
            sandbox = self._idle.get(timeout=wait_s)
            if sandbox is None or self._closed.is_set():
                self._idle.put(None)
                raise PoolClosedError(self.name)
            try:
                invocation = sandbox.invoke(event)
            except SandboxGoneError:
                continue
            self._idle.put(sandbox)
            return invocation

    def close(self) -> None:
        """Kill every process and wait until all are gone."""
        self._closed.set()
        self._idle.put(None)
        with self._lock:
            for sandbox in self._running.values():
                sandbox.process.kill()
        for keeper in self._keepers:
            keeper.join()

    def _keep_alive(self) -> None:
        pause_s = FIRST_PAUSE_S
        announced = False
        while not self._closed.is_set():
            sandbox = self._make()
            if sandbox.wait_until_ready() and self._register(sandbox):
                pause_s = FIRST_PAUSE_S
                if not announced:
                    self._first_ready.release()
                    announced = True
                sandbox.wait()
                self._forget(sandbox)
            else:
                self._failed_starts += 1
            sandbox.close()
            self._closed.wait(pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)

    def _register(self, sandbox: Sandbox) -> bool:
        with self._lock:
            if self._closed.is_set():
                return False
            self._running[sandbox.pid] = sandbox
        self._idle.put(sandbox)
        self._on_change()
        return True

    def _forget(self, sandbox: Sandbox) -> None:
        with self._lock:
            self._running.pop(sandbox.pid, None)
        if not self._closed.is_set():
            self._on_change()


def pids_of(pools: Mapping[str, FunctionPool]) -> dict[str, list[int]]:
    """Return the process ids of every function."""
    return {name: pool.pids() for name, pool in pools.items()}
