"""How many statements a request costs: one for who asks, then as few as its work needs."""

from collections.abc import Callable

import pytest

from tests.integration.http_api.client import CREATED_TRIGGER, NOTIFY, Answer, Api

CONDITION = {"field": {"ref": "event", "path": "a"}, "operator": "eq", "value": 1}


@pytest.fixture
def statements(api: Api) -> list[str]:
    """Every statement from now on, BEGIN and COMMIT not counted."""
    seen: list[str] = []
    api.context.database.on_statement = seen.append
    return seen


def test_a_request_costs_few_statements(api: Api, statements: list[str]) -> None:
    made = api.mine.create_automation(triggers=[CREATED_TRIGGER], actions=[NOTIFY])
    path, record = f"/automations/{made['id']}", api.mine.create_record(Name="Tap")
    run_id = api.mine.editor.post(f"{path}/run").json["runId"]
    workspace = f"/workspaces/{api.mine.workspace_id}"
    records, database = f"/databases/{api.mine.database_id}/records", str(api.mine.database_id)
    costs: list[tuple[int, Callable[[], Answer]]] = [
        (2, lambda: api.mine.viewer.get(api.mine.automations_path)),
        (2, lambda: api.mine.viewer.get(path)),
        (2, lambda: api.mine.viewer.get(f"{path}/runs")),
        (2, lambda: api.mine.viewer.get(f"{path}/runs/{run_id}")),
        (2, lambda: api.mine.viewer.get(records)),
        (2, lambda: api.mine.viewer.get(f"{path}/versions")),
        (2, lambda: api.mine.viewer.get(f"{path}/versions/1")),
        (2, lambda: api.mine.viewer.get(f"{workspace}/runs", status="PENDING", recordId="x")),
        # who, now, the counts, the durations
        (4, lambda: api.mine.viewer.get(f"{workspace}/automations/stats")),
        # who, the automation, now, the run, what is around it
        (5, lambda: api.mine.editor.post(f"{path}/dry-run")),
        # who, the mark, the audit entry; the run taken, read and ended
        (6, lambda: api.mine.editor.post(f"{path}/runs/{run_id}/cancel")),
        # who, lock, the run, its return, the audit entry
        (5, lambda: api.mine.editor.post(f"{path}/runs/{run_id}/retry")),
        # who, lock, the run with its log line
        (3, lambda: api.mine.editor.post(f"{path}/run")),
        # who, lock, status, the audit entry, the answer
        (5, lambda: api.mine.editor.post(f"{path}/status", {"status": "ACTIVE"})),
        # who, lock, the version before, the version after, the audit entry, the answer
        (6, lambda: api.mine.editor.put(f"{path}/conditions", {"condition": CONDITION})),
        # and the databases it names, and the triggers
        (8, lambda: api.mine.editor.patch(path, {"databaseId": database})),
        # who, the automation with its version, the audit entry, the answer
        (4, lambda: api.mine.editor.post(api.mine.automations_path, {"name": "X"})),
        # who, the database, the record, its event
        (4, lambda: api.mine.editor.post(records, {"properties": {"Name": "X"}})),
        # who, lock, the record, its event
        (
            4,
            lambda: api.mine.editor.patch(
                f"/records/{record['id']}", {"properties": {"Name": "Y"}}
            ),
        ),
        (
            2,
            lambda: api.mine.editor.patch(
                f"/records/{record['id']}", {"properties": {"Name": "Y"}}
            ),
        ),
    ]
    for most, request in costs:
        statements.clear()
        assert request().status < 300
        assert len(statements) <= most, "\n".join(statements)
