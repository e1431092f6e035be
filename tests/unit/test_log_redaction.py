"""Log lines of a process that has read secrets."""

import json
import logging
from collections.abc import Iterator

import pytest
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter

from whenthen.engine import log_redaction
from whenthen.engine.log_redaction import RedactingFormatter, keep_out

SECRET = 'key "with"\nall/of+it é'
LONG_AGO = 100


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    log_redaction._kept.clear()
    yield
    log_redaction._kept.clear()


def line(message: str, error: BaseException | None = None, **extra: object) -> str:
    info = (type(error), error, error.__traceback__) if error else None
    record = logging.LogRecord("whenthen.x", logging.WARNING, "x.py", 1, message, (), info)
    vars(record).update(extra)
    return RedactingFormatter(LambdaPowertoolsFormatter(service="test")).format(record)


def test_without_secrets_a_line_is_as_it_was() -> None:
    assert json.loads(line(f"said {SECRET}"))["message"] == f"said {SECRET}"


def test_messages_extras_and_tracebacks_lose_a_secret() -> None:
    keep_out([SECRET])
    raised = RuntimeError(f"sent {SECRET.encode()!r}")
    raised.__cause__ = ValueError(SECRET)
    shown = json.loads(line(f"said {SECRET}", raised, extra_key={"a": [SECRET, 1]}))
    assert shown["message"] == "said •••"
    assert shown["extra_key"] == {"a": ["•••", 1]}
    assert "ValueError: •••" in shown["exception"]
    assert "RuntimeError: sent b'•••'" in shown["exception"]


def test_a_line_stays_json_whatever_a_secret_looks_like() -> None:
    keep_out(["12345678", '","message":"', '{"level":'])
    shown = json.loads(line("ends", run_ms=12345678))
    assert (shown["run_ms"], shown["message"]) == ("•••", "ends")


def test_a_line_that_is_no_json_of_ours_is_redacted_as_text() -> None:
    keep_out(["abcdefgh"])
    shown = line("abcdefgh", odd=float("nan"))
    assert "abcdefgh" not in shown
    assert "•••" in shown


def test_the_secrets_used_last_are_kept_out() -> None:
    keep_out(f"secret number {n:04}" for n in range(LONG_AGO + 1))
    keep_out(["secret number 0001"])
    keep_out(["one more secret"])
    texts = {n: line(f"secret number {n:04}") for n in (0, 1, 2, 3, LONG_AGO)}
    hidden = {n for n, text in texts.items() if f"{n:04}" not in text}
    assert hidden == {1, 3, LONG_AGO}
