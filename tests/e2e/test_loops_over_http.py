"""Loops that leave over HTTP and come back in end as those inside do."""

import pytest

from tests.e2e.conftest import PATIENCE_S, Api, Stack, eventually
from tests.e2e.stories import Json, activate, add_record, webhook

pytestmark = [pytest.mark.xdist_group("stack"), pytest.mark.timeout(600)]


def hooked(owner: Api, stack: Stack) -> Json:
    """An automation that its own URL starts, without actions so far."""
    definition = {"name": "Loop", "triggers": [{"type": "WEBHOOK", "config": {}}]}
    made: Json = owner.ok(
        "POST", f"/workspaces/{stack.ready['workspaceId']}/automations", definition
    )
    return made


def calls(owner: Api, automation: Json, url: str) -> None:
    owner.ok("PUT", f"/automations/{automation['id']}/actions", {"actions": [webhook(url)]})
    owner.ok("POST", f"/automations/{automation['id']}/status", {"status": "ACTIVE"})


def outputs(owner: Api, automation: Json, count: int) -> list[Json]:
    """What the automation's runs came to, oldest first, once there are `count` and all ended."""
    path = f"/automations/{automation['id']}/runs"

    def ended() -> list[Json] | None:
        runs = owner.ok("GET", path)["data"]
        assert len(runs) <= count
        return runs if len(runs) == count and all(run["finishedAt"] for run in runs) else None

    runs = eventually(ended, f"{count} runs have ended", PATIENCE_S)
    return [owner.ok("GET", f"{path}/{run['id']}") for run in reversed(runs)]


def test_case_042_an_automation_that_calls_its_own_url_stops_at_once(
    owner: Api, stack: Stack
) -> None:
    automation = hooked(owner, stack)
    calls(owner, automation, automation["webhook"]["url"])
    owner.ok("POST", f"/automations/{automation['id']}/run", {})
    first, second = outputs(owner, automation, 2)
    assert first["output"]["actions"][0]["output"]["status"] == 202
    assert second["output"] == {"skipped": "self_trigger"}
    assert (second["depth"], second["parentRunId"]) == (1, first["id"])


def test_case_042_two_automations_that_call_each_other_stop_at_the_depth_limit(
    owner: Api, stack: Stack
) -> None:
    ping, pong = hooked(owner, stack), hooked(owner, stack)
    calls(owner, ping, pong["webhook"]["url"])
    calls(owner, pong, ping["webhook"]["url"])
    owner.ok("POST", f"/automations/{ping['id']}/run", {})
    chain = [*outputs(owner, ping, 3), *outputs(owner, pong, 3)]
    by_depth = sorted(chain, key=lambda run: int(run["depth"]))
    assert [run["depth"] for run in by_depth] == [0, 1, 2, 3, 4, 5]
    assert all("actions" in run["output"] for run in by_depth[:-1])
    assert by_depth[-1]["output"] == {"skipped": "depth_limit"}
    assert len({run["rootRunId"] for run in chain}) == 1


def test_case_042_an_automation_that_writes_through_the_api_what_starts_it_stops_at_once(
    owner: Api, stack: Stack, tickets: str
) -> None:
    action = {
        "type": "SEND_WEBHOOK",
        "config": {
            "url": f"{stack.ready['url']}/api/v1/databases/{tickets}/records",
            "headers": {"authorization": f"Bearer {stack.ready['token']}"},
            "body": {"properties": {"Name": "again"}},
        },
    }
    automation = activate(owner, stack, tickets, action)
    add_record(owner, tickets, Name="once")
    first, second = outputs(owner, automation, 2)
    assert first["output"]["actions"][0]["output"]["status"] == 201
    assert second["output"] == {"skipped": "self_trigger"}
