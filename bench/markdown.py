"""The tables of docs/performance.md, made of the figures of a run."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

# Keys of the figures with their targets (None: reported only).
TARGETS: Mapping[str, str | None] = {
    "matcher_statements_per_batch": "≤ 4",
    "executor_claims_per_batch": "≤ 1",
    "commits_per_run": "≤ 2.5",
    "floor_ratio": "≤ 2.0",
    "cpu_s_per_1000_runs": "≤ 2.5",
    "runs_per_second": None,
    "runs_per_second_ratio": "≥ 0.31",
    "e2e_p50_ms": None,
    "e2e_p99_ms": "≤ 1,500",
    "cold_start_ratio_executor": "≤ 1.0",
    "cold_start_ratio_matcher": "≤ 1.0",
    "cold_start_ratio_api": "≤ 1.3",
    "usd_per_million_runs": "≤ 4",
}
_NEIGHBOUR = {
    "quiet_p50_ms": "quiet: sent → SUCCEEDED, p50, ms",
    "quiet_p99_ms": "the same, p99, ms",
    "quiet_matched_to_succeeded_p50_ms": "quiet: matched → SUCCEEDED, p50, ms",
    "quiet_matched_to_succeeded_p99_ms": "the same, p99, ms",
    "flood_runs_per_s": "runs of the flood per second",
    "events_sent": "events sent by both",
    "runs_succeeded": "runs SUCCEEDED of both",
    "memory_mb_first_quarter": "memory of the functions, first quarter, MB",
    "memory_mb_last_quarter": "the same, last quarter, MB",
}
NOT_MEASURED = "—"

Figures = Mapping[str, Any]


def tables(figures: Figures) -> str:
    """Return every table as Markdown, each under its heading; what was not measured is a dash."""
    matching = ("events/s", "CPU s per 1,000 events")
    parts = (
        ("Budgets", ("key", "measured", "target"), _budgets(figures)),
        (
            "Matching: automations in many workspaces, and all in one",
            ("automations", *(f"{place}: {key}" for place in ("many", "one") for key in matching)),
            _matching(figures.get("growth_matching", {})),
        ),
        (
            "Actions of a run",
            ("actions", "ms per run", "ms per action", "CPU ms per action"),
            _actions(figures.get("growth_actions", {})),
        ),
        ("Lists, one run, statistics", *_lists(figures.get("growth_lists", {}))),
        (
            "A noisy neighbour",
            ("", "fair", "oldest first"),
            _neighbour(figures.get("noisy_neighbour", {})),
        ),
    )
    described = [f"### {heading}\n\n{_table(head, rows)}" for heading, head, rows in parts]
    return "\n\n".join([_measured_on(figures.get("machine", {})), *described])


def _measured_on(machine: Figures) -> str:
    if not machine:
        return "Not measured yet."
    return (
        f"Measured on {machine['day']}: {machine['cpus']} CPUs, load {machine['load_1_min']},"
        f" Python {machine['python']}, Postgres {machine['postgres']},"
        f" {machine['commit_ms']} ms a commit."
    )


def _budgets(figures: Figures) -> list[Sequence[Any]]:
    return [
        (f"`{key}`", figures.get(key, NOT_MEASURED), target or "reported")
        for key, target in TARGETS.items()
    ]


def _matching(growth: Figures) -> list[Sequence[Any]]:
    places = [growth.get(place, {}) for place in ("many_workspaces", "one_workspace")]
    points = [place.get("points", []) for place in places]
    rows: list[Sequence[Any]] = [
        (
            many["automations"],
            *(
                point[key]
                for point in (many, one)
                for key in ("events_per_s", "cpu_s_per_1000_events")
            ),
        )
        for many, one in zip(*points, strict=True)
    ]
    shapes = [place.get("shape", NOT_MEASURED) for place in places]
    return [*rows, ("shape", "", shapes[0], "", shapes[1])]


def _actions(growth: Figures) -> list[Sequence[Any]]:
    keys = ("actions", "ms_per_run", "ms_per_action", "cpu_ms_per_action")
    rows = [[point[key] for key in keys] for point in growth.get("points", [])]
    return [*rows, ("shape", "", "", growth.get("shape", NOT_MEASURED))]


def _lists(growth: Figures) -> tuple[Sequence[Any], list[Sequence[Any]]]:
    stages = [f"{n:,} runs" for n in growth.get("runs", [])]
    head = ("call: p50 ms (blocks)", *stages, "shape")
    rows: list[Sequence[Any]] = []
    for name, call in growth.get("calls", {}).items():
        both = zip(call["p50_ms"], call["blocks"], strict=True)
        rows.append((name, *(f"{ms} ({blocks:,})" for ms, blocks in both), call["shape"]))
    return head, rows


def _neighbour(measured: Figures) -> list[Sequence[Any]]:
    ways = [measured.get(way, {}) for way in ("fair", "oldest_first")]
    return [
        (label, *(way.get(key, NOT_MEASURED) for way in ways)) for key, label in _NEIGHBOUR.items()
    ]


def _table(head: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int | float) else str(value)
