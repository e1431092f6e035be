"""How many workers a database bears."""

import pytest

from whenthen.domain.rules.connection_budget import is_within_budget, needed_connections


@pytest.mark.parametrize(
    ("worker_concurrency", "maximum_concurrency", "needed"),
    [(5, 10, 70), (1, 2, 22), (10, 1_000, 10_020)],
)
def test_each_run_of_each_worker_needs_a_connection_and_the_rest_twenty(
    worker_concurrency: int, maximum_concurrency: int, needed: int
) -> None:
    assert needed_connections(worker_concurrency, maximum_concurrency) == needed


# 0.8 of the server's limit, that included.
@pytest.mark.parametrize(
    ("needed", "max_connections", "fits"),
    [
        (79, 100, True),
        (80, 100, True),
        (81, 100, False),
        (80, 101, True),
        (81, 101, False),
        (80, 99, False),
    ],
)
def test_a_fifth_of_the_servers_connections_is_left_alone(
    needed: int, max_connections: int, *, fits: bool
) -> None:
    assert is_within_budget(needed, max_connections) is fits
