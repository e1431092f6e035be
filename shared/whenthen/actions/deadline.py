"""The one deadline over everything that an outside action does: DNS, connection, TLS, answers."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from whenthen.domain.errors import ActionTimeoutError

# The engine races the action against the same timeout and abandons the loser's thread; ending
# this much earlier, the action closes its sockets itself and nothing is abandoned.
_MARGIN_S = 0.1


class Deadline:
    """Ends shortly before `timeout_s` seconds, counted from its construction, have passed."""

    def __init__(self, timeout_s: float) -> None:
        self._ends_s = monotonic() + timeout_s - _MARGIN_S

    def left_s(self) -> float:
        """Return the seconds that are left, more than 0.

        Raises:
            ActionTimeoutError: none are.

        """
        left_s = self._ends_s - monotonic()
        if left_s <= 0:
            raise passed()
        return left_s

    @contextmanager
    def bounds(self, connection: socket.socket) -> Iterator[None]:
        """Let one call on `connection` wait no longer than what is left.

        Raises:
            ActionTimeoutError: it did. A timeout that the network reports (with an errno, such as
                ETIMEDOUT) is the network's own and is raised as it is.

        """
        connection.settimeout(self.left_s())
        try:
            yield
        except TimeoutError as error:
            if error.errno is not None:
                raise
            raise passed() from error


def passed() -> ActionTimeoutError:
    """Return the error of an action whose deadline has passed."""
    return ActionTimeoutError("the action did not finish within its timeout")
