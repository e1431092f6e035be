"""The processes of the functions: invoked side by side, killed and stopped at random moments."""

import json
import os
import queue
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

ANSWER_WITHIN_S = 120
START_WITHIN_S = 60


@dataclass(eq=False)
class Job:
    """One invocation: what it works on (`run_ids`, where it is known), and what follows from it.

    `done` is given the answer, None if there was none: the process died or the handler raised.
    """

    function: str
    event: Mapping[str, Any]
    done: Callable[[Any], None] = lambda _answer: None
    run_ids: Sequence[UUID] = ()


class Worker:
    """One warm process."""

    def __init__(self, connection: socket.socket) -> None:
        connection.settimeout(None)
        self._connection = connection
        self._wire = connection.makefile("rw")
        self.pid = int(self._wire.readline())

    def invoke(self, plan: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the process's answer; None if it died."""
        with suppress(OSError):
            self._wire.write(json.dumps(plan) + "\n")
            self._wire.flush()
            if line := self._wire.readline():
                found: dict[str, Any] = json.loads(line)
                return found
        return None

    def close(self) -> None:
        with suppress(OSError):
            self._wire.close()
        self._connection.close()


class Zygote:
    """The process that forks the workers, so that a new one costs milliseconds."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="wt-workers-")
        address = str(Path(self._folder.name) / "socket")
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.settimeout(START_WITHIN_S)
        self._listener.bind(address)
        self._listener.listen(16)
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.warm", address],
            stdin=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )

    def fork(self) -> Worker:
        assert self._process.stdin is not None
        with self._lock:
            self._process.stdin.write("fork\n")
            self._process.stdin.flush()
            connection, _ = self._listener.accept()
        return Worker(connection)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(START_WITHIN_S)
        self._listener.close()
        self._folder.cleanup()


@dataclass
class Toll:
    """What has been done to the processes so far, and to which runs: run → moments of the clock."""

    kills: int = 0
    stops: int = 0
    deaths: int = 0
    invocations: int = 0
    errors: list[str] = field(default_factory=list)
    strikes: dict[UUID, list[float]] = field(default_factory=dict)


class Workers:
    """Up to `most` invocations at once, each in a process of its own; stopped ones not counted."""

    def __init__(self, zygote: Zygote, most: int, clock: Callable[[], float]) -> None:
        self._zygote = zygote
        self._most = most
        self._clock = clock
        self._idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        self._threads = ThreadPoolExecutor(max_workers=64)
        self._changed = threading.Condition()
        self._busy: dict[Worker, Job] = {}
        self._starting = 0
        self._disturbed = False
        self._stopped: dict[Worker, float] = {}
        self.offset_s = 0.0
        self.toll = Toll()

    def submit(self, job: Job) -> None:
        """Invoke `job` as soon as a process is free for it."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._acting() < self._most, ANSWER_WITHIN_S)
            self._starting += 1
        self._threads.submit(self._run, job)

    def wait(self) -> None:
        """Return once every invocation has ended, those of stopped processes apart."""
        with self._changed:
            assert self._changed.wait_for(lambda: not self._acting(), ANSWER_WITHIN_S), "busy"

    def kill_one(self, draw: random.Random) -> None:
        """Kill a process that is at work, if there is one."""
        with self._changed:
            if acting := [worker for worker in self._busy if worker not in self._stopped]:
                victim = draw.choice(acting)
                self.toll.kills += 1
                _signal(victim, signal.SIGKILL)

    def stop_one(self, draw: random.Random, most: int) -> None:
        """Stop a process that is at work, unless `most` are stopped."""
        with self._changed:
            acting = [worker for worker in self._busy if worker not in self._stopped]
            if acting and len(self._stopped) < most:
                victim = draw.choice(acting)
                self._strike(self._busy[victim])
                self.toll.stops += 1
                self._stopped[victim] = self._clock()
                _signal(victim, signal.SIGSTOP)
                self._changed.notify_all()

    @contextmanager
    def disturbed(self) -> Iterator[None]:
        """Note of everything that is at work meanwhile, if only for a while, that it was struck."""
        with self._changed:
            self._disturbed = True
            for job in self._busy.values():
                self._strike(job)
        yield
        with self._changed:
            self._disturbed = False

    def wake(self, stopped_before: float) -> None:
        """Let the processes go on that were stopped before that moment, and see them end."""
        with self._changed:
            woken = [worker for worker, at in self._stopped.items() if at <= stopped_before]
            for worker in woken:
                _signal(worker, signal.SIGCONT)
            over = self._changed.wait_for(
                lambda: not any(worker in self._busy for worker in woken), ANSWER_WITHIN_S
            )
            assert over, "a process that was woken does not end"

    @property
    def stopped(self) -> int:
        with self._changed:
            return len(self._stopped)

    def close(self) -> None:
        with self._changed:
            for worker in self._busy:
                _signal(worker, signal.SIGKILL)
        self._threads.shutdown()
        with suppress(queue.Empty):
            while True:
                self._idle.get_nowait().close()

    def _acting(self) -> int:
        return self._starting + len(self._busy) - len(self._stopped)

    def _strike(self, job: Job) -> None:
        for run_id in job.run_ids:
            self.toll.strikes.setdefault(run_id, []).append(self._clock())

    def _run(self, job: Job) -> None:
        worker = self._take()
        with self._changed:
            self._starting -= 1
            self._busy[worker] = job
            self.toll.invocations += 1
            if self._disturbed:
                self._strike(job)
        plan = {"function": job.function, "event": job.event, "offset_s": self.offset_s}
        told = worker.invoke(plan)
        with self._changed:
            if told is None:
                self.toll.deaths += 1
                self._strike(job)
            elif "error" in told:
                self.toll.errors.append(told["error"])
            # Nobody waits any more for what one has to say that had been stopped.
            heard = told if worker not in self._stopped else None
        try:
            job.done(heard.get("answer") if heard else None)
        finally:
            self._give_back(worker, alive=told is not None)

    def _take(self) -> Worker:
        with suppress(queue.Empty):
            return self._idle.get_nowait()
        return self._zygote.fork()

    def _give_back(self, worker: Worker, *, alive: bool) -> None:
        with self._changed:
            # One that was stopped after it had answered would hold up whoever comes next.
            if self._stopped.pop(worker, None) is not None:
                _signal(worker, signal.SIGKILL)
                alive = False
            del self._busy[worker]
            self._changed.notify_all()
        if alive:
            self._idle.put(worker)
        else:
            worker.close()


def _signal(worker: Worker, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(worker.pid, number)
