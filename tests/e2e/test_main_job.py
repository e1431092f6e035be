"""The main job over HTTP: a record becomes an event, a match, a run, its steps, SUCCEEDED."""

from typing import Any

import pytest

from tests.e2e.conftest import Api, Stack, eventually

pytestmark = [pytest.mark.xdist_group("stack"), pytest.mark.timeout(600)]

STATUS_IS_B = {"field": {"ref": "property", "name": "Status"}, "operator": "eq", "value": "B"}


def update(**values: Any) -> dict[str, Any]:
    return {
        "type": "UPDATE_RECORD",
        "config": {"recordId": "from_trigger", "propertyValues": values},
    }


def activate(owner: Api, stack: Stack, definition: dict[str, Any]) -> dict[str, Any]:
    """Create the automation that `definition` describes and make it ACTIVE."""
    made = owner.ok("POST", f"/workspaces/{stack.ready['workspaceId']}/automations", definition)
    detail: dict[str, Any] = owner.ok(
        "POST", f"/automations/{made['id']}/status", {"status": "ACTIVE"}
    )
    return detail


def ended_runs(owner: Api, automation_id: str, count: int) -> list[dict[str, Any]]:
    """Return the `count` runs of the automation, whole, once all have ended, oldest first."""
    path = f"/automations/{automation_id}/runs"

    def look() -> list[dict[str, Any]] | None:
        runs = owner.ok("GET", path)["data"]
        done = [run for run in runs if run["finishedAt"]]
        return runs if len(done) == len(runs) >= count else None

    runs = eventually(look, f"{count} ended runs")
    assert len(runs) == count
    return [owner.ok("GET", f"{path}/{run['id']}") for run in reversed(runs)]


def add_record(owner: Api, database_id: str, **properties: Any) -> dict[str, Any]:
    made: dict[str, Any] = owner.ok(
        "POST", f"/databases/{database_id}/records", {"properties": properties}
    )
    return made


@pytest.fixture
def triage(owner: Api, stack: Stack, tickets: str) -> dict[str, Any]:
    notify = {
        "type": "CREATE_NOTIFICATION",
        "config": {"title": "Ticket {{record.Name}}"},
    }
    return activate(
        owner,
        stack,
        {
            "name": "Triage new tickets",
            "databaseId": tickets,
            "triggers": [{"type": "RECORD_CREATED", "config": {"databaseId": tickets}}],
            "condition": STATUS_IS_B,
            "actions": [update(Status="C"), notify],
        },
    )


def test_a_matching_record_gives_one_run_that_succeeds(
    owner: Api, tickets: str, triage: dict[str, Any]
) -> None:
    record = add_record(owner, tickets, Name="Leaking tap", Status="B")
    (run,) = ended_runs(owner, triage["id"], 1)
    assert (run["status"], run["error"], run["triggerType"]) == (
        "SUCCEEDED",
        None,
        "record.created",
    )
    update_step, notify_step = run["output"]["actions"]
    assert update_step == {
        "index": 0,
        "type": "UPDATE_RECORD",
        "output": {"recordId": record["id"], "changedProperties": ["Status"]},
        "ms": update_step["ms"],
        "status": "SUCCEEDED",
    }
    assert run["output"]["totalMs"] == update_step["ms"] + notify_step["ms"]
    changed = owner.ok("GET", f"/records/{record['id']}")
    assert changed["properties"] == {"Name": "Leaking tap", "Status": "C"}
    titles = [n["title"] for n in owner.ok("GET", "/me/notifications")["data"]]
    assert titles.count("Ticket Leaking tap") == 1


def test_a_run_tells_its_story_in_log_lines(
    owner: Api, tickets: str, triage: dict[str, Any]
) -> None:
    add_record(owner, tickets, Name="Tap", Status="B")
    (run,) = ended_runs(owner, triage["id"], 1)
    first, second = (action["id"] for action in triage["actions"])
    lines = [(line["level"], line["message"], line["data"]) for line in run["logs"]]
    steps = run["output"]["actions"]
    assert lines == [
        ("info", "run created", {"eventId": run["eventId"]}),
        ("info", "run started", {"attempt": 1}),
        ("info", "action 1/2 UPDATE_RECORD started", {"actionId": first, "attempt": 1}),
        ("info", "action 1/2 UPDATE_RECORD done", {"actionId": first, "ms": steps[0]["ms"]}),
        ("info", "action 2/2 CREATE_NOTIFICATION started", {"actionId": second, "attempt": 1}),
        ("info", "action 2/2 CREATE_NOTIFICATION done", {"actionId": second, "ms": steps[1]["ms"]}),
        ("info", "run completed", {"totalMs": run["output"]["totalMs"]}),
    ]


def test_a_record_that_does_not_meet_the_condition_is_skipped(
    owner: Api, tickets: str, triage: dict[str, Any]
) -> None:
    record = add_record(owner, tickets, Name="Fine", Status="A")
    (run,) = ended_runs(owner, triage["id"], 1)
    assert (run["status"], run["output"]) == ("SUCCEEDED", {"skipped": "conditions_not_met"})
    assert run["steps"] == []
    assert owner.ok("GET", f"/records/{record['id']}")["version"] == 1


