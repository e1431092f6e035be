"""Prints fault matrix and soak at the end of a test session: what broke, and what it cost."""

import json
import os
import random
from typing import Any

from _pytest.terminal import TerminalReporter

PROPERTY = "fault matrix"
SOAK_PROPERTY = "random soak"
MEMORY_PROPERTY = "memory of webhooks"
SCHEDULES_PROPERTY = "schedules at one instant"
# Set before a parallel session starts its workers, so that all of them draw by the same seed.
SEED = int(
    os.environ.setdefault("WHENTHEN_FAULT_SEED", str(random.SystemRandom().randrange(1_000_000)))
)
_HEAD = ("scenario", "points", "faults", "no sweep", "1 sweep", "2 sweeps", "slowest")
_ROW = "{:<32} {:>6} {:>6} {:>8} {:>7} {:>8} {:>8}"


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Write the tables from what the tests of the matrix and the soak have recorded."""
    for figures in _recorded(terminalreporter, MEMORY_PROPERTY):
        line = "memory of a webhook to {target}: at most {peak_bytes:,} bytes"
        terminalreporter.write_line(line.format(**figures))
    for figures in _recorded(terminalreporter, SCHEDULES_PROPERTY):
        line = (
            "{schedules} schedules at one instant: {per_s:.0f} runs/s, all enqueued after"
            " {seconds:.1f} s in {ticks} ticks, {cpu_s:.1f} s of CPU,"
            " {before_mb:.0f} MB of memory and {grown_mb:.0f} MB more at the peak"
        )
        terminalreporter.write_line(line.format(**figures))
    for figures in _recorded(terminalreporter, SOAK_PROPERTY):
        terminalreporter.section(SOAK_PROPERTY)
        for name, value in figures.items():
            terminalreporter.write_line(f"{name:<24} {value:>10}")
    rows = _recorded(terminalreporter, PROPERTY)
    if not rows:
        return
    terminalreporter.section(PROPERTY)
    terminalreporter.write_line(_ROW.format(*_HEAD))
    for row in sorted(rows, key=lambda row: str(row["scenario"])):
        terminalreporter.write_line(_line(row))
    terminalreporter.write_line(_line(_total(rows)))
    terminalreporter.write_line(f"{rows[0]['share']}, drawn with seed {SEED}")


def _recorded(terminalreporter: TerminalReporter, wanted: str) -> list[dict[str, Any]]:
    return [
        json.loads(str(value))
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, value in getattr(report, "user_properties", [])
        if name == wanted
    ]


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
