"""What must hold once everything has come to rest, whatever died on the way."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.faults.scenarios import Scenario
from tests.faults.stand import Stand
from tests.integration.engine_world import World


@dataclass(frozen=True)
class Facts:
    """Everything that is known of the runs of one world."""

    runs: list[Any]
    steps: list[Any]
    lines: list[Any]
    notifications: list[Any]
    audit: list[Any]
    records: list[Any]
    occurrences: list[Any]


_OF_RUNS = "where run_id in (select id from automation_runs where workspace_id = :w)"


def facts(world: World) -> Facts:
    """Read `world` whole, in an order that does not depend on time."""

    def rows(query: str) -> list[Any]:
        return [dict(row) for row in world.sql(query, w=world.workspace_id)]

    return Facts(
        runs=rows("select * from automation_runs where workspace_id = :w order by id"),
        steps=rows(
            f"select * from automation_run_steps {_OF_RUNS} order by run_id, generation, index"
        ),
        lines=rows(f"select * from automation_logs {_OF_RUNS} order by seq"),
        notifications=rows("select * from notifications where workspace_id = :w order by id"),
        audit=rows("select * from audit_log where workspace_id = :w order by id"),
        records=rows("select * from records where workspace_id = :w order by id"),
        occurrences=rows(
            "select * from schedule_occurrences where schedule_id in"
            " (select id from automation_triggers where workspace_id = :w)"
        ),
    )


def check(stand: Stand, world: World, scenario: Scenario) -> Facts:
    """Fail unless every promise holds; return what there is."""
    found = facts(world)
    assert Counter(run["status"] for run in found.runs) == scenario.ends, "lost or ended otherwise"
    ended_runs_are_at_rest(found)
    finished_steps_are_not_repeated(found)
    people_are_told_once(found)
    _records_are_updated_once(found)
    deaths_are_told_once(found)
    ends_are_told(stand.events, found)
    _instants_fire_once(found)
    return found


def ended_runs_are_at_rest(found: Facts) -> None:
    for run in found.runs:
        awake = (run["lease_token"], run["lease_expires_at"], run["enqueue_after"])
        assert awake == (None, None, None), "an ended run is not at rest"
        assert run["notified_death"] == run["deaths"], "a death without its notice"


def finished_steps_are_not_repeated(found: Facts) -> None:
    finished = Counter(step["run_id"] for step in found.steps if step["status"] == "SUCCEEDED")
    done = Counter(line["run_id"] for line in found.lines if line["message"].endswith(" done"))
    assert done == finished, "a step was finished twice, or finished without a trace"
    hanging = [step for step in found.steps if step["status"] in {"STARTED", "WAITING"}]
    assert not hanging, "a step hangs"
    # A retry by hand sets them back to none, and a cancel may come before the first.
    cancelled = {run["id"] for run in found.runs if (run["error"] or {}).get("code") == "CANCELLED"}
    untried = [step for step in found.steps if step["attempts"] < 1]
    assert all(step["status"] == "FAILED" and step["run_id"] in cancelled for step in untried), (
        "an attempt was not counted"
    )
    completed = Counter(
        line["run_id"] for line in found.lines if line["message"] == "run completed"
    )
    assert set(completed.values()) <= {1}, "a run was completed twice"


def people_are_told_once(found: Facts) -> None:
    told = Counter(row["run_id"] for row in found.notifications if row["title"] == "told")
    by_type = Counter(
        (step["run_id"], step["type"]) for step in found.steps if step["status"] == "SUCCEEDED"
    )
    for run in found.runs:
        assert told[run["id"]] == by_type[run["id"], "CREATE_NOTIFICATION"], "notified twice or not"


def _records_are_updated_once(found: Facts) -> None:
    by_type = Counter(
        (step["run_id"], step["type"]) for step in found.steps if step["status"] == "SUCCEEDED"
    )
    versions = {str(record["id"]): record["version"] for record in found.records}
    for run in found.runs:
        if run["record_id"] in versions:
            updates = by_type[run["id"], "UPDATE_RECORD"]
            assert versions[run["record_id"]] == 1 + updates, "a record was updated twice or not"


def _instants_fire_once(found: Facts) -> None:
    scheduled = Counter(run["id"] for run in found.runs if run["trigger_type"] == "schedule")
    fired = Counter(row["run_id"] for row in found.occurrences if row["outcome"] == "fired")
    assert fired == scheduled, "an occurrence without its run, or a run without its occurrence"


def deaths_are_told_once(found: Facts) -> None:
    deaths = {run["id"]: run["deaths"] for run in found.runs}
    lines = Counter(
        line["run_id"] for line in found.lines if line["message"] == "run dead-lettered"
    )
    audited = Counter(
        entry["resource_id"]
        for entry in found.audit
        if entry["action"] in {"automation.dead_lettered", "automation.worker_crashed"}
    )
    told = Counter(
        row["run_id"] for row in found.notifications if row["title"].startswith("Automation")
    )
    for run_id, n in deaths.items():
        assert (lines[run_id], audited[str(run_id)], told[run_id]) == (n, n, n), "told twice or not"


def ends_are_told(events: Sequence[Mapping[str, Any]], found: Facts) -> None:
    """Fail unless each end of a run of depth 0 is on the stream, `events`, as one event."""
    told = {
        (event["payload"]["runId"], event["outboxId"])
        for event in events
        if event["type"] == "automation.executed"
    }
    ends = Counter(run_id for run_id, _ in told)
    retried = Counter(
        line["run_id"] for line in found.lines if line["message"] == "run retried manually"
    )
    for run in found.runs:
        awaited = 0 if run["depth"] else 1 + retried[run["id"]]
        assert ends[str(run["id"])] == awaited, "an end was told twice or not"
