"""Prints the fault matrix at the end of a test session: what was broken, and what it cost."""

import json
import os
import random
from typing import Any

from _pytest.terminal import TerminalReporter

PROPERTY = "fault matrix"
# Set before a parallel session starts its workers, so that all of them draw by the same seed.
SEED = int(
    os.environ.setdefault("WHENTHEN_FAULT_SEED", str(random.SystemRandom().randrange(1_000_000)))
)
_HEAD = ("scenario", "points", "faults", "no sweep", "1 sweep", "2 sweeps", "slowest")
_ROW = "{:<32} {:>6} {:>6} {:>8} {:>7} {:>8} {:>8}"


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Write the table from what the tests of the matrix have recorded."""
    rows = [
        json.loads(str(value))
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, value in getattr(report, "user_properties", [])
        if name == PROPERTY
    ]
    if not rows:
        return
    terminalreporter.section("fault matrix")
    terminalreporter.write_line(_ROW.format(*_HEAD))
    for row in sorted(rows, key=lambda row: str(row["scenario"])):
        terminalreporter.write_line(_line(row))
    terminalreporter.write_line(_line(_total(rows)))
    terminalreporter.write_line(f"{rows[0]['share']}, drawn with seed {SEED}")


def _line(row: dict[str, Any]) -> str:
    slowest = f"{row['slowest_s']:.0f} s"
    return _ROW.format(row["scenario"], row["points"], row["faults"], *row["sweeps"], slowest)


def _total(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "scenario": "all",
        "points": sum(row["points"] for row in rows),
        "faults": sum(row["faults"] for row in rows),
        "sweeps": [sum(row["sweeps"][n] for row in rows) for n in range(3)],
        "slowest_s": max(row["slowest_s"] for row in rows),
    }
