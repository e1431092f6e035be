"""What the API refuses to read: bodies, queries, cursors, paths."""

from typing import Any

import pytest

from tests.integration.http_api.client import (
    CREATED_TRIGGER,
    NOTIFY,
    Api,
    gateway_event,
    send,
)
from tests.integration.http_api.every_route import (
    WORKSPACE_ROUTES,
    ids_in,
    named,
    path_of,
)
from whenthen.domain import json_text


@pytest.fixture(scope="module")
def api(module_api: Api) -> Api:
    return module_api


BAD_JSON = [
    b"{",
    b"",
    b"nonsense",
    b"\xff\xfe",
    b'{"a": NaN}',
    b'{"name": 1e999}',
    b'{"name":' + b"9" * 5_000 + b"}",
    b"[" * 200_000,
    b'{"a":' * 65 + b"1" + b"}" * 65,
]


@pytest.mark.parametrize("body", BAD_JSON, ids=lambda body: f"case_100_{body[:9]!r}")
def test_case_100_what_is_no_json_is_400_on_every_route_with_a_body(api: Api, body: bytes) -> None:
    ids = ids_in(api, "mine")
    for entry in WORKSPACE_ROUTES:
        if entry.body is not None:
            answer = api.mine.owner.call(entry.method, path_of(entry, ids), body or b" ")
            assert (answer.status, answer.code) == (400, "BAD_JSON"), named(entry)
    assert api.mine.owner.get("/me").status == 200


def test_case_100_a_million_keys_and_a_key_of_a_megabyte_are_too_large(api: Api) -> None:
    for body in (b"{" + b'"k":1,' * 1_000_000 + b'"k":1}', b'{"' + b"k" * 1024 * 1024 + b'":1}'):
        answer = api.mine.owner.post(api.mine.automations_path, body)
        assert (answer.status, answer.code) == (413, "TOO_LARGE")


def test_many_unknown_keys_are_told_in_few_words(api: Api) -> None:
    body = {f"k{n}": n for n in range(50_000)}
    answer = api.mine.owner.post(api.mine.automations_path, body)
    assert (answer.status, answer.code) == (422, "VALIDATION_FAILED")
    assert len(answer.error["details"]) <= 50


def test_another_content_type_is_415(api: Api) -> None:
    answer = api.mine.owner.call(
        "POST", api.mine.automations_path, "{}", headers={"content-type": "text/plain"}
    )
    assert (answer.status, answer.code) == (415, "UNSUPPORTED_MEDIA_TYPE")


INVALID: list[tuple[Any, str]] = [
    ({}, "name"),
    ([], ""),
    ("x", ""),
    (None, ""),
    ({"name": ""}, "name"),
    ({"name": "x" * 101}, "name"),
    ({"name": 1}, "name"),
    ({"name": None}, "name"),
    ({"name": "x", "description": "x" * 501}, "description"),
    ({"name": "x", "color": "red"}, "color"),
    ({"name": "x", "databaseId": "nonsense"}, "databaseId"),
    ({"name": "x", "triggers": [CREATED_TRIGGER] * 4}, "triggers"),
    ({"name": "x", "triggers": [{"type": "NOPE", "config": {}}]}, "triggers[0].type"),
    ({"name": "x", "triggers": [{"type": "RECORD_CREATED"}]}, "triggers[0].config"),
    (
        {"name": "x", "triggers": [{"type": "PROPERTY_CHANGED", "config": {}}]},
        "triggers[0].config.properties",
    ),
    ({"name": "x", "actions": [NOTIFY] * 51}, "actions"),
    ({"name": "x", "actions": [NOTIFY, {**NOTIFY, "retries": 21}]}, "actions[1].retries"),
    ({"name": "x", "actions": [{**NOTIFY, "retries": "1"}]}, "actions[0].retries"),
    ({"name": "x", "actions": [{**NOTIFY, "timeoutMs": 999}]}, "actions[0].timeoutMs"),
]


@pytest.mark.parametrize(("body", "path"), INVALID)
def test_a_body_against_the_schema_is_422_with_its_paths(api: Api, body: Any, path: str) -> None:
    sent = json_text.dumps(body)
    answer = api.mine.editor.post(api.mine.automations_path, sent)
    assert (answer.status, answer.code) == (422, "VALIDATION_FAILED")
    assert [detail["path"] for detail in answer.error["details"]] == [path]
    assert all(set(detail) == {"path", "message", "type"} for detail in answer.error["details"])


