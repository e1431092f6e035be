"""What a standard queue promises: visibility, receive counts, redrive, fairness."""

from collections import Counter
from typing import Any

import pytest
from moto.sqs.models import Message

from devstack.message_index import MessageIndex, ReceiptError
from devstack.sqs_rules import teach_moto_sqs

VISIBILITY_S = 30
RETENTION_S = 3_600


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


class Queue:
    """A message index with a clock that the test turns."""

    def __init__(self, *, fair: bool = True) -> None:
        teach_moto_sqs()
        self.clock = Clock()
        self.index = MessageIndex(fair=fair, clock=self.clock)
        self.buried: list[str] = []

    def send(self, body: str, group: str | None = None, delay_s: int = 0) -> None:
        message: Any = Message(body, body)
        message.group_id = group
        message.sent_timestamp = int(self.clock.now * 1000)
        message.delayed_until = (self.clock.now + delay_s) * 1000 if delay_s else 0
        self.index.add(message)

    def receive(self, count: int = 10, max_receives: int | None = None) -> list[Any]:
        return list(
            self.index.receive(
                count,
                VISIBILITY_S,
                retention_s=RETENTION_S,
                max_receives=max_receives,
                bury=self._bury,
            )
        )

    def _bury(self, message: Any) -> None:
        self.buried.append(message.body)

    def bodies(self, count: int = 10) -> list[str]:
        return [message.body for message in self.receive(count)]


def test_a_received_message_is_invisible_until_its_time_is_over() -> None:
    queue = Queue()
    queue.send("a")
    assert queue.bodies() == ["a"]
    queue.clock.now += VISIBILITY_S - 0.001
    assert queue.bodies() == []
    queue.clock.now += 0.001
    (again,) = queue.receive()
    assert again.approximate_receive_count == 2


def test_a_delayed_message_comes_when_it_is_due() -> None:
    queue = Queue()
    queue.send("late", delay_s=900)
    assert (queue.bodies(), queue.index.counts()) == ([], (0, 1, 0))
    queue.clock.now += 900
    assert (queue.bodies(), queue.index.counts()) == (["late"], (0, 0, 1))


def test_the_newest_receipt_deletes_and_an_older_one_changes_nothing() -> None:
    queue = Queue()
    queue.send("a")
    (first,) = queue.receive()
    old = str(first.receipt_handle)
    queue.clock.now += VISIBILITY_S
    (second,) = queue.receive()
    queue.index.delete(old)
    assert queue.index.counts() == (0, 0, 1)
    queue.index.delete(str(second.receipt_handle))
    queue.index.delete(str(second.receipt_handle))
    assert queue.index.counts() == (0, 0, 0)


def test_what_is_no_receipt_is_refused() -> None:
    with pytest.raises(ReceiptError):
        Queue().index.delete("something else")


def test_a_message_is_buried_at_the_receive_after_the_last_allowed_one() -> None:
    queue = Queue()
    queue.send("poison")
    for _ in range(2):
        assert [message.body for message in queue.receive(max_receives=2)] == ["poison"]
        queue.clock.now += VISIBILITY_S
    assert queue.receive(max_receives=2) == []
    assert (queue.buried, queue.index.counts()) == (["poison"], (0, 0, 0))


@pytest.mark.parametrize(("age_s", "left"), [(RETENTION_S - 1, ["a"]), (RETENTION_S, [])])
def test_a_message_goes_when_its_retention_is_over(age_s: int, left: list[str]) -> None:
    queue = Queue()
    queue.send("a")
    queue.clock.now += age_s
    assert queue.bodies() == left


def test_a_message_given_back_is_visible_at_once() -> None:
    queue = Queue()
    queue.send("a")
    (message,) = queue.receive()
    queue.index.change_visibility(str(message.receipt_handle), 0)
    assert queue.bodies() == ["a"]


def test_a_longer_visibility_counts_from_now() -> None:
    queue = Queue()
    queue.send("a")
    (message,) = queue.receive()
    queue.index.change_visibility(str(message.receipt_handle), 100)
    queue.clock.now += 99
    assert queue.bodies() == []
    queue.clock.now += 1
    assert queue.bodies() == ["a"]


def test_only_a_message_in_flight_can_change_its_visibility() -> None:
    queue = Queue()
    queue.send("a")
    (message,) = queue.receive()
    queue.clock.now += VISIBILITY_S
    queue.bodies(0)
    with pytest.raises(ReceiptError):
        queue.index.change_visibility(str(message.receipt_handle), 0)


def test_a_fair_queue_serves_the_quiet_group_before_the_noisy_ones_backlog() -> None:
    queue = Queue()
    for n in range(100):
        queue.send(f"noisy {n}", "noisy")
    assert len(queue.receive(10)) == 10
    queue.send("quiet", "quiet")
    assert queue.bodies(1) == ["quiet"]


def test_groups_share_a_fair_queue_evenly() -> None:
    queue = Queue()
    for group in ("a", "b", "c"):
        for n in range(10):
            queue.send(f"{group}{n}", group)
    shares = Counter(body[0] for body in queue.bodies(9))
    assert shares == {"a": 3, "b": 3, "c": 3}


def test_a_group_whose_messages_were_deleted_is_quiet_again() -> None:
    queue = Queue()
    for n in range(4):
        queue.send(f"a{n}", "a")
    queue.send("b0", "b")
    for message in queue.receive(2):
        queue.index.delete(str(message.receipt_handle))
    assert queue.bodies(1) == ["a1"] or queue.bodies(1) == ["a2"]


def test_with_the_switch_off_the_oldest_message_comes_first() -> None:
    queue = Queue(fair=False)
    for n in range(20):
        queue.send(f"noisy {n}", "noisy")
    queue.send("quiet", "quiet")
    assert queue.bodies(10) == [f"noisy {n}" for n in range(10)]
    assert queue.bodies(10) == [f"noisy {n}" for n in range(10, 20)]
    assert queue.bodies(10) == ["quiet"]


def test_clearing_leaves_nothing_behind() -> None:
    queue = Queue()
    queue.send("a", "g")
    queue.send("b", "g", delay_s=5)
    queue.receive(1)
    queue.index.clear()
    queue.clock.now += 100
    assert (queue.bodies(), queue.index.counts()) == ([], (0, 0, 0))
