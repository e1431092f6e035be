"""The bench runs from end to end; what it measures is not judged here, where other tests run."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_last_line_of_the_bench_is_one_json_object_with_its_figures() -> None:
    command = [sys.executable, "-m", "bench", "--runs", "20", "--events", "30"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures["matcher_statements_per_batch"] <= 4
    assert figures["executor_claims_per_batch"] == 1
    ratios = ("floor_ratio", "runs_per_second_ratio", "cpu_s_per_1000_runs", "commits_per_run")
    assert all(figures[name] > 0 for name in ratios)
