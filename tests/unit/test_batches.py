"""What is sent again when a batch fails in part or as a whole."""

import logging
from collections.abc import Iterator, Sequence
from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from whenthen.aws import batches
from whenthen.aws.batches import send_all

UNREACHABLE = EndpointConnectionError(endpoint_url="http://127.0.0.1:1")
THROTTLED = ClientError({"Error": {"Code": "ThrottlingException"}}, "SendMessageBatch")


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that were made between tries, in seconds, without waiting for them."""
    made: list[float] = []
    monkeypatch.setattr(batches, "time", SimpleNamespace(sleep=made.append))
    return made


class Lines(logging.Handler):
    """Keeps what a logger is told, whether or not it hands its lines on."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@pytest.fixture
def log() -> Iterator[list[logging.LogRecord]]:
    lines = Lines()
    logger = logging.getLogger("whenthen.aws")
    logger.addHandler(lines)
    yield lines.records
    logger.removeHandler(lines)


class Target:
    """Answers each call with what the next of `answers` says: who failed, or an error."""

    def __init__(self, *answers: list[str] | Exception) -> None:
        self._answers = list(answers)
        self.calls: list[list[str]] = []

    def __call__(self, batch: Sequence[str]) -> list[str]:
        self.calls.append(list(batch))
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def test_a_batch_that_succeeds_is_sent_once(pauses: list[float]) -> None:
    target = Target([])
    assert send_all(["a", "b"], target, "target") == []
    assert (target.calls, pauses) == ([["a", "b"]], [])


def test_case_046_only_the_failed_entries_are_sent_again_in_their_order() -> None:
    target = Target(["b", "d"], ["d"], [])
    assert send_all(["a", "b", "c", "d"], target, "target") == []
    assert target.calls == [["a", "b", "c", "d"], ["b", "d"], ["d"]]


def test_case_046_what_fails_three_times_is_returned(pauses: list[float]) -> None:
    target = Target(["a", "b"], ["b"], ["b"])
    assert send_all(["a", "b"], target, "target") == ["b"]
    assert target.calls == [["a", "b"], ["a", "b"], ["b"]]
    assert pauses == [0.05, 0.1]


@pytest.mark.parametrize("error", [UNREACHABLE, THROTTLED], ids=["unreachable", "throttled"])
def test_case_046_an_error_of_the_service_fails_the_whole_batch(error: Exception) -> None:
    target = Target(error, error, error)
    assert send_all(["a", "b"], target, "target") == ["a", "b"]
    assert target.calls == [["a", "b"]] * 3


@pytest.mark.parametrize(
    ("answers", "left"),
    [
        ([THROTTLED, []], []),
        ([THROTTLED, ["b"], []], []),
        ([["b"], THROTTLED, []], []),
        ([["b"], [], []], []),
        ([THROTTLED, THROTTLED, ["b"]], ["b"]),
        ([["b"], THROTTLED, THROTTLED], ["b"]),
    ],
)
def test_partial_and_whole_failures_share_the_three_tries(
    answers: list[list[str] | Exception], left: list[str]
) -> None:
    assert send_all(["a", "b"], Target(*answers), "target") == left


def test_an_error_of_our_own_is_raised_at_once() -> None:
    target = Target(TypeError("no bytes"))
    with pytest.raises(TypeError):
        send_all(["a"], target, "target")
    assert target.calls == [["a"]]


def test_the_callers_own_list_stays_as_it_was() -> None:
    entries = ["a", "b"]
    send_all(entries, Target(["b"], []), "target")
    assert entries == ["a", "b"]


def test_what_was_not_sent_is_logged_as_a_number_never_as_its_text(
    log: list[logging.LogRecord],
) -> None:
    send_all(["secret-a", "secret-b"], Target(THROTTLED, ["secret-b"], ["secret-b"]), "run queue")
    lines = [(r.levelname, r.getMessage(), vars(r)["target"], vars(r)["entries"]) for r in log]
    assert lines == [
        ("WARNING", "send failed", "run queue", 2),
        ("ERROR", "entries not sent", "run queue", 1),
    ]
    assert "secret" not in str([vars(record) for record in log])


def test_a_failure_that_was_made_good_is_no_error_in_the_log(log: list[logging.LogRecord]) -> None:
    send_all(["a", "b"], Target(["b"], []), "run queue")
    assert log == []