def test_an_automation_that_updates_its_own_record_runs_once(
    owner: Api, stack: Stack, tickets: str
) -> None:
    automation = activate(
        owner,
        stack,
        {
            "name": "Touch",
            "databaseId": tickets,
            "triggers": [{"type": "RECORD_UPDATED", "config": {}}],
            "actions": [update(Name="touched by {{run.id}}")],
        },
    )
    record = add_record(owner, tickets, Name="new")
    owner.ok("PATCH", f"/records/{record['id']}", {"properties": {"Name": "edited"}})
    first, second = ended_runs(owner, automation["id"], 2)
    assert "actions" in first["output"]
    assert second["output"] == {"skipped": "self_trigger"}


def test_a_ping_pong_of_two_automations_ends_at_the_depth_limit(
    owner: Api, stack: Stack, tickets: str
) -> None:
    other = owner.ok(
        "POST",
        f"/workspaces/{stack.ready['workspaceId']}/databases",
        {"name": "Other", "properties": [{"name": "Name", "type": "text"}]},
    )["id"]
    record = add_record(owner, tickets, Name="a")
    other_record = add_record(owner, other, Name="b")

    def player(name: str, listens_to: str, writes: str) -> dict[str, Any]:
        config = {"recordId": writes, "propertyValues": {"Name": f"{name} {{{{run.id}}}}"}}
        return activate(
            owner,
            stack,
            {
                "name": name,
                "databaseId": listens_to,
                "triggers": [{"type": "RECORD_UPDATED", "config": {}}],
                "actions": [{"type": "UPDATE_RECORD", "config": config}],
            },
        )

    ping = player("ping", tickets, other_record["id"])
    pong = player("pong", other, record["id"])
    owner.ok("PATCH", f"/records/{record['id']}", {"properties": {"Name": "go"}})
    runs = ended_runs(owner, ping["id"], 3) + ended_runs(owner, pong["id"], 3)
    runs.sort(key=lambda run: int(run["depth"]))
    assert [run["depth"] for run in runs] == [0, 1, 2, 3, 4, 5]
    assert ["actions" in run["output"] for run in runs] == [True] * 5 + [False]
    assert runs[5]["output"] == {"skipped": "depth_limit"}
    assert {run["rootRunId"] for run in runs} == {runs[0]["id"]}


def test_a_manual_run_is_accepted_while_a_draft(owner: Api, stack: Stack) -> None:
    made = owner.ok(
        "POST",
        f"/workspaces/{stack.ready['workspaceId']}/automations",
        {
            "name": "By hand",
            "actions": [{"type": "CREATE_PAGE", "config": {"title": "{{trigger.payload.what}}"}}],
        },
    )
    answer = owner.call("POST", f"/automations/{made['id']}/run", {"input": {"what": "Report"}})
    assert answer.status_code == 202
    (run,) = ended_runs(owner, made["id"], 1)
    assert run["id"] == answer.json()["runId"]
    page = owner.ok("GET", f"/pages/{run['output']['actions'][0]['output']['pageId']}")
    assert page["title"] == "Report"


def test_bad_input_is_refused_and_never_a_500(
    owner: Api, stack: Stack, triage: dict[str, Any]
) -> None:
    workspace = stack.ready["workspaceId"]
    create = f"/workspaces/{workspace}/automations"
    malformed = owner.call(
        "POST", create, content=b'{"name": ', headers={"content-type": "application/json"}
    )
    assert (malformed.status_code, malformed.json()["error"]["code"]) == (400, "BAD_JSON")
    wrong = owner.call("POST", create, {"name": "", "actions": [{"type": "NOPE", "config": {}}]})
    assert wrong.status_code == 422
    paths = {detail["path"] for detail in wrong.json()["error"]["details"]}
    assert {"name", "actions[0].type"} <= paths
    anonymous = stack.api(None).call("GET", f"/automations/{triage['id']}")
    assert (anonymous.status_code, anonymous.json()["error"]["code"]) == (401, "UNAUTHENTICATED")


def test_case_113_a_foreign_and_an_unknown_id_answer_alike(
    stack: Stack, triage: dict[str, Any]
) -> None:
    stranger = stack.api(stack.ready["otherWorkspace"]["token"])
    unknown = "019aa000-0000-7000-8000-000000000000"
    bodies = []
    for automation_id in (triage["id"], unknown, "no-id-at-all"):
        answer = stranger.call("GET", f"/automations/{automation_id}")
        assert answer.status_code == 404
        bodies.append({**answer.json()["error"], "requestId": None})
    assert bodies[0] == bodies[1] == bodies[2]
    refused = stack.api(stack.ready["viewerToken"]).call(
        "POST", f"/automations/{triage['id']}/status", {"status": "PAUSED"}
    )
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "FORBIDDEN")
