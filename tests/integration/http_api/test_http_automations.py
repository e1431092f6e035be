"""Automations over HTTP: made, listed, looked at, renamed."""

import re
from typing import Any
from uuid import uuid4

import pytest

from tests.integration.http_api.client import CREATED_TRIGGER, NOTIFY, Api
from whenthen.domain.kinds import Role

INSTANT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
CONDITION = {"field": {"ref": "property", "name": "Status"}, "operator": "eq", "value": "B"}
DETAIL_KEYS = [
    "id",
    "workspaceId",
    "name",
    "description",
    "databaseId",
    "status",
    "version",
    "triggers",
    "hasCondition",
    "condition",
    "actions",
    "createdAt",
    "updatedAt",
    "createdById",
    "latestRun",
]
SUMMARY_KEYS = [key for key in DETAIL_KEYS if key not in {"condition", "version", "workspaceId"}]


def test_a_whole_definition_is_created_and_read_back(api: Api) -> None:
    body: dict[str, Any] = {
        "name": "Triage new tickets",
        "description": "Sorts",
        "databaseId": str(api.mine.database_id),
        "triggers": [
            {"type": "RECORD_CREATED", "config": {"databaseId": str(api.mine.database_id)}}
        ],
        "condition": CONDITION,
        "actions": [
            {
                "type": "UPDATE_RECORD",
                "config": {
                    "recordId": "from_trigger",
                    "propertyValues": {"Status": "C", "Priority": None},
                },
                "retries": 3,
            }
        ],
    }
    answer = api.mine.editor.post(api.mine.automations_path, body)
    assert answer.status == 201
    made = answer.json
    assert list(made) == DETAIL_KEYS
    action = dict(made["actions"][0])
    assert action.pop("id")
    assert action == {**body["actions"][0], "timeoutMs": None}
    assert {key: made[key] for key in ("name", "description", "databaseId", "condition")} == {
        key: body[key] for key in ("name", "description", "databaseId", "condition")
    }
    assert made["triggers"] == body["triggers"]
    assert (made["status"], made["version"], made["hasCondition"]) == ("DRAFT", 1, True)
    assert made["createdById"] == str(api.mine.user_ids[Role.EDITOR])
    assert made["latestRun"] is None
    assert re.fullmatch(INSTANT, made["createdAt"])
    assert api.mine.viewer.get(f"/automations/{made['id']}").json == made


def test_everything_but_the_name_may_be_left_out(api: Api) -> None:
    made = api.mine.create_automation()
    assert (made["triggers"], made["condition"], made["actions"]) == ([], None, [])
    assert (made["description"], made["databaseId"], made["hasCondition"]) == (None, None, False)


def test_the_list_shows_summaries_newest_first_with_the_latest_run(api: Api) -> None:
    first = api.mine.create_automation(triggers=[CREATED_TRIGGER], actions=[NOTIFY, NOTIFY])
    second = api.mine.create_automation(condition=CONDITION)
    api.mine.editor.post(f"/automations/{first['id']}/run")
    run_id = api.mine.editor.post(f"/automations/{first['id']}/run").json["runId"]
    body = api.mine.viewer.get(api.mine.automations_path).json
    assert [row["id"] for row in body["data"]] == [second["id"], first["id"]]
    assert body["nextCursor"] is None
    newer, older = body["data"]
    assert list(newer) == SUMMARY_KEYS
    assert (newer["triggers"], newer["hasCondition"], newer["actions"]) == ([], True, [])
    assert older["triggers"] == ["RECORD_CREATED"]
    assert older["actions"] == ["CREATE_NOTIFICATION", "CREATE_NOTIFICATION"]
    latest = older["latestRun"]
    assert list(latest) == ["id", "status", "createdAt", "finishedAt", "retryCount", "error"]
    assert (latest["id"], latest["status"], latest["finishedAt"]) == (run_id, "PENDING", None)
    assert api.mine.viewer.get(f"/automations/{first['id']}").json["latestRun"] == latest


def test_archived_automations_are_listed_only_by_their_status(api: Api) -> None:
    kept, gone = api.mine.create_automation(), api.mine.create_automation()
    api.mine.editor.delete(f"/automations/{gone['id']}")

    def listed(**query: str) -> list[str]:
        return [
            row["id"]
            for row in api.mine.viewer.get(api.mine.automations_path, **query).json["data"]
        ]

    assert listed() == [kept["id"]]
    assert listed(status="DRAFT") == [kept["id"]]
    assert listed(status="ARCHIVED") == [gone["id"]]
    assert listed(status="ACTIVE") == []


def test_a_patch_changes_what_it_names_and_counts_a_version(api: Api) -> None:
    made = api.mine.create_automation(
        description="Old", databaseId=str(api.mine.database_id), actions=[NOTIFY]
    )
    path = f"/automations/{made['id']}"
    renamed = api.mine.editor.patch(path, {"name": "New"}).json
    assert (renamed["name"], renamed["description"], renamed["version"]) == ("New", "Old", 2)
    cleared = api.mine.editor.patch(path, {"description": None, "databaseId": None}).json
    assert (cleared["description"], cleared["databaseId"], cleared["version"]) == (None, None, 3)
    assert cleared["actions"] == made["actions"]
    assert cleared["createdAt"] == made["createdAt"]


