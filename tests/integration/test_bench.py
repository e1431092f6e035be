"""The bench runs from end to end; what it measures is not judged here, where other tests run."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
BENCH = (sys.executable, "-m", "bench")


def quick(parts: str) -> tuple[dict[str, Any], str]:
    """The figures of some parts in their tiny form, and all that was printed."""
    done = subprocess.run(
        [*BENCH, "--quick", "--only", parts],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures, done.stdout


@pytest.mark.timeout(300)
def test_the_last_line_of_the_bench_is_one_json_object_with_its_figures() -> None:
    figures, _ = quick("hot_path")
    assert figures["matcher_statements_per_batch"] <= 4
    assert figures["executor_claims_per_batch"] == 1
    ratios = ("floor_ratio", "runs_per_second_ratio", "cpu_s_per_1000_runs", "commits_per_run")
    assert all(figures[name] > 0 for name in ratios)


@pytest.mark.timeout(300)
def test_growth_is_measured_at_every_size_and_shown_as_tables(tmp_path: Path) -> None:
    figures, output = quick("growth")
    for curve in figures["growth_matching"].values():
        assert [point["automations"] for point in curve["points"]] == [10, 100]
    assert [point["actions"] for point in figures["growth_actions"]["points"]] == [1, 2]
    lists = figures["growth_lists"]
    assert lists["runs"] == [200, 2_000, 20_000]
    assert all(len(call["p50_ms"]) == len(call["blocks"]) == 3 for call in lists["calls"].values())
    kept = tmp_path / "figures.txt"
    kept.write_text(output)
    shown = subprocess.run(
        [*BENCH, "--markdown", kept], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert all(f"| {name} | " in shown.stdout for name in lists["calls"])


@pytest.mark.timeout(300)
def test_beside_a_flood_nothing_is_lost_with_or_without_fair_groups() -> None:
    measured = quick("neighbour")[0]["noisy_neighbour"]
    for way in ("fair", "oldest_first"):
        assert measured[way]["runs_succeeded"] == measured[way]["events_sent"] > measured["flood"]


@pytest.mark.timeout(300)
def test_events_are_timed_through_a_stack_that_the_bench_starts_and_ends() -> None:
    figures, _ = quick("e2e")
    assert figures["e2e_events"] == 10
    assert 0 < figures["e2e_p50_ms"] <= figures["e2e_p99_ms"]


def test_an_unknown_part_is_refused() -> None:
    done = subprocess.run(
        [*BENCH, "--only", "growth,speed"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "no such part: speed" in done.stderr
