"""Keeps the secrets that this process has read out of its log lines, tracebacks included."""

import logging
from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock

from whenthen.domain.json_text import JsonError, dumps, loads
from whenthen.domain.rules.redact import redact

# More than a worker's runs can use at once; each costs time at every line.
_KEPT_MAX = 100

_lock = Lock()
# A dict as an ordered set: the one used last stands last.
_kept: OrderedDict[str, None] = OrderedDict()


def keep_out(secrets: Iterable[str]) -> None:
    """Let no line of this process show any of `secrets` from now on."""
    with _lock:
        for secret in secrets:
            _kept[secret] = None
            _kept.move_to_end(secret)
        while len(_kept) > _KEPT_MAX:
            _kept.popitem(last=False)


class RedactingFormatter(logging.Formatter):
    """Formats as `inner` does, into a line of JSON, and takes out the secrets of this process."""

    def __init__(self, inner: logging.Formatter) -> None:
        super().__init__()
        self._inner = inner

    def format(self, record: logging.LogRecord) -> str:
        line = self._inner.format(record)
        with _lock:
            secrets = tuple(_kept)
        redacted: str = redact(line, secrets)
        if redacted == line:
            return line
        try:
            # Value by value, so that the line stays JSON whatever a secret consists of.
            return dumps(redact(loads(line), secrets))
        except JsonError:
            return redacted
