"""When threads past their deadline cost a worker its process."""

import threading

import pytest

from whenthen.engine.outside_steps import Stragglers


class Late(threading.Thread):
    """Has ended as soon as somebody waits for it, if it `ends`; no time passes."""

    def __init__(self, *, ends: bool) -> None:
        super().__init__()
        self._ends = ends
        self._alive = True

    def join(self, timeout: float | None = None) -> None:
        assert timeout is not None
        assert 0 <= timeout <= 1
        self._alive = self._alive and not self._ends

    def is_alive(self) -> bool:
        return self._alive


@pytest.mark.parametrize(
    ("ends", "alive"),
    [([], False), ([True], False), ([False], True), ([True, True], False), ([True, False], True)],
)
def test_a_thread_that_is_about_to_end_does_not_count(ends: list[bool], *, alive: bool) -> None:
    assert Stragglers([Late(ends=one) for one in ends]).alive() is alive
