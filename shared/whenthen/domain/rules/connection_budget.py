"""Whether the workers may open as many connections as they are allowed to run."""

from fractions import Fraction
from typing import Final

# The API's requests, the matcher's shards, the watchdog, the notifier, the migrator and people.
RESERVE_CONNECTIONS: Final = 20
# What is left is for backups, monitoring and the server's own superuser connections.
_USABLE: Final = Fraction(8, 10)


def needed_connections(worker_concurrency: int, maximum_concurrency: int) -> int:
    """Return how many connections a full house takes: each run of each worker one, and the rest."""
    return worker_concurrency * maximum_concurrency + RESERVE_CONNECTIONS


def is_within_budget(needed: int, max_connections: int) -> bool:
    """Return whether a server that allows `max_connections` can bear that many of ours."""
    return needed <= _USABLE * max_connections
