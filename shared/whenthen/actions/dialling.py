"""Connects to one of several addresses, never by name, no longer than a deadline allows."""

import socket
from collections.abc import Callable, Sequence

from whenthen.actions.deadline import Deadline

# Connects to an address (never a name) and port within so many seconds.
Dial = Callable[[str, int, float], socket.socket]

# A name may have any number of addresses; this many of each family are tried.
_TRIES_PER_FAMILY = 2


def dial(address: str, port: int, timeout_s: float) -> socket.socket:
    """Return a socket that is connected to `address`; no name is resolved on the way."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    connection = socket.socket(family, socket.SOCK_STREAM)
    try:
        connection.settimeout(timeout_s)
        connection.connect((address, port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        connection.close()
        raise
    return connection


def connect_to_any(
    addresses: Sequence[str], port: int, deadline: Deadline, connect: Dial
) -> socket.socket:
    """Connect to the first address that answers, the others of its family waiting their turn.

    IPv6 is tried when IPv4 has failed at once, as it does in a network without it.

    Raises:
        OSError: no address answers; the first of their errors that has an errno.
        ActionTimeoutError: the time is up.

    """
    errors: list[OSError] = []
    for family in (False, True):
        of_family = [address for address in addresses if (":" in address) is family]
        tried = of_family[:_TRIES_PER_FAMILY]
        for place, address in enumerate(tried):
            share_s = deadline.left_s() / (len(tried) - place)
            try:
                return connect(address, port, share_s)
            except OSError as error:
                errors.append(error)
    # Waiting out a whole family is waiting out the deadline.
    deadline.left_s()
    raise next((error for error in errors if error.errno is not None), errors[0])
