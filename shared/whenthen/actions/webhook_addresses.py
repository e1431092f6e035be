"""Where the host of a webhook leads: resolved once, and refused unless every answer is public."""

import socket
import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue

from whenthen.actions.webhook_deadline import Deadline, passed
from whenthen.domain.errors import FatalError
from whenthen.domain.rules.outgoing_url import OutgoingUrl
from whenthen.domain.rules.public_address import is_public

# Returns the addresses of a host, of both families; raises as `socket.getaddrinfo` does.
Resolve = Callable[[str], Sequence[str]]


def system_addresses(host: str) -> list[str]:
    """Return all addresses of `host` as the machine's own resolver finds them.

    It also reads every old notation of an address (`2130706433`, `0x7f000001`, `127.1`), and so
    would a connection; therefore its answers are judged and not the text.
    """
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return [str(answer[4][0]) for answer in found]


def checked_addresses(url: OutgoingUrl, deadline: Deadline, resolve: Resolve) -> list[str]:
    """Return the addresses that may be connected to for `url`, IPv4 first.

    Raises:
        FatalError: WEBHOOK_URL_FORBIDDEN, one of them is not public and the host is not allowed
            by name; or UNEXPECTED, the name does not exist.
        OSError: the resolver failed for now (EAI_AGAIN).
        ActionTimeoutError: it did not answer in time.

    """
    addresses = list(dict.fromkeys(_resolve(url.host, deadline, resolve)))
    if not addresses or not (url.is_allowed or all(map(is_public, addresses))):
        raise forbidden()
    return sorted(addresses, key=lambda address: ":" in address)


def forbidden() -> FatalError:
    """Return the refusal of an address: always the same, so that it tells nothing of what is there.

    Neither which rule refused it nor what the name resolves to is in it.
    """
    return FatalError("WEBHOOK_URL_FORBIDDEN", "the URL is not one that webhooks may call")


def _resolve(host: str, deadline: Deadline, resolve: Resolve) -> Sequence[str]:
    """Wait for the resolver in a thread of its own, since nothing can interrupt it.

    A thread that comes too late puts its answer where nobody looks, and ends.
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
        return answer
    if isinstance(answer, socket.gaierror) and answer.errno != socket.EAI_AGAIN:
        raise FatalError("UNEXPECTED", "the URL's host name does not resolve") from answer
    raise answer
