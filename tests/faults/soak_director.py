"""Runs the soak: lets people act, delivers, breaks things, and turns the clock between minutes."""

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.faults.aws_process import AwsProcess
from tests.faults.own_postgres import Mode, OwnPostgres
from tests.faults.soak_people import People
from tests.faults.workers import Workers
from whenthen.engine.context import Context

# A minute of the soak: this long by the wall, after which the clock is turned by up to so much.
MINUTE_WALL_S = 1.0
TURN_MIN_S, TURN_MAX_S = 40, 60
OUTAGE_WALL_S = 0.7
# Seconds between two kills or stops, on average, and the share that is a stop.
CALM_MEAN_S = 0.5
SHARE_STOPS = 0.15
STOPPED_MAX = 2
# Past the lease of whoever is stopped, its row's wake-up and the sweep that follows.
STOPPED_FOR_S = 400
# New events come while fewer batches than this wait to be delivered.
BACKLOG_MAX = 8
EVENTS_AT_ONCE = 15
MEDDLES_A_MINUTE = 2
ROUNDS_MAX = 120


@dataclass
class Director:
    """`now` is the clock that everybody but the wall goes by."""

    context: Context
    postgres: OwnPostgres
    aws: AwsProcess
    workers: Workers
    people: People
    draw: random.Random
    rounds: int = 0
    # When things stopped going wrong.
    peace_at: float = 0

    def break_things(self, wall_s: float, runs: int) -> None:
        """Let things go on and wrong for `wall_s` seconds, and on until there are `runs` runs."""
        started = time.monotonic()
        outages: list[tuple[float, Mode]] = [(wall_s / 3, "immediate"), (2 * wall_s / 3, "fast")]
        for scene in ("poison", "poison"):
            self.people.enter(self.people.soak.scenes[scene])
        with self._monkey():
            while (gone_s := time.monotonic() - started) < wall_s or self.runs() < runs:
                self._minute()
                if outages and gone_s > outages[0][0]:
                    self._outage(outages.pop(0)[1])
                self._turn(self.draw.uniform(TURN_MIN_S, TURN_MAX_S))

    def come_to_rest(self) -> None:
        """Let time pass, in peace, until nothing wakes up any more."""
        self.peace_at = self.now()
        services = self.people.services
        services.calm_down()
        for _ in range(ROUNDS_MAX):
            self._dry()
            self.workers.wake(float("inf"))
            self._dry()
            wake_s = self._last_wake_s()
            if wake_s is None:
                return
            self.rounds += 1
            self._turn(max(wake_s, 0) + 1)
            services.tick()
        raise AssertionError(f"not at rest after {ROUNDS_MAX} rounds")

    def runs(self) -> int:
        (row,) = self.people.soak.world.sql("select count(*) as n from automation_runs")
        return int(row["n"])

    def _minute(self) -> None:
        services = self.people.services
        services.tick()
        over = time.monotonic() + MINUTE_WALL_S
        while time.monotonic() < over:
            if services.deliver() < BACKLOG_MAX:
                for _ in range(EVENTS_AT_ONCE):
                    self.people.act()
        for _ in range(MEDDLES_A_MINUTE):
            self.people.meddle()

    def _outage(self, mode: Mode) -> None:
        """Take the database away while functions are at work, and let them go on without it."""
        services = self.people.services
        for _ in range(EVENTS_AT_ONCE):
            self.people.act()
        services.deliver()
        with self.workers.disturbed():
            self.postgres.stop(mode)
            back = time.monotonic() + OUTAGE_WALL_S
            while time.monotonic() < back:
                services.deliver()
            self.postgres.start()

    def _turn(self, by_s: float) -> None:
        """Turn the clock ahead, at a moment at which nobody but the stopped is at work."""
        self.workers.wait()
        offset_s = self.workers.offset_s + by_s
        self._end_idle_transactions()
        self.context.database.clock_offset_s = offset_s
        self.aws.set_clock(offset_s)
        self.workers.offset_s = offset_s
        self.workers.wake(self.now() - STOPPED_FOR_S)

    def now(self) -> float:
        return time.time() + self.workers.offset_s

    def _dry(self) -> None:
        delivered = 1
        while delivered:
            delivered = self.people.services.deliver()
            self.workers.wait()

    def _last_wake_s(self) -> float | None:
        (row,) = self.people.soak.world.sql(
            "select cast(extract(epoch from max(at) - whenthen_now()) as float8) as s from ("
            " select enqueue_after as at from automation_runs"
            " union all select relay_at from outbox) wakes"
        )
        left_s: float | None = row["s"]
        return left_s

    def _end_idle_transactions(self) -> None:
        """Do at once what the server does after a minute with transactions whose client is gone."""
        self.people.soak.world.sql(
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
            " where datname = current_database() and state = 'idle in transaction'"
            " and pid <> pg_backend_pid()"
        )

    @contextmanager
    def _monkey(self) -> Iterator[None]:
        """Kill and stop processes meanwhile, at moments of its own."""
        over = threading.Event()
        draw = random.Random(self.draw.random())

        def rage() -> None:
            while not over.wait(draw.expovariate(1 / CALM_MEAN_S)):
                if draw.random() < SHARE_STOPS:
                    self.workers.stop_one(draw, STOPPED_MAX)
                else:
                    self.workers.kill_one(draw)

        thread = threading.Thread(target=rage)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