@pytest.mark.parametrize("body", [{}, {"name": "Triage"}, {"description": None}])
def test_a_patch_that_changes_nothing_makes_no_version(api: Api, body: Any) -> None:
    made = api.mine.create_automation()
    answer = api.mine.editor.patch(f"/automations/{made['id']}", body)
    assert (answer.status, answer.json) == (200, made)


def test_each_version_is_kept_as_it_was(api: Api) -> None:
    made = api.mine.create_automation(actions=[NOTIFY])
    api.mine.editor.patch(f"/automations/{made['id']}", {"name": "Two"})
    api.mine.editor.put(f"/automations/{made['id']}/conditions", {"condition": CONDITION})
    rows = api.sql(
        "select version, schema, name, condition, jsonb_array_length(actions) as actions"
        " from automation_versions where automation_id = :a order by version",
        a=made["id"],
    )
    assert [tuple(row.values()) for row in rows] == [
        (1, 1, "Triage", None, 1),
        (2, 1, "Two", None, 1),
        (3, 1, "Two", CONDITION, 1),
    ]


@pytest.mark.parametrize(("if_match", "status"), [("1", 200), ('"1"', 200), ("*", 200), ("2", 412)])
def test_if_match_guards_a_patch(api: Api, if_match: str, status: int) -> None:
    made = api.mine.create_automation()
    answer = api.mine.editor.patch(
        f"/automations/{made['id']}", {"name": "New"}, {"If-Match": if_match}
    )
    assert answer.status == status
    if status == 412:
        assert answer.error["code"] == "VERSION_MISMATCH"
        assert answer.error["details"] == {"version": 1}


@pytest.mark.parametrize(("if_match", "status"), [("1", 412), ("2", 200), ("3", 412), ("*", 200)])
@pytest.mark.parametrize(
    ("method", "route", "body"),
    [
        ("PUT", "/triggers", {"triggers": [CREATED_TRIGGER]}),
        ("PUT", "/conditions", {"condition": CONDITION}),
        ("PUT", "/actions", {"actions": [NOTIFY]}),
        ("POST", "/status", {"status": "ACTIVE"}),
        ("DELETE", "", None),
    ],
)
def test_if_match_guards_every_write(  # noqa: PLR0917  # two tables
    api: Api, method: str, route: str, body: Any, if_match: str, status: int
) -> None:
    path = f"/automations/{api.mine.create_automation()['id']}"
    before = api.mine.editor.patch(path, {"name": "Two"}).json
    answer = api.mine.editor.call(method, f"{path}{route}", body, headers={"If-Match": if_match})
    if status == 412:
        assert (answer.status, answer.code) == (412, "VERSION_MISMATCH")
        assert api.mine.editor.get(path).json == before
    else:
        assert answer.status == (204 if method == "DELETE" else 200)


def test_an_if_match_that_is_no_version_is_a_bad_header(api: Api) -> None:
    made = api.mine.create_automation()
    answer = api.mine.editor.patch(f"/automations/{made['id']}", {}, {"if-match": "soon"})
    assert (answer.status, answer.code) == (400, "BAD_HEADER")


@pytest.mark.parametrize("part", ["databaseId", "trigger", "action"])
@pytest.mark.parametrize("kind", ["unknown", "foreign", "archived"])
def test_case_113_a_database_is_active_and_of_the_same_workspace(
    api: Api, part: str, kind: str
) -> None:
    chosen = {"unknown": str(uuid4()), "foreign": str(api.other.database_id)}
    if kind == "archived":
        chosen[kind] = str(api.mine.database_id)
        api.mine.owner.patch(f"/databases/{api.mine.database_id}", {"archived": True})
    database_id = chosen[kind]
    cases: dict[str, tuple[dict[str, Any], str]] = {
        "databaseId": ({"databaseId": database_id}, "databaseId"),
        "trigger": (
            {"triggers": [{"type": "FORM_SUBMITTED", "config": {"databaseId": database_id}}]},
            "triggers[0].config.databaseId",
        ),
        "action": (
            {
                "actions": [
                    NOTIFY,
                    {
                        "type": "CREATE_RECORD",
                        "config": {"databaseId": database_id, "propertyValues": {}},
                    },
                ]
            },
            "actions[1].config.databaseId",
        ),
    }
    parts, path = cases[part]
    answer = api.mine.editor.post(api.mine.automations_path, {"name": "X", **parts})
    assert answer.status == 422
    assert answer.error == {
        "code": "DATABASE_UNKNOWN",
        "message": "a database is unknown",
        "details": [
            {
                "path": path,
                "message": "no active database of this workspace",
                "type": "database",
            }
        ],
    }
    assert api.sql("select * from automations") == []


def test_case_113_a_patch_to_a_foreign_database_writes_nothing(api: Api) -> None:
    made = api.mine.create_automation()
    answers = [
        api.mine.editor.patch(f"/automations/{made['id']}", {"databaseId": database_id})
        for database_id in (str(uuid4()), str(api.other.database_id))
    ]
    assert [answer.code for answer in answers] == ["DATABASE_UNKNOWN"] * 2
    assert answers[0].error == answers[1].error
    assert api.mine.editor.get(f"/automations/{made['id']}").json == made
