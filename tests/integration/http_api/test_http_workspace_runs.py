"""The runs of a whole workspace over HTTP: filtered, paged, and as fast with many as with few."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.engine import Connection

from tests.integration.http_api.client import Answer, Api, Tenant
from whenthen.domain import instants
from whenthen.domain.kinds import RunStatus
from whenthen.store import paging, workspace_runs
from whenthen.store.new_id import new_id
from whenthen.store.paging import PageRequest
from whenthen.store.workspace_runs import RunsWanted

NOW = datetime(2026, 1, 2, 3, 4, 5, 678_901, UTC)
KEYS = [
    "id",
    "status",
    "triggerType",
    "startedAt",
    "finishedAt",
    "retryCount",
    "error",
    "createdAt",
    "automationId",
    "automationName",
    "recordId",
    "rootRunId",
    "parentRunId",
]


def add_run(api: Api, tenant: Tenant, automation: Any, **columns: Any) -> str:
    run_id = new_id()
    row = {
        "id": run_id,
        "automation_id": UUID(automation["id"]),
        "version": 1,
        "workspace_id": tenant.workspace_id,
        "event_id": str(run_id),
        "trigger_type": "record.created",
        "status": "SUCCEEDED",
        "input": '{"type": "record.created", "payload": {}}',
        "root_run_id": run_id,
        "created_at": NOW,
        **columns,
    }
    names = ", ".join(row)
    api.sql(
        f"insert into automation_runs ({names}) values ({', '.join(f':{name}' for name in row)})",
        **row,
    )
    return str(run_id)


def listed(api: Api, **query: str) -> Answer:
    return api.mine.viewer.get(f"/workspaces/{api.mine.workspace_id}/runs", **query)


def ids(answer: Answer) -> list[str]:
    assert answer.status == 200, answer.text
    return [row["id"] for row in answer.json["data"]]


def test_a_run_is_shown_with_its_automation_record_and_chain(api: Api) -> None:
    made = api.mine.create_automation()
    root = add_run(api, api.mine, made, record_id="r-1")
    run_id = add_run(
        api,
        api.mine,
        made,
        root_run_id=UUID(root),
        parent_run_id=UUID(root),
        created_at=NOW + timedelta(seconds=1),
    )
    api.mine.editor.patch(f"/automations/{made['id']}", {"name": "Renamed"})
    first, second = listed(api).json["data"]
    assert list(first) == KEYS
    assert first == {
        "id": run_id,
        "status": "SUCCEEDED",
        "triggerType": "record.created",
        "startedAt": None,
        "finishedAt": None,
        "retryCount": 0,
        "error": None,
        "createdAt": "2026-01-02T03:04:06.678Z",
        "automationId": made["id"],
        "automationName": "Renamed",
        "recordId": None,
        "rootRunId": root,
        "parentRunId": root,
    }
    assert (second["recordId"], second["rootRunId"], second["parentRunId"]) == ("r-1", root, None)


def test_each_filter_narrows_and_all_of_them_together(api: Api) -> None:
    made, other = api.mine.create_automation(), api.mine.create_automation()
    root = UUID(add_run(api, api.mine, made))
    columns: list[dict[str, Any]] = [
        {},
        {"status": "FAILED"},
        {"automation_id": UUID(other["id"])},
        {"record_id": "r-1"},
        {"root_run_id": root, "parent_run_id": root},
        {"created_at": NOW - timedelta(hours=1)},
        {"created_at": NOW + timedelta(hours=1)},
    ]
    everything: dict[str, Any] = {
        "status": "FAILED",
        "automation_id": UUID(other["id"]),
        "record_id": "r-1",
        "root_run_id": root,
        "parent_run_id": root,
    }
    runs = [add_run(api, api.mine, made, **one) for one in [*columns, everything]]
    plain, failed, elsewhere, of_record, chained, early, late, both = runs
    at, hour = instants.to_text(NOW), timedelta(hours=1)
    # The instant shown is cut to milliseconds, so it lies before the run's own.
    expected: list[tuple[dict[str, str], set[str]]] = [
        ({}, {str(root), *runs}),
        ({"status": "FAILED"}, {failed, both}),
        ({"automationId": other["id"]}, {elsewhere, both}),
        ({"recordId": "r-1"}, {of_record, both}),
        ({"rootRunId": str(root)}, {str(root), chained, both}),
        ({"rootRunId": plain}, {plain}),
        ({"from": at}, {str(root), *runs} - {early}),
        ({"to": at}, {early}),
        ({"from": at, "to": instants.to_text(NOW + hour)}, {str(root), *runs} - {early, late}),
        ({"from": at, "to": at}, set()),
        (
            {
                "status": "FAILED",
                "automationId": other["id"],
                "recordId": "r-1",
                "rootRunId": str(root),
                "from": "2026-01-02",
                "to": "2026-01-03",
            },
            {both},
        ),
        ({"status": "SUCCEEDED", "recordId": "r-1"}, {of_record}),
        ({"recordId": "r-"}, set()),
        ({"automationId": str(uuid4())}, set()),
        ({"unknown": "x"}, {str(root), *runs}),
    ]
    for query, wanted in expected:
        found = ids(listed(api, **query))
        assert len(found) == len(set(found))
        assert set(found) == wanted, query


def test_a_record_id_is_found_by_all_of_it_whatever_it_is_made_of(api: Api) -> None:
    made = api.mine.create_automation()
    long = "é" * 5000
    known = {name: add_run(api, api.mine, made, record_id=name) for name in (long, long + "x", "'")}
    for name, run_id in known.items():
        assert ids(listed(api, recordId=name)) == [run_id]
    for name in (long[:100], "", "%", "\0", "' or true --"):
        assert ids(listed(api, recordId=name)) == []


def test_a_filter_that_cannot_be_read_is_422(api: Api) -> None:
    for name, value, kind in [
        ("status", "DONE", "enum"),
        ("status", "", "enum"),
        ("automationId", "x", "id"),
        ("rootRunId", "\0", "id"),
        ("from", "yesterday", "instant"),
        ("to", "2026-13-01", "instant"),
        ("limit", "201", "limit"),
    ]:
        answer = listed(api, **{name: value})
        assert (answer.status, answer.code) == (422, "VALIDATION_FAILED")
        assert [(one["path"], one["type"]) for one in answer.error["details"]] == [(name, kind)]


@pytest.mark.parametrize(
    ("since", "until", "status"),
    [
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.001Z", 200),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", 200),
        ("2026-01-01T00:00:00.001Z", "2026-01-01T00:00:00Z", 422),
        ("2026-01-01T01:00:00+02:00", "2026-01-01T00:00:00Z", 200),
    ],
)
def test_a_window_does_not_begin_after_its_end(
    api: Api, since: str, until: str, status: int
) -> None:
    answer = listed(api, **{"from": since, "to": until})
    assert answer.status == status
    if status == 422:
        assert [(d["path"], d["type"]) for d in answer.error["details"]] == [("from", "window")]


def all_pages(api: Api, between: Callable[[], object] = lambda: None, **query: str) -> list[str]:
    seen: list[str] = []
    while True:
        body = listed(api, limit="3", **query).json
        seen += [row["id"] for row in body["data"]]
        if body["nextCursor"] is None:
            return seen
        query["cursor"] = body["nextCursor"]
        between()


def test_case_104_rows_of_one_instant_are_each_shown_once_while_others_come(api: Api) -> None:
    made = api.mine.create_automation()
    runs = [add_run(api, api.mine, made, status="FAILED") for _ in range(7)]
    seen = all_pages(
        api,
        lambda: add_run(
            api, api.mine, made, status="FAILED", created_at=NOW + timedelta(microseconds=1)
        ),
        status="FAILED",
    )
    assert seen == sorted(runs, reverse=True)


def test_a_cursor_fits_only_its_own_workspace_and_filters(api: Api) -> None:
    made = api.mine.create_automation()
    for _ in range(2):
        add_run(api, api.mine, made, record_id="r-1")
    query = {"recordId": "r-1", "from": "2026-01-01", "limit": "1"}
    cursor = listed(api, **query).json["nextCursor"]
    assert listed(api, **query, cursor=cursor).status == 200
    refused = [
        listed(api, cursor=cursor),
        listed(api, **{**query, "recordId": "r-2"}, cursor=cursor),
        listed(api, **{**query, "from": "2026-01-02"}, cursor=cursor),
        listed(api, **query, status="FAILED", cursor=cursor),
        listed(api, **query, cursor=("A" if cursor[0] != "A" else "B") + cursor[1:]),
        api.other.viewer.get(f"/workspaces/{api.other.workspace_id}/runs", **query, cursor=cursor),
        api.mine.viewer.get(f"/automations/{made['id']}/runs", cursor=cursor),
    ]
    assert [(one.status, one.code) for one in refused] == [(400, "BAD_CURSOR")] * 7


def test_case_113_runs_of_another_workspace_are_not_there(api: Api) -> None:
    theirs = api.other.create_automation()
    foreign = add_run(api, api.other, theirs, record_id="r-1")
    for query in (
        {},
        {"automationId": theirs["id"]},
        {"recordId": "r-1"},
        {"rootRunId": foreign},
        {"status": "SUCCEEDED"},
    ):
        assert ids(listed(api, **query)) == []
    assert api.mine.owner.get(f"/workspaces/{api.other.workspace_id}/runs").status == 404


def test_a_grant_does_not_open_the_runs_of_the_workspace(api: Api) -> None:
    user_id, guest = api.new_person()
    api.grant(user_id, api.mine.database_id, "EDIT")
    workspace = f"/workspaces/{api.mine.workspace_id}"
    assert guest.get(f"{workspace}/runs").status == 404
    assert guest.get(f"{workspace}/automations/stats").status == 404
    assert guest.post(f"{workspace}/runs/redrive", {"dryRun": True}).status == 404


def plan_of(api: Api, wanted: RunsWanted) -> str:
    values, conditions = workspace_runs._filters(wanted)
    request = PageRequest(50)
    sql = f"explain {workspace_runs._RUNS} {conditions} {paging.rest_sql(request, 'r')}"

    def work(connection: Connection) -> str:
        rows = connection.execute(text(sql), values | paging.parameters(request))
        return "\n".join(row[0] for row in rows)

    return api.context.database.transact(work)


def test_every_filter_is_served_by_an_index_however_many_runs_there_are(api: Api) -> None:
    made = UUID(api.mine.create_automation()["id"])
    api.sql(
        "insert into automation_runs (id, automation_id, version, workspace_id, event_id,"
        " trigger_type, record_id, status, input, root_run_id, parent_run_id, created_at)"
        " select cast(md5(cast(n as text)) as uuid), :a, 1, :w, n, 'record.created', n / 5,"
        " case when mod(n, 1000) = 0 then 'FAILED' else 'SUCCEEDED' end, '{}',"
        " cast(md5(cast(n / 10 * 10 as text)) as uuid),"
        " case when mod(n, 10) <> 0 then cast(md5(cast(n / 10 * 10 as text)) as uuid) end,"
        " cast(:t as timestamptz) + n * interval '1 second' from generate_series(1, 30000) n",
        a=made,
        w=api.mine.workspace_id,
        t=NOW,
    )
    api.sql("analyze automation_runs")
    mine = api.mine.workspace_id
    (row,) = api.sql("select root_run_id from automation_runs where event_id = '15001'")
    root = row["root_run_id"]
    expected = [
        (RunsWanted(mine), "automation_runs_by_workspace"),
        (RunsWanted(mine, status=RunStatus.SUCCEEDED), "automation_runs_by_"),
        (RunsWanted(mine, status=RunStatus.FAILED), "automation_runs_"),
        (RunsWanted(mine, status=RunStatus.PENDING), "automation_runs_"),
        (RunsWanted(mine, record_id="3000"), "automation_runs_by_record"),
        (RunsWanted(mine, root_run_id=root), "automation_runs_chained"),
        (RunsWanted(mine, automation_id=new_id()), "automation_runs_"),
        (
            RunsWanted(mine, created_from=NOW, created_to=NOW + timedelta(hours=1)),
            "automation_runs_by_workspace",
        ),
    ]
    for wanted, index in expected:
        plan = plan_of(api, wanted)
        assert index in plan, plan
        assert "Seq Scan on automation_runs" not in plan, plan
    found = ids(listed(api, rootRunId=str(root)))
    assert len(found) == 10
