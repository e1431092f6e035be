"""Speed in a test: CPU seconds of its own work, whatever else this process and others do."""

import time
from collections.abc import Callable

_GOES = 3


def least_cpu_s(act: Callable[[], object]) -> float:
    """CPU seconds of the quickest of three goes; in one the garbage of other tests is collected."""
    return min(_cpu_s(act) for _ in range(_GOES))


def _cpu_s(act: Callable[[], object]) -> float:
    began = time.process_time()
    act()
    return time.process_time() - began
