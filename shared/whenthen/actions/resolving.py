"""Asks for the addresses of a host name, no longer than a deadline allows."""

import socket
import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue

from whenthen.actions.deadline import Deadline, passed
from whenthen.domain.errors import FatalError

# Returns the addresses of a host, of both families; raises as `socket.getaddrinfo` does.
Resolve = Callable[[str], Sequence[str]]


def system_addresses(host: str) -> list[str]:
    """Return all addresses of `host` as the machine's own resolver finds them.

    It also reads every old notation of an address (`2130706433`, `0x7f000001`, `127.1`), and so
    would a connection; therefore its answers are judged and not the text.
    """
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return [str(answer[4][0]) for answer in found]


def addresses_of(host: str, deadline: Deadline, resolve: Resolve, whose: str) -> list[str]:
    """Return the addresses of `host`, each once, IPv4 first; `whose` names it in the refusal.

    The resolver is waited for in a thread of its own, since nothing can interrupt it. A thread
    that comes too late puts its answer where nobody looks, and ends.

    Raises:
        FatalError: UNEXPECTED, the name does not exist.
        OSError: the resolver failed for now (EAI_AGAIN).
        ActionTimeoutError: it did not answer in time.

    """
    answers: SimpleQueue[Sequence[str] | Exception] = SimpleQueue()

    def ask() -> None:
        try:
            answers.put(resolve(host))
        except Exception as error:  # noqa: BLE001  # carried over to the waiting thread
            answers.put(error)

    threading.Thread(target=ask, daemon=True).start()
    try:
        answer = answers.get(timeout=deadline.left_s())
    except Empty as error:
        raise passed() from error
    if not isinstance(answer, Exception):
        return sorted(dict.fromkeys(answer), key=lambda address: ":" in address)
    if isinstance(answer, socket.gaierror) and answer.errno != socket.EAI_AGAIN:
        raise FatalError("UNEXPECTED", f"{whose} host name does not resolve") from answer
    raise answer