def test_a_refusal_never_repeats_what_was_sent(api: Api) -> None:
    canary = "canary-8c1f"
    bodies = [
        {"name": canary * 100},
        {"name": "x", "databaseId": canary},
        {"name": "x", "triggers": [{"type": canary, "config": {}}]},
        {
            "name": "x",
            "actions": [{"type": "CREATE_NOTIFICATION", "config": {"title": f"{{{{{canary}"}}],
        },
        {"name": "x", "actions": [{"type": "SEND_WEBHOOK", "config": {"url": canary}}]},
        {"name": "x", "condition": {"field": canary, "operator": canary}},
    ]
    for body in bodies:
        answer = api.mine.editor.post(api.mine.automations_path, body)
        assert answer.status == 422
        assert canary not in answer.text


def webhook_to(url: str) -> dict[str, Any]:
    return {"name": "x", "actions": [{"type": "SEND_WEBHOOK", "config": {"url": url}}]}


@pytest.mark.parametrize(
    "url",
    [
        "https://user:pw@example.com/",
        "https://example.com@127.0.0.1/",
        "http://example.com\\@127.0.0.1/",
        "http://example.com:0/",
        "http://example.com:65536/",
        "http://[::1/",
        "http://exa_mple..com/",
    ],
)
def test_case_096_a_url_that_nobody_could_call_is_refused_at_save(api: Api, url: str) -> None:
    answer = api.mine.editor.post(api.mine.automations_path, webhook_to(url))
    assert (answer.status, answer.code) == (422, "WEBHOOK_URL_FORBIDDEN")
    assert [detail["path"] for detail in answer.error["details"]] == ["actions[0].config.url"]
    assert url not in answer.text


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:9/", "http://localhost/", "https://a.test:22/", "https://{{trigger.a}}/"],
)
def test_where_a_host_leads_is_judged_when_it_is_called(api: Api, url: str) -> None:
    assert api.mine.editor.post(api.mine.automations_path, webhook_to(url)).status == 201


@pytest.mark.parametrize("condition", [{}, {"and": []}, {"xor": []}, [], 1, {"not": {}}])
def test_case_069_a_malformed_condition_is_refused_at_put(api: Api, condition: Any) -> None:
    made = api.mine.create_automation()
    path = f"/automations/{made['id']}/conditions"
    answer = api.mine.editor.put(path, {"condition": condition})
    assert (answer.status, answer.code) == (422, "CONDITION_INVALID")


@pytest.mark.parametrize(
    ("query", "path"),
    [({"limit": "0"}, "limit"), ({"limit": "201"}, "limit"), ({"status": "active"}, "status")],
)
def test_a_bad_query_is_422_and_an_unknown_one_is_ignored(
    api: Api, query: dict[str, str], path: str
) -> None:
    answer = api.mine.viewer.get(api.mine.automations_path, **query)
    assert (answer.status, answer.error["details"][0]["path"]) == (422, path)
    assert api.mine.viewer.get(api.mine.automations_path, color="red").status == 200


@pytest.mark.parametrize("cursor", ["", "x", "é", "A" * 43, "\0"])
def test_a_bad_cursor_is_400(api: Api, cursor: str) -> None:
    answer = api.mine.viewer.get(api.mine.automations_path, cursor=cursor)
    assert (answer.status, answer.code) == (400, "BAD_CURSOR")


def test_an_unknown_path_is_404_and_a_known_one_with_another_method_405(api: Api) -> None:
    unknown = api.mine.owner.get("/nowhere")
    assert (unknown.status, unknown.code) == (404, "NOT_FOUND")
    for method in ("POST", "PUT", "HEAD", "OPTIONS", "TRACE", "BREW"):
        answer = api.mine.owner.call(method, "/me")
        assert (answer.status, answer.code) == (405, "METHOD_NOT_ALLOWED")
        assert answer.headers["allow"] == "GET"


@pytest.mark.parametrize("end", ["\n", "\n\n", "\r", "\r\n", "/"])
def test_a_path_with_more_at_its_end_is_another_path(api: Api, end: str) -> None:
    for path in ("/me", api.mine.automations_path):
        answer = api.mine.owner.get(f"{path}{end}")
        assert (answer.status, answer.code) == (404, "NOT_FOUND")


@pytest.mark.usefixtures("api")
def test_every_answer_names_its_request() -> None:
    event = gateway_event("GET", "/api/v1/nowhere", None, {}, {})
    answer = send(event)
    assert answer.headers["x-request-id"] == event["requestContext"]["requestId"]
    assert answer.json["error"]["requestId"] == event["requestContext"]["requestId"]
    assert answer.headers["content-type"] == "application/json"
