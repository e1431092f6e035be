"""Requests that a run of this deployment made: their chain goes on, whichever route they take."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from tests.integration.http_api.client import Api
from tests.integration.http_api.hooks import Hook, execute, make_hook, match_outbox
from whenthen.domain.rules.loop_header import NAME, sign_context
from whenthen.domain.schemas.events import AutomationContext
from whenthen.store import loop_keys
from whenthen.store.new_id import new_id

CALLER, CALLING_RUN, ROOT = new_id(), new_id(), new_id()


@pytest.fixture(scope="module")
def api(module_api: Api) -> Api:
    return module_api


@pytest.fixture
def hook(api: Api) -> Hook:
    return make_hook(api)


def header(
    api: Api,
    depth: int = 1,
    automation_id: UUID = CALLER,
    *,
    of: UUID | None = None,
    age_s: int = 0,
) -> dict[str, str]:
    """The header of a request that a run of `automation_id` makes, in my workspace."""
    found = api.context.database.transact(loop_keys.read)
    context = AutomationContext(automation_id, CALLING_RUN, ROOT, depth, (automation_id,))
    workspace_id = of or api.mine.workspace_id
    value = sign_context(found.keys[0], workspace_id, context, int(found.now_s) - age_s)
    return {NAME: value}


def started(hook: Hook, headers: dict[str, str]) -> Any:
    answer = hook.post(headers=headers)
    assert answer.status == 202, answer.text
    (run,) = hook.runs()
    return run


def outcome(api: Api, hook: Hook) -> Any:
    execute(api)
    (run,) = hook.runs()
    return run["output"]


def test_case_042_a_call_by_one_s_own_run_is_a_self_trigger(api: Api, hook: Hook) -> None:
    run = started(hook, header(api, automation_id=UUID(hook.automation_id)))
    assert (run["depth"], run["parent_run_id"], run["root_run_id"]) == (1, CALLING_RUN, ROOT)
    assert run["chain"] == [hook.automation_id]
    assert outcome(api, hook) == {"skipped": "self_trigger"}


@pytest.mark.parametrize(("depth", "acts"), [(4, True), (5, False), (6, False)])
def test_case_042_a_chain_over_http_ends_at_the_depth_limit(
    api: Api, hook: Hook, depth: int, *, acts: bool
) -> None:
    assert started(hook, header(api, depth))["depth"] == depth
    output = outcome(api, hook)
    assert ("actions" in output) == acts
    assert acts or output == {"skipped": "depth_limit"}


def test_of_another_workspace_s_chain_only_the_depth_counts(api: Api, hook: Hook) -> None:
    foreign = header(api, 2, UUID(hook.automation_id), of=api.other.workspace_id)
    run = started(hook, foreign)
    assert (run["depth"], run["parent_run_id"], run["root_run_id"]) == (2, None, run["id"])
    assert run["chain"] == []
    assert run["input"]["automationContext"] == {
        "automationId": None,
        "runId": None,
        "rootRunId": None,
        "depth": 2,
        "chain": [],
    }
    assert "actions" in outcome(api, hook)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda _: {},
        lambda api: header(api, 5, age_s=3_601),
        lambda api: header(api, 5, age_s=-60),
        lambda api: {NAME: header(api, 5)[NAME][:-1] + "_"},
        lambda _: {NAME: "v1.x"},
        lambda _: {NAME: '{"depth": 5}'},
    ],
    ids=["missing", "over", "too long", "forged", "malformed", "plain"],
)
def test_a_header_that_is_not_ours_is_as_good_as_none(
    api: Api, hook: Hook, spoil: Callable[[Api], dict[str, str]]
) -> None:
    run = started(hook, spoil(api))
    assert (run["depth"], run["input"]["automationContext"]) == (0, None)
    assert "actions" in outcome(api, hook)


def test_an_older_key_is_taken_until_it_goes(api: Api) -> None:
    older = header(api, 3)
    api.sql("insert into loop_keys default values")
    assert started(make_hook(api), older)["depth"] == 3
    assert started(make_hook(api), header(api, 3))["depth"] == 3
    api.sql("delete from loop_keys where created_at < (select max(created_at) from loop_keys)")
    assert started(make_hook(api), older)["depth"] == 0


WRITES: dict[str, Callable[[Api], tuple[str, dict[str, Any]]]] = {
    "a record": lambda api: (
        f"/databases/{api.mine.database_id}/records",
        {"properties": {"Name": "x"}},
    ),
    "a page": lambda api: (f"/workspaces/{api.mine.workspace_id}/pages", {"title": "x"}),
    "a form": lambda api: (
        f"/databases/{api.mine.database_id}/forms/submissions",
        {"properties": {"Name": "x"}},
    ),
    "an event": lambda api: (
        f"/workspaces/{api.mine.workspace_id}/events",
        {"type": "record.created", "payload": {"databaseId": str(api.mine.database_id)}},
    ),
}


@pytest.mark.parametrize("what", WRITES)
def test_what_a_run_writes_through_the_api_goes_on_with_its_chain(api: Api, what: str) -> None:
    api.sql("delete from outbox")
    path, body = WRITES[what](api)
    answer = api.mine.editor.call("POST", path, body, headers=header(api, 2))
    assert answer.status in {201, 202}, answer.text
    rows = api.sql("select automation_context from outbox")
    assert rows
    for row in rows:
        assert (row["automation_context"]["depth"], row["automation_context"]["runId"]) == (
            2,
            str(CALLING_RUN),
        )


def test_a_record_that_a_person_changes_begins_a_chain_and_one_that_a_run_changes_does_not(
    api: Api,
) -> None:
    made = api.mine.editor.post(
        f"/databases/{api.mine.database_id}/records", {"properties": {"Name": "x"}}
    ).json
    api.sql("delete from outbox")
    path = f"/records/{made['id']}"
    api.mine.editor.patch(path, {"properties": {"Name": "by a person"}})
    api.mine.editor.patch(path, {"properties": {"Name": "by a run"}}, headers=header(api, 4))
    rows = api.sql("select automation_context as c from outbox order by occurred_at, id")
    assert [row["c"] and row["c"]["depth"] for row in rows] == [None, 4]


def test_a_run_that_one_s_own_run_starts_by_hand_is_a_self_trigger(api: Api, hook: Hook) -> None:
    mine = header(api, automation_id=UUID(hook.automation_id))
    path = f"/automations/{hook.automation_id}/run"
    answer = api.mine.editor.call("POST", path, {}, headers=mine)
    assert answer.status == 202, answer.text
    match_outbox(api)
    assert outcome(api, hook) == {"skipped": "self_trigger"}
