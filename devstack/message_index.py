"""The messages of one standard queue, indexed, so that no call gets slower with their number."""

import heapq
import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

RECEIPT_PREFIX = "devstack-receipt-"


class Message(Protocol):
    """What the index needs of moto's message."""

    group_id: str | None
    receipt_handle: str | None
    approximate_receive_count: int
    sent_timestamp: int
    delayed_until: float

    def mark_received(self, visibility_timeout: int | None = None) -> None: ...


@dataclass(slots=True, eq=False)
class Entry:
    """One message and where it stands: waiting, sleeping until `wakes_ms`, or gone."""

    number: int
    message: Message
    group: str | None
    state: str = "waiting"
    wakes_ms: float = 0.0
    receipts: list[str] = field(default_factory=list)


class ReceiptError(ValueError):
    """Raised when a receipt handle was never given out, or its message is not in flight."""


class MessageIndex:
    """A standard queue's messages; every method is safe to call from several threads.

    With `fair`, a receive takes from the message group with the fewest messages in flight, which
    is what SQS fair queues do for a quiet tenant beside a noisy one; otherwise the oldest first.
    """

    def __init__(self, *, fair: bool = True, clock: Callable[[], float] = time.time) -> None:
        self._fair = fair
        self._clock = clock
        self._changed = threading.Condition(threading.RLock())
        self._numbers = itertools.count(1)
        self._sleeps = itertools.count()
        self._waiting: dict[str | None, list[tuple[int, Entry]]] = {}
        self._turns: list[tuple[int, int, str]] = []
        self._sleeping: list[tuple[float, int, Entry]] = []
        self._by_receipt: dict[str, Entry] = {}
        self._in_flight: Counter[str | None] = Counter()
        self._states: Counter[str] = Counter()

    def counts(self) -> tuple[int, int, int]:
        """Return how many messages are (visible, delayed, in flight)."""
        with self._changed:
            self._wake()
            return self._states["waiting"], self._states["delayed"], self._states["in flight"]

    def visible(self) -> list[Message]:
        """Return the messages that a receive could take now, oldest first."""
        with self._changed:
            self._wake()
            entries = sorted(item for heap in self._waiting.values() for item in heap)
            return [entry.message for _, entry in entries]

    def add(self, message: Message) -> None:
        """Take in a message, which its `delayed_until` (ms) may hold back."""
        with self._changed:
            entry = Entry(next(self._numbers), message, message.group_id)
            if message.delayed_until > self._now_ms():
                self._sleep(entry, "delayed", message.delayed_until)
            else:
                self._offer(entry)
            self._changed.notify_all()

    def receive(
        self,
        count: int,
        visibility_s: int,
        *,
        retention_s: int,
        max_receives: int | None = None,
        bury: Callable[[Message], None] | None = None,
    ) -> list[Message]:
        """Return up to `count` messages, now invisible for `visibility_s`, their receipts new.

        A message already received `max_receives` times goes to `bury` instead; one older than
        `retention_s` goes.
        """
        taken: list[Message] = []
        with self._changed:
            self._wake()
            while len(taken) < count and (entry := self._next_waiting()) is not None:
                message = entry.message
                if message.sent_timestamp / 1000 + retention_s <= self._clock():
                    self._forget(entry)
                elif bury and max_receives and message.approximate_receive_count >= max_receives:
                    self._forget(entry)
                    bury(message)
                else:
                    self._hand_out(entry, visibility_s)
                    taken.append(message)
        return taken

    def wait(self, timeout_s: float) -> bool:
        """Return whether a message is visible, waiting for one up to `timeout_s`."""
        deadline = time.monotonic() + timeout_s
        with self._changed:
            while True:
                self._wake()
                left = deadline - time.monotonic()
                if self._states["waiting"] or left <= 0:
                    return bool(self._states["waiting"])
                if self._sleeping:
                    left = min(left, max(self._sleeping[0][0] / 1000 - self._clock(), 0.001))
                self._changed.wait(left)

    def delete(self, receipt: str) -> None:
        """Remove the message, if `receipt` is its newest one; an outdated one changes nothing.

        Raises:
            ReceiptError: the text is no receipt handle.

        """
        if not receipt.startswith(RECEIPT_PREFIX):
            raise ReceiptError(receipt)
        with self._changed:
            entry = self._by_receipt.get(receipt)
            if entry is not None and entry.receipts[-1] == receipt:
                self._forget(entry)

    def change_visibility(self, receipt: str, visibility_s: int) -> None:
        """Let the message in flight under `receipt` be invisible for `visibility_s` from now.

        Raises:
            ReceiptError: no message is in flight under that receipt handle.

        """
        with self._changed:
            entry = self._by_receipt.get(receipt)
            if entry is None or entry.state != "in flight" or entry.receipts[-1] != receipt:
                raise ReceiptError(receipt)
            self._leave(entry)
            if visibility_s == 0:
                self._offer(entry)
                self._changed.notify_all()
            else:
                self._sleep(entry, "in flight", self._now_ms() + visibility_s * 1000)

    def clear(self) -> None:
        """Remove every message."""
        with self._changed:
            for container in (self._waiting, self._by_receipt, self._in_flight, self._states):
                container.clear()
            self._turns.clear()
            self._sleeping.clear()

    def _now_ms(self) -> float:
        return self._clock() * 1000

    def _wake(self) -> None:
        now_ms = self._now_ms()
        while self._sleeping and self._sleeping[0][0] <= now_ms:
            wakes_ms, _, entry = heapq.heappop(self._sleeping)
            if entry.state in {"delayed", "in flight"} and entry.wakes_ms == wakes_ms:
                self._leave(entry)
                self._offer(entry)

    def _offer(self, entry: Entry) -> None:
        self._enter(entry, "waiting")
        heapq.heappush(self._waiting.setdefault(entry.group, []), (entry.number, entry))
        self._push_turn(entry.group)

    def _push_turn(self, group: str | None) -> None:
        if (turn := self._turn(group)) is not None:
            heapq.heappush(self._turns, turn)

    def _turn(self, group: str | None) -> tuple[int, int, str] | None:
        heap = self._waiting.get(group)
        if not heap:
            return None
        # A receive compares groups by load, then by their oldest message; "" stands for no group.
        return (self._in_flight[group] if self._fair else 0, heap[0][0], group or "")

    def _next_waiting(self) -> Entry | None:
        while self._turns:
            turn = heapq.heappop(self._turns)
            group = turn[2] or None
            if turn == self._turn(group):
                _, entry = heapq.heappop(self._waiting[group])
                if not self._waiting[group]:
                    del self._waiting[group]
                self._leave(entry)
                return entry
        return None

    def _hand_out(self, entry: Entry, visibility_s: int) -> None:
        message = entry.message
        message.mark_received(visibility_timeout=visibility_s)
        self._by_receipt[str(message.receipt_handle)] = entry
        entry.receipts.append(str(message.receipt_handle))
        self._sleep(entry, "in flight", self._now_ms() + visibility_s * 1000)
        self._push_turn(entry.group)

    def _sleep(self, entry: Entry, state: str, wakes_ms: float) -> None:
        self._enter(entry, state)
        entry.wakes_ms = wakes_ms
        heapq.heappush(self._sleeping, (wakes_ms, next(self._sleeps), entry))

    def _enter(self, entry: Entry, state: str) -> None:
        entry.state = state
        self._states[state] += 1
        if state == "in flight":
            self._in_flight[entry.group] += 1

    def _leave(self, entry: Entry) -> None:
        self._states[entry.state] -= 1
        if entry.state == "in flight":
            self._in_flight[entry.group] -= 1
            if not self._in_flight[entry.group]:
                del self._in_flight[entry.group]
            self._push_turn(entry.group)
        entry.state = "left"

    def _forget(self, entry: Entry) -> None:
        if entry.state == "waiting":
            heap = self._waiting[entry.group]
            heap.remove((entry.number, entry))
            heapq.heapify(heap)
            if not heap:
                del self._waiting[entry.group]
            self._push_turn(entry.group)
        if entry.state != "left":
            self._leave(entry)
        else:
            self._push_turn(entry.group)
        entry.state = "gone"
        for receipt in entry.receipts:
            self._by_receipt.pop(receipt, None)
