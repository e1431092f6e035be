"""A process of its own that ticks until nothing is due, and says what that took.

Its arguments: how far the database's clock is turned, in seconds. Prints one JSON object.
"""

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

from schedule_reconciler.handler import lambda_handler
from whenthen.engine import composition

TIMEOUT_S = 120


class Invocation:
    """The context of an invocation that began now."""

    def __init__(self) -> None:
        self._deadline = time.monotonic() + TIMEOUT_S

    def get_remaining_time_in_millis(self) -> int:
        return round((self._deadline - time.monotonic()) * 1000)


def peak_mb() -> float:
    """The most memory that this process has had; what rusage says is its parent's at first."""
    status = Path("/proc/self/status").read_text("ascii")
    (peak_kb,) = re.findall(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    return int(peak_kb) / 1024


def main(offset_s: float) -> dict[str, Any]:
    """Tick twice, so that everything is loaded, then by the turned clock until nothing is due."""
    database = composition.process_context("schedule-reconciler").database
    warm = [lambda_handler({}, Invocation()) for _ in range(2)]
    before_mb, began, before_s = peak_mb(), time.monotonic(), time.process_time()
    database.clock_offset_s = offset_s
    fired: list[int] = []
    while not fired or fired[-1]:
        fired.append(lambda_handler({}, Invocation())["fired"])
    return {
        "warm": [answer["fired"] for answer in warm],
        "fired": fired,
        "seconds": time.monotonic() - began,
        "cpu_s": time.process_time() - before_s,
        "before_mb": before_mb,
        "grown_mb": peak_mb() - before_mb,
    }


if __name__ == "__main__":
    answers = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.write(answers, json.dumps(main(float(sys.argv[1]))).encode())
