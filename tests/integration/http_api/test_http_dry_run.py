"""The dry run over HTTP: it says what would be done, and does nothing of it."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any
from uuid import uuid4

import pytest

from tests.integration.conftest import Aws
from tests.integration.http_api.client import CREATED_TRIGGER, NOTIFY, WEBHOOK_TRIGGER, Answer, Api
from tests.integration.http_api.some_runs import execute, started
from whenthen.domain.kinds import Role

IS_B = {"field": {"ref": "property", "name": "Status"}, "operator": "eq", "value": "B"}
UPDATE = {
    "type": "UPDATE_RECORD",
    "config": {"recordId": "from_trigger", "propertyValues": {"Status": "C"}},
}
KEYS = ["wouldMatch", "reason", "event", "condition", "actions"]


def dry_run(api: Api, automation: Any, body: Any = None) -> Any:
    answer = tried(api, automation, body)
    assert answer.status == 200, answer.text
    assert list(answer.json) == KEYS
    return answer.json


def tried(api: Api, automation: Any, body: Any = None) -> Answer:
    return api.mine.editor.post(f"/automations/{automation['id']}/dry-run", body)


def created(api: Api, record: Any, **properties: Any) -> dict[str, Any]:
    return {
        "type": "record.created",
        "payload": {
            "databaseId": str(api.mine.database_id),
            "recordId": record["id"],
            "properties": properties,
        },
    }


def activated(api: Api, **parts: Any) -> Any:
    scoped = {"databaseId": str(api.mine.database_id), "triggers": [CREATED_TRIGGER]}
    made = api.mine.create_automation(**{**scoped, **parts})
    path = f"/automations/{made['id']}/status"
    return api.mine.editor.post(path, {"status": "ACTIVE"}).json


def context(automation_id: str, depth: int = 1) -> dict[str, Any]:
    ids = {"automationId": automation_id, "runId": str(uuid4()), "rootRunId": str(uuid4())}
    return {**ids, "depth": depth, "chain": [automation_id]}


def test_a_dry_run_shows_the_match_the_condition_and_the_filled_in_actions(api: Api) -> None:
    notify = {
        "type": "CREATE_NOTIFICATION",
        "config": {
            "title": "{{automation.name}}: {{record.Name}} in {{workspace.name}}",
            "body": "{{run.triggerType}} {{run.depth}} {{trigger.payload.recordId}}",
        },
    }
    made = activated(api, condition=IS_B, actions=[UPDATE, notify])
    record = api.mine.create_record(Name="Row")
    event = created(api, record, Name="Tap", Status="B")
    assert dry_run(api, made, {"event": event}) == {
        "wouldMatch": True,
        "reason": None,
        "event": {
            **event["payload"],
            "type": "record.created",
            "payload": event["payload"],
            "workspaceId": str(api.mine.workspace_id),
            "automationContext": None,
        },
        "condition": {
            "result": True,
            "explain": {"op": "eq", "left": "B", "right": "B", "result": True},
        },
        "actions": [
            {"index": 0, "type": "UPDATE_RECORD", "config": UPDATE["config"], "problems": []},
            {
                "index": 1,
                "type": "CREATE_NOTIFICATION",
                "config": {
                    "title": "Triage: Tap in Workspace",
                    "body": f"record.created 0 {record['id']}",
                },
                "problems": [],
            },
        ],
    }


@pytest.fixture
def target() -> Iterator[HTTPServer]:
    """Somebody else's server, which counts its visitors."""

    class Counting(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the name is the library's
            server.RequestHandlerClass.hits += 1  # type: ignore[attr-defined]
            self.send_response(200)
            self.end_headers()

        hits = 0

    server = HTTPServer(("127.0.0.1", 0), Counting)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def whole_database(api: Api) -> dict[str, str]:
    tables = api.sql(
        "select table_name from information_schema.tables"
        " where table_schema = 'public' and table_type = 'BASE TABLE'"
    )
    names = [row["table_name"] for row in tables]
    assert len(names) > 20
    return {
        name: api.sql(
            f"select md5(string_agg(cast(t as text), '|' order by cast(t as text))) as sum"
            f" from {name} t"
        )[0]["sum"]
        for name in names
    }


def test_a_dry_run_has_no_side_effect_at_all(api: Api, aws: Aws, target: HTTPServer) -> None:
    url = f"http://127.0.0.1:{target.server_port}/"
    config = {"databaseId": str(api.mine.database_id), "propertyValues": {"Name": "x"}}
    actions = [
        UPDATE,
        {"type": "CREATE_RECORD", "config": config},
        {"type": "DELETE_RECORD", "config": {"recordId": "from_trigger"}},
        {"type": "CREATE_PAGE", "config": {"title": "x"}},
        NOTIFY,
        {"type": "SEND_WEBHOOK", "config": {"url": url}},
        {"type": "SEND_EMAIL", "config": {"to": ["a@b.test"], "subject": "x", "text": "y"}},
        {"type": "AI_GENERATE", "config": {"prompt": "x"}},
        {"type": "DELAY", "config": {"seconds": 5}},
    ]
    made = activated(api, condition=IS_B, actions=actions)
    record = api.mine.create_record(Name="Tap", Status="B")
    run_id = started(api, made, recordId=record["id"])
    aws.queued()
    on_stream = len(aws.stream_records())
    before = whole_database(api)
    bodies = [None, {}, {"runId": run_id}, {"event": created(api, record, Status="B")}, {"x": 1}]
    answers = [tried(api, made, body).status for body in bodies]
    assert answers == [200, 200, 200, 200, 422]
    assert whole_database(api) == before
    assert (aws.queued(), len(aws.stream_records())) == ([], on_stream)
    assert target.RequestHandlerClass.hits == 0  # type: ignore[attr-defined]


def test_each_reason_is_given_when_it_holds_the_first_of_them(api: Api) -> None:
    made = activated(api, condition=IS_B)
    draft = api.mine.create_automation(
        databaseId=str(api.mine.database_id), triggers=[CREATED_TRIGGER]
    )
    record = api.mine.create_record(Name="Tap")
    good, bad = created(api, record, Status="B"), created(api, record, Status="A")
    elsewhere = {**good, "payload": {**good["payload"], "databaseId": str(uuid4())}}
    other = str(uuid4())
    events: list[tuple[Any, dict[str, Any], str | None]] = [
        (made, good, None),
        (made, elsewhere, "filter_mismatch"),
        (made, {**good, "type": "record.updated"}, "filter_mismatch"),
        (made, {**good, "type": "automation.executed"}, "filter_mismatch"),
        (made, {**good, "type": "order.paid"}, "filter_mismatch"),
        (made, {"type": "record.created", "payload": {}}, "filter_mismatch"),
        (draft, good, "not_active"),
        (draft, elsewhere, "filter_mismatch"),
        (made, {**good, "automationContext": context(made["id"])}, "self_trigger"),
        (made, {**good, "automationContext": context(made["id"], 5)}, "self_trigger"),
        (made, {**good, "automationContext": context(other, 4)}, None),
        (made, {**good, "automationContext": context(other, 5)}, "depth_limit"),
        (made, {**bad, "automationContext": context(other, 5)}, "depth_limit"),
        (made, bad, "conditions_not_met"),
        (made, {"type": "manual", "payload": {"properties": {"Status": "B"}}}, None),
        (draft, {"type": "manual", "payload": {}}, None),
    ]
    for automation, event, reason in events:
        shown = dry_run(api, automation, {"event": event})
        assert (shown["reason"], shown["wouldMatch"]) == (reason, reason is None), event


def test_an_archived_automation_can_be_tried_and_is_not_active(api: Api) -> None:
    made = activated(api)
    api.mine.editor.delete(f"/automations/{made['id']}")
    event = created(api, api.mine.create_record())
    for one in (event, {"type": "manual", "payload": {}}):
        assert dry_run(api, made, {"event": one})["reason"] == "not_active"


def test_a_draft_without_anything_has_no_event_to_be_tried_with(api: Api) -> None:
    lists: list[list[dict[str, Any]]] = [
        [],
        [{"type": "PAGE_CREATED", "config": {}}],
        [CREATED_TRIGGER],
    ]
    for triggers in lists:
        made = api.mine.create_automation(triggers=triggers, actions=[NOTIFY], condition=IS_B)
        assert dry_run(api, made) == {
            "wouldMatch": False,
            "reason": "no_event",
            "event": None,
            "condition": None,
            "actions": [
                {
                    "index": 0,
                    "type": "CREATE_NOTIFICATION",
                    "config": NOTIFY["config"],
                    "problems": [],
                }
            ],
        }


def test_an_empty_database_has_no_record_to_be_tried_with(api: Api) -> None:
    assert dry_run(api, activated(api))["reason"] == "no_event"


def test_without_a_run_the_newest_record_is_tried_as_the_trigger_would_hear_of_it(
    api: Api,
) -> None:
    api.mine.create_record(Name="Old")
    record = api.mine.create_record(Name="Tap", Priority=1)
    changed = {"type": "PROPERTY_CHANGED", "config": {"properties": ["Status"]}}
    any_change = {"type": "PROPERTY_CHANGED", "config": {"properties": ["*"]}}
    for trigger, type_, names in [
        (CREATED_TRIGGER, "record.created", None),
        ({"type": "FORM_SUBMITTED", "config": {}}, "form.submitted", None),
        ({"type": "RECORD_UPDATED", "config": {}}, "record.updated", ["Name", "Priority"]),
        (changed, "record.updated", ["Status"]),
        (any_change, "record.updated", ["Name", "Priority"]),
    ]:
        shown = dry_run(api, activated(api, triggers=[WEBHOOK_TRIGGER, trigger]))
        assert (shown["wouldMatch"], shown["event"]["type"]) == (True, type_)
        assert shown["event"]["recordId"] == record["id"]
        assert shown["event"]["properties"] == {"Name": "Tap", "Priority": 1}
        assert shown["event"].get("changedProperties") == names


def test_a_database_that_only_the_trigger_names_has_a_newest_record_too(api: Api) -> None:
    record = api.mine.create_record(Name="Tap")
    config = {"databaseId": str(api.mine.database_id)}
    made = api.mine.create_automation(triggers=[{**CREATED_TRIGGER, "config": config}])
    assert dry_run(api, made)["event"]["recordId"] == record["id"]


def test_the_newest_run_comes_before_any_record_and_a_named_one_before_it(api: Api) -> None:
    made = activated(api, actions=[NOTIFY])
    api.mine.create_record(Name="Tap")
    first, second = started(api, made, n=1), started(api, made, n=2)
    assert dry_run(api, made)["event"]["n"] == 2
    for run_id, n in ((first, 1), (second, 2)):
        shown = dry_run(api, made, {"runId": run_id})
        assert (shown["event"]["n"], shown["wouldMatch"]) == (n, True)
        assert shown["event"] == run_input(api, made, run_id)


def run_input(api: Api, automation: Any, run_id: str) -> Any:
    return api.mine.viewer.get(f"/automations/{automation['id']}/runs/{run_id}").json["input"]


def test_case_113_a_run_of_another_automation_is_unknown(api: Api) -> None:
    made, sibling = activated(api), activated(api)
    theirs = api.other.create_automation()
    foreign = api.other.editor.post(f"/automations/{theirs['id']}/run").json["runId"]
    answers = [
        tried(api, made, {"runId": run_id})
        for run_id in (started(api, sibling), foreign, str(uuid4()))
    ]
    assert {answer.status for answer in answers} == {422}
    assert all(answer.error == answers[0].error for answer in answers)
    assert answers[0].error["details"][0]["path"] == "runId"


def test_a_body_that_names_no_one_event_is_422(api: Api) -> None:
    made = activated(api)
    event = {"type": "record.created", "payload": {}}
    bodies: list[Any] = [
        {"event": event, "runId": str(uuid4())},
        {"event": {"type": "record.created"}},
        {"event": {"type": "", "payload": {}}},
        {"event": {"type": "x" * 101, "payload": {}}},
        {"event": {"type": "x", "payload": []}},
        {"event": {**event, "id": "x"}},
        {"event": {**event, "automationContext": {}}},
        {"event": {**event, "automationContext": context("x")}},
        {"event": {**event, "automationContext": context(made["id"], -1)}},
        {"runId": "x"},
        {"runId": 1},
        [],
    ]
    for body in bodies:
        answer = tried(api, made, body)
        assert (answer.status, answer.code) == (422, "VALIDATION_FAILED"), body
    nulls = {"event": None, "runId": None}
    assert tried(api, made, nulls).status == 200


def test_a_webhook_is_tried_by_what_it_would_deliver(api: Api) -> None:
    made = activated(api, triggers=[WEBHOOK_TRIGGER], actions=[])
    body = {"order": 17}
    wrapped = {"automationId": made["id"], "eventType": "order.paid", "body": body}
    for event, type_ in [
        ({"type": "webhook", "payload": body}, "webhook"),
        ({"type": "order.paid", "payload": body}, "order.paid"),
        ({"type": "webhook.received", "payload": wrapped}, "order.paid"),
    ]:
        shown = dry_run(api, made, {"event": event})
        assert (shown["wouldMatch"], shown["event"]["type"]) == (True, type_)
        assert shown["event"]["order"] == 17


def test_a_schedules_event_needs_a_schedule(api: Api) -> None:
    schedule = {"type": "SCHEDULE", "config": {"cron": "0 9 * * *"}}
    event = {"event": {"type": "schedule", "payload": {}}}
    assert dry_run(api, activated(api, triggers=[schedule]), event)["reason"] is None
    assert dry_run(api, activated(api), event)["reason"] == "filter_mismatch"


WEBHOOK = {
    "type": "SEND_WEBHOOK",
    "config": {
        "url": "https://x.test/{{trigger.path}}",
        "headers": {"Authorization": "Bearer {{secrets.TOKEN}}", "X-Id": "{{secrets.NOBODY}}"},
        "body": {"note": "{{record.Name}}: {{record.Gone}}", "count": "{{record.Gone}}"},
    },
}


def test_secrets_are_dots_and_faults_are_listed_with_their_places(api: Api) -> None:
    path = f"/workspaces/{api.mine.workspace_id}/secrets/TOKEN"
    value = "s3cret-value"
    assert api.mine.clients[Role.ADMIN].put(path, {"value": value}).status == 204
    made = activated(api, actions=[WEBHOOK])
    answer = tried(api, made, {"event": created(api, api.mine.create_record(), Name="Tap")})
    assert value not in answer.text
    (action,) = answer.json["actions"]
    assert action["config"]["headers"] == {
        "Authorization": "Bearer •••",
        "X-Id": "{{secrets.NOBODY}}",
    }
    assert action["config"]["body"] == {"note": "Tap: ", "count": None}
    assert action["config"]["url"] == "https://x.test/{{trigger.path}}"
    assert action["problems"] == [
        {"path": "url", "code": "TEMPLATE_MISSING"},
        {"path": "headers.X-Id", "code": "SECRET_UNKNOWN"},
        {"path": "body.note", "code": "TEMPLATE_EMPTY"},
    ]


def test_an_action_on_the_events_record_needs_one(api: Api) -> None:
    made = activated(api, actions=[UPDATE])
    shown = dry_run(api, made, {"event": {"type": "manual", "payload": {"recordId": "x"}}})
    assert shown["actions"][0]["problems"] == [{"path": "recordId", "code": "TEMPLATE_MISSING"}]


def test_outputs_of_earlier_actions_are_those_of_the_run_else_unknown(api: Api) -> None:
    made = activated(
        api,
        actions=[
            NOTIFY,
            {"type": "CREATE_PAGE", "config": {"title": "{{actions[0].output}}"}},
            {"type": "CREATE_PAGE", "config": {"title": "{{actions[1].output.pageId}} {{now}}"}},
            {"type": "CREATE_PAGE", "config": {"title": "x{{actions[3].output.pageId}}"}},
        ],
    )
    event = {"event": {"type": "manual", "payload": {}}}
    shown = dry_run(api, made, event)["actions"]
    assert [one["problems"] for one in shown[1:]] == [
        [{"path": "title", "code": "OUTPUT_UNKNOWN"}],
        [{"path": "title", "code": "OUTPUT_UNKNOWN"}],
        # Its own output is never known.
        [{"path": "title", "code": "TEMPLATE_EMPTY"}],
    ]
    run_id = started(api, made)
    execute(api, run_id)
    shown = dry_run(api, made, {"runId": run_id})["actions"]
    (page, *_) = api.sql("select id from pages order by created_at, id")
    assert shown[2]["config"]["title"].startswith(str(page["id"]))
    assert [one["problems"] for one in shown[1:3]] == [[], []]
    by_id = {"title": f'{{{{actions["{made["actions"][0]["id"]}"].output.x}}}}'}
    edited = [*made["actions"][:1], {"type": "CREATE_PAGE", "config": by_id}]
    api.mine.editor.put(f"/automations/{made['id']}/actions", {"actions": edited})
    assert dry_run(api, made, event)["actions"][1]["problems"] == [
        {"path": "title", "code": "OUTPUT_UNKNOWN"}
    ]
    assert dry_run(api, made, {"runId": run_id})["actions"][1]["problems"] == []


def test_properties_and_their_types_come_from_the_row_where_the_event_has_none(api: Api) -> None:
    over = {"field": {"ref": "property", "name": "Priority"}, "operator": "gt", "value": "9"}
    made = activated(api, condition=over, actions=[NOTIFY])
    record = api.mine.create_record(Name="Tap", Priority=10)
    event = created(api, record)
    del event["payload"]["properties"]
    shown = dry_run(api, made, {"event": event})
    assert shown["condition"]["result"] is True
    assert shown["actions"][0]["config"]["title"] == "Ticket Tap"


def test_a_record_of_another_workspace_is_not_seen(api: Api) -> None:
    made = activated(api, actions=[NOTIFY])
    foreign = api.other.create_record(Name="Secret")
    event = {"type": "manual", "payload": {"recordId": foreign["id"]}}
    shown = dry_run(api, made, {"event": event})
    assert shown["actions"][0]["config"]["title"] == "Ticket "


def test_to_a_scoped_automation_a_record_of_another_database_is_not_there(api: Api) -> None:
    path = f"/workspaces/{api.mine.workspace_id}/databases"
    properties = [{"name": "Name", "type": "text"}]
    other = api.mine.owner.post(path, {"name": "Other", "properties": properties}).json["id"]
    hidden = api.mine.editor.post(
        f"/databases/{other}/records", {"properties": {"Name": "Hidden"}}
    ).json
    event = {"type": "manual", "payload": {"recordId": hidden["id"]}}
    id_too = {"type": "CREATE_PAGE", "config": {"title": "{{record.Name}}{{record.id}}"}}
    shown = {
        scope: dry_run(
            api, activated(api, databaseId=scope, actions=[id_too, UPDATE]), {"event": event}
        )["actions"]
        for scope in (str(api.mine.database_id), None)
    }
    (page, update), (free, _) = shown.values()
    assert page["config"]["title"] == "null"
    assert update["problems"] == [{"path": "recordId", "code": "TEMPLATE_MISSING"}]
    assert free["config"]["title"] == f"Hidden{hidden['id']}"


def test_a_definition_of_older_code_is_shown_with_what_is_wrong_with_it(api: Api) -> None:
    made = activated(api, condition=IS_B, actions=[NOTIFY])
    api.sql(
        "update automation_versions set condition = '{\"xor\": []}',"
        " actions = jsonb_set(actions, '{0,config,colour}', '1')"
    )
    event = {"event": {"type": "manual", "payload": {}}}
    shown = dry_run(api, made, event)
    assert shown["reason"] == "conditions_not_met"
    assert shown["condition"] == {"result": False, "explain": {}}
    assert shown["actions"][0]["problems"] == [{"path": "", "code": "ACTION_CONFIG_INVALID"}]


def test_a_large_event_is_cut_as_on_its_way_to_a_run_and_templates_do_not_multiply_it(
    api: Api,
) -> None:
    config = {"url": "https://x.test", "body": ["{{trigger}}"] * 20_000}
    many = {"type": "SEND_WEBHOOK", "config": config}
    made = activated(api, actions=[many] * 3)
    event = {"type": "manual", "payload": {"text": "é" * 100_000, "\0": "\ud800"}}
    answer = tried(api, made, repr_json({"event": event}))
    assert answer.status == 200
    assert len(answer.text.encode()) < 2_000_000
    shown = answer.json
    assert shown["event"]["truncated"] is True
    assert shown["event"]["sanitized"] is True
    assert [one["problems"] for one in shown["actions"]] == [
        [{"path": "", "code": "ACTION_CONFIG_INVALID"}]
    ] * 3


def repr_json(body: Any) -> str:
    import json  # noqa: PLC0415  # only the standard encoder writes lone surrogates

    return json.dumps(body)
