"""An end for work that would wait: the socket's own timeout begins anew with every byte."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

Answer = TypeVar("Answer")


def within(deadline_s: float, work: Callable[[], Answer]) -> Answer:
    """Return what `work` returns; names that do not resolve and drips of bytes count too.

    Raises:
        TimeoutError: `work` is not done; its thread ends with the process.

    """
    future: Future[Answer] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001  # raised again where it is waited for
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    try:
        return future.result(deadline_s)
    except TimeoutError as error:
        if future.done():
            raise
        raise TimeoutError(f"no answer within {deadline_s:g} s") from error
