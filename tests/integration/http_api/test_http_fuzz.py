"""No input is ever a 500: legal requests with some part of them made odd."""

import random
from typing import Any

import pytest

from tests.integration.http_api.client import (
    Api,
)
from tests.integration.http_api.every_route import (
    BODIES,
    WORKSPACE_ROUTES,
    ids_in,
    named,
    path_of,
)


@pytest.fixture(scope="module")
def api(module_api: Api) -> Api:
    return module_api


ODD_VALUES: list[Any] = [
    None,
    True,
    0,
    -1,
    10**300,
    1.5,
    "",
    "x",
    "\0",
    "\ud800",
    "é" * 70_000,
    "{{",
    "{{record.Name}}",
    "'; drop table runs; --",
    "019cafe0-0000-7000-8000-000000000000",
    [],
    [[]],
    {},
    {"": ""},
    {"and": [{"not": None}]},
    "from_trigger",
]


def mutated(value: Any, rng: random.Random) -> Any:
    """Return `value` with some part of it replaced, dropped or repeated."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        key = rng.choice(list(value))
        changed = dict(value)
        if rng.random() < 0.1:
            del changed[key]
        else:
            changed[key] = mutated(value[key], rng)
        if rng.random() < 0.05:
            changed[str(rng.choice(ODD_VALUES))] = rng.choice(ODD_VALUES)
        return changed
    if isinstance(value, list) and value and rng.random() < 0.8:
        n = rng.randrange(len(value))
        return [*value[:n], mutated(value[n], rng), *value[n + rng.randrange(2) :]]
    return rng.choice(ODD_VALUES)


def rich_bodies(api: Api) -> dict[str, Any]:
    database_id = str(api.mine.database_id)
    leaf = {"field": {"ref": "property", "name": "Status"}, "operator": "eq", "value": "B"}
    condition = {"and": [leaf, {"not": {**leaf, "operator": "matches", "value": "^a"}}]}
    triggers = [
        {"type": "PROPERTY_CHANGED", "config": {"databaseId": database_id, "properties": ["*"]}},
        {"type": "SCHEDULE", "config": {"cron": "0 9 * * *", "timeZone": "UTC"}},
        {"type": "WEBHOOK", "config": {"secret": "s" * 30}},
    ]
    actions = [
        {
            "type": "CREATE_RECORD",
            "config": {"databaseId": database_id, "propertyValues": {"a": 1}},
        },
        {"type": "SEND_WEBHOOK", "config": {"url": "https://x.test", "headers": {"a": "b"}}},
        {"type": "SEND_EMAIL", "config": {"to": ["a@b.test"], "subject": "x", "text": "y"}},
        {"type": "DELAY", "config": {"seconds": 5}, "retries": 1, "timeoutMs": 1000},
    ]
    return BODIES | {
        "CreateAutomation": {
            "name": "X",
            "description": "d",
            "databaseId": database_id,
            "triggers": triggers,
            "condition": condition,
            "actions": actions,
        },
        "PatchAutomation": {"name": "Y", "description": "d", "databaseId": database_id},
        "TriggersBody": {"triggers": triggers},
        "ConditionBody": {"condition": condition},
        "ActionsBody": {"actions": actions},
        "RunAutomationBody": {"input": {"recordId": "x", "a": [1, {"b": None}]}},
        "PatchDatabase": {
            "name": "D",
            "properties": [{"name": "S", "type": "select", "options": ["A"]}],
            "archived": False,
        },
        "RecordBody": {"properties": {"Name": "x", "Status": "A", "Priority": 1, "Owner": "x"}},
        "CreatePage": {"title": "X", "parentId": database_id, "content": "c"},
    }


@pytest.mark.parametrize("seed", range(4))
def test_no_input_is_ever_a_500(api: Api, seed: int) -> None:
    rng = random.Random(seed)  # reproducible cases, no secrets
    # The seed before may have archived what all of them write to.
    api.sql("update databases set archived_at = null")
    ids, bodies = ids_in(api, "mine"), rich_bodies(api)
    writes = [entry for entry in WORKSPACE_ROUTES if entry.body and entry.method != "DELETE"]
    for n in range(150):
        entry = writes[n % len(writes)]
        assert entry.body is not None
        body = mutated(bodies[entry.body.__name__], rng)
        raw = repr_json(body)
        answer = api.mine.owner.call(entry.method, path_of(entry, ids), raw)
        assert answer.status < 500, f"seed {seed}, request {n}: {named(entry)} {raw[:500]}"
        if answer.status >= 400:
            assert set(answer.json["error"]) <= {"code", "message", "details", "requestId"}


def repr_json(body: Any) -> str:
    """JSON text in which every odd character is an escape, as a client may send it."""
    import json  # noqa: PLC0415  # only the standard encoder writes lone surrogates

    return json.dumps(body)


ODD_PATHS = [
    "/automations/",
    "/automations/%00",
    "/automations/..%2f..",
    "/automations/é",
    "/automations/a b",
    "/automations/{automationId}",
    "/automations/" + "x" * 8000,
    "/automations/\n",
    "//",
    "/me\n",
    "/automations/019cafe0-0000-7000-8000-000000000000\n",
]


@pytest.mark.parametrize("path", ODD_PATHS)
def test_no_path_is_ever_a_500(api: Api, path: str) -> None:
    for method in ("GET", "PATCH", "DELETE", "POST"):
        assert api.mine.owner.call(method, path, {}).status in {200, 404, 405}
