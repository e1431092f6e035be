"""What must hold when the soak has come to rest: the promises of the matrix, over thousands."""

from collections import Counter
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from tests.faults import promises
from tests.faults.promises import Facts
from tests.faults.soak_people import People
from tests.faults.soak_target import Moods
from tests.faults.soak_world import SoakWorld, end_of
from whenthen.domain import limits
from whenthen.domain.kinds import TERMINAL_RUN_STATUSES
from whenthen.domain.rules.webhook_signature import message_id

# The least that a run whose worker is gone lies still: its lease, but for the worker's own time.
LEASE_S = 180
Strikes = Mapping[UUID, list[float]]


def check(people: People, strikes: Strikes) -> Facts:
    """Fail unless every promise holds; return what there is."""
    soak = people.soak
    found = promises.facts(soak.world)
    _everything_is_at_rest(soak, found)
    _nothing_is_lost(people, found)
    _ends_are_legal(soak, found, strikes)
    promises.finished_steps_are_not_repeated(found)
    promises.people_are_told_once(found)
    _records_are_written_once(soak, found)
    promises.deaths_are_told_once(found)
    promises.ends_are_told(people.services.events, found)
    _webhooks_are_repeated_by_disturbances_only(soak.moods, found, strikes)
    return found


def _everything_is_at_rest(soak: SoakWorld, found: Facts) -> None:
    assert {run["status"] for run in found.runs} <= TERMINAL_RUN_STATUSES, "not terminal"
    promises.ended_runs_are_at_rest(found)
    for table in ("outbox", "dead_events"):
        (row,) = soak.world.sql(f"select count(*) as n from {table}")
        assert row["n"] == 0, f"{table} is not empty"


def _nothing_is_lost(people: People, found: Facts) -> None:
    roots = [run for run in found.runs if run["parent_run_id"] is None]
    by_event = Counter(run["event_id"] for run in roots if run["id"] not in people.manual)
    assert not people.awaited - by_event, f"events were lost: {people.awaited - by_event}"
    assert not by_event - people.awaited, f"started twice: {by_event - people.awaited}"
    assert people.manual <= {run["id"] for run in roots}, "a run started by hand was lost"
    automations = {run["id"]: run["automation_id"] for run in found.runs}
    children = Counter(run["parent_run_id"] for run in found.runs if run["parent_run_id"])
    awaited: Counter[UUID] = Counter()
    for step in found.steps:
        kind = people.soak.kinds[automations[step["run_id"]]]
        if _has_effect(step):
            awaited[step["run_id"]] += kind.starts.get(step["index"], 0)
    assert children == +awaited, "an event of a step was lost, or started a run twice"


def _has_effect(step: Mapping[str, Any]) -> bool:
    """Return whether the step wrote: an update that changes nothing writes nothing."""
    if step["status"] != "SUCCEEDED":
        return False
    return step["type"] != "UPDATE_RECORD" or bool(step["output"]["changedProperties"])


def _ends_are_legal(soak: SoakWorld, found: Facts, strikes: Strikes) -> None:
    cancelled = {line["run_id"] for line in found.lines if line["message"] == "run cancelled"}
    for run in found.runs:
        end, kind = end_of(run), soak.kinds[run["automation_id"]]
        if end == "DEAD_LETTER WORKER_CRASHED" and not kind.is_poison:
            struck = len(strikes.get(run["id"], ()))
            assert struck >= limits.CRASHES_MAX, (
                f"gave up after {struck}: {story(found, run['id'])}"
            )
        elif not (end == "FAILED CANCELLED" and run["id"] in cancelled):
            assert end in kind.ends, f"{run['id']} ended as {end}: {story(found, run['id'])}"


def story(found: Facts, run_id: UUID) -> list[str]:
    """Return the lines of a run's log."""
    return [line["message"] for line in found.lines if line["run_id"] == run_id]


def _records_are_written_once(soak: SoakWorld, found: Facts) -> None:
    written = [step for step in found.steps if _has_effect(step)]
    outputs = [step["output"]["recordId"] for step in written if step["type"] == "CREATE_RECORD"]
    deleted = [step["output"]["recordId"] for step in written if step["type"] == "DELETE_RECORD"]
    known = {str(record["id"]): record for record in found.records}
    assert set(outputs) - set(known) == set(deleted), "a record is missing, or was not deleted"
    assert len(deleted) == len(set(deleted)), "a record was deleted twice"
    in_sinks = {str(r["id"]) for r in found.records if r["database_id"] in soak.sinks}
    assert in_sinks <= set(outputs), "a record was created twice"
    record_of = {run["id"]: run["record_id"] for run in found.runs}
    updates = Counter(
        record_of[step["run_id"]] for step in written if step["type"] == "UPDATE_RECORD"
    )
    for id_, record in known.items():
        assert record["version"] == 1 + updates[id_], "a record was updated twice or not"


def _webhooks_are_repeated_by_disturbances_only(
    moods: Moods, found: Facts, strikes: Strikes
) -> None:
    """Calls of one step: one for each try that the log tells of, and one more per disturbance."""
    tries = Counter(
        (str(line["run_id"]), line["data"]["actionId"])
        for line in found.lines
        if "SEND_WEBHOOK" in line["message"] and line["message"].endswith((" done", " failed"))
    )
    generations = {str(run["id"]): run["generation"] for run in found.runs}
    struck = {str(run_id): len(moments) for run_id, moments in strikes.items()}
    calls: Counter[tuple[str, str]] = Counter()
    for id_, n in moods.hits.items():
        _, run_id, generation, action_id = id_.split("_")
        assert int(generation) <= generations[run_id], "a webhook-id that no step has"
        calls[run_id, action_id] += n
    for (run_id, action_id), n in calls.items():
        allowed = tries[run_id, action_id] + struck.get(run_id, 0)
        assert n <= allowed, f"{n} calls, {allowed} allowed: {story(found, UUID(run_id))}"
    for step in found.steps:
        if step["type"] == "SEND_WEBHOOK" and step["status"] == "SUCCEEDED":
            sent = message_id(step["run_id"], step["generation"], step["action_id"])
            assert moods.kept[sent], "a step succeeded that its target never answered"


def repeats(moods: Moods) -> int:
    """Return how many webhooks came again although their target had accepted them."""
    return sum(n - 1 for n in moods.kept.values() if n > 1)


def recoveries(found: Facts, strikes: Strikes) -> list[tuple[float, float]]:
    """Return, for each time that the sweep brought a run back, when, and how long it had lain."""
    waits = []
    for line in found.lines:
        if line["message"] == "watchdog reclaimed stale RUNNING run":
            at = line["created_at"].timestamp()
            # What struck it later than that, such as a second delivery's worker, was not the cause.
            struck = [
                moment for moment in strikes.get(line["run_id"], ()) if moment <= at - LEASE_S
            ]
            waits += [(at, at - max(struck))] if struck else []
    return waits
