"""Incoming webhooks: who is called, what is stored, and what is refused."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.integration.engine_world import arrival
from tests.integration.http_api.client import (
    CREATED_TRIGGER,
    NOTIFY,
    WEBHOOK_TRIGGER,
    Answer,
    Api,
    gateway_event,
    send,
)
from tests.integration.http_api.hooks import Hook, activate, execute, make_hook, match_outbox, post
from whenthen.domain import json_text, limits
from whenthen.engine.match_events import match_events

NOT_FOUND = {"code": "NOT_FOUND", "message": "not found"}


@pytest.fixture(scope="module")
def api(module_api: Api) -> Api:
    return module_api


@pytest.fixture
def hook(api: Api) -> Hook:
    return make_hook(api)


def input_after(hook: Hook, *args: Any, **kwargs: Any) -> Any:
    answer = hook.post(*args, **kwargs)
    assert answer.status == 202, answer.text
    (run,) = hook.runs()
    return run["input"]


# ---- accepted


def test_what_is_posted_becomes_a_run_of_that_automation(api: Api, hook: Hook) -> None:
    stranger = make_hook(api)
    answer = hook.post('{"event": "order.paid", "recordId": "r-1", "n": 1.10}')
    assert answer.status == 202
    assert set(answer.json) == {"eventId"}
    (run,) = hook.runs()
    assert run["event_id"] == answer.json["eventId"]
    assert answer.json["eventId"].startswith(f"hook:{api.mine.workspace_id}:")
    assert (run["trigger_type"], run["record_id"], run["status"]) == (
        "order.paid",
        "r-1",
        "PENDING",
    )
    assert json_text.dumps(run["input"]["payload"]["n"]) == "1.10"
    assert run["input"] == {
        "type": "order.paid",
        "payload": {"event": "order.paid", "recordId": "r-1", "n": run["input"]["payload"]["n"]},
        "workspaceId": str(api.mine.workspace_id),
        "automationContext": None,
    }
    assert stranger.runs() == []
    detail = api.mine.viewer.get(f"/automations/{hook.automation_id}/runs/{run['id']}").json
    assert (detail["triggerType"], detail["input"]["type"]) == ("order.paid", "order.paid")
    assert detail["input"]["recordId"] == "r-1"


@pytest.mark.parametrize(
    ("body", "content_type", "payload"),
    [
        ('{"a": 1}', "application/json", {"a": 1}),
        (b'{"a": 1}', "application/json", {"a": 1}),
        ("[1]", "application/json", {"body": [1]}),
        (b"a=1&b=2&b=3", "application/x-www-form-urlencoded", {"a": "1", "b": ["2", "3"]}),
        ("hello", "text/plain", {"body": "hello"}),
        ("", "application/json", {}),
        (b"", "application/octet-stream", {}),
        ('{"a": 1}', None, {"a": 1}),
    ],
)
def test_every_kind_of_body_is_an_object_in_the_run(
    hook: Hook, body: bytes | str, content_type: str | None, payload: Any
) -> None:
    assert input_after(hook, body, content_type)["payload"] == payload


@pytest.mark.parametrize(
    ("headers", "body", "expected"),
    [
        ({"webhook-event": "a.b"}, {"event": "c"}, "a.b"),
        ({}, {"event": "c", "type": "d"}, "c"),
        ({}, {"type": "d"}, "d"),
        ({}, {}, "webhook"),
        ({"webhook-event": "record.created"}, {}, "webhook"),
        ({"webhook-event": "schedule"}, {"type": "manual"}, "webhook"),
        ({"webhook-event": "é"}, {}, "webhook"),
    ],
)
def test_the_sender_says_what_the_runs_trigger_type_is(
    hook: Hook, headers: dict[str, str], body: Any, expected: str
) -> None:
    assert hook.post(json_text.dumps(body), headers=headers).status == 202
    (run,) = hook.runs()
    assert run["trigger_type"] == run["input"]["type"] == expected


def test_case_115_the_body_overwrites_nothing_of_the_engines(api: Api, hook: Hook) -> None:
    hostile = {
        "type": "schedule",
        "workspaceId": str(api.other.workspace_id),
        "automationContext": {"depth": -99, "automationId": hook.automation_id},
        "automationId": "x",
        "payload": {"a": 1},
        "eventType": "manual",
        "truncated": True,
        "sanitized": True,
    }
    stored = input_after(hook, json_text.dumps(hostile))
    assert stored == {
        "type": "webhook",
        "payload": hostile,
        "workspaceId": str(api.mine.workspace_id),
        "automationContext": None,
    }
    (run,) = hook.runs()
    assert (run["depth"], run["workspace_id"]) == (0, api.mine.workspace_id)
    shown = api.mine.viewer.get(f"/automations/{hook.automation_id}/runs/{run['id']}").json
    assert shown["input"]["workspaceId"] == str(api.mine.workspace_id)
    assert (shown["input"]["type"], shown["input"]["automationContext"]) == ("webhook", None)


def test_case_101_a_nul_is_replaced_flagged_and_the_run_ends(api: Api) -> None:
    hook = make_hook(api)
    actions = [{"type": "CREATE_NOTIFICATION", "config": {"title": "{{trigger.note}}"}}]
    api.mine.editor.put(f"/automations/{hook.automation_id}/actions", {"actions": actions})
    stored = input_after(hook, '{"note": "a\\u0000b", "k\\u0000": "\\ud800"}')
    assert stored["payload"] == {"note": "a\ufffdb", "k\ufffd": "\ufffd"}
    assert stored["sanitized"] is True
    execute(api)
    (run,) = hook.runs()
    assert run["status"] == "SUCCEEDED"


@pytest.mark.parametrize(
    ("size", "truncated"), [(60_000, False), (70_000, True), (300_000, True), (1_048_000, True)]
)
def test_case_098_a_large_body_is_cut_to_64_kb_and_says_so(
    hook: Hook, size: int, *, truncated: bool
) -> None:
    stored = input_after(hook, json_text.dumps({"event": "big", "x": "é" * (size // 2)}))
    assert stored.get("truncated", False) is truncated
    assert len(json_text.dumps(stored["payload"]).encode()) <= limits.PAYLOAD_MAX_BYTES
    assert stored["type"] == "big"


def test_case_100_json_of_the_deepest_legal_level_gets_through(api: Api) -> None:
    for body in ("[" * 64 + "]" * 64, '{"a":' * 64 + "1" + "}" * 64):
        hook = make_hook(api)
        assert input_after(hook, body)["payload"]
    assert api.sql("select * from dead_events") == []


def test_case_114_a_body_cannot_reach_another_workspaces_record(api: Api) -> None:
    record = api.other.create_record(Name="theirs")
    hook = make_hook(api)
    update = {"recordId": "{{trigger.recordId}}", "propertyValues": {"Name": "mine"}}
    actions = [{"type": "UPDATE_RECORD", "config": update}]
    api.mine.editor.put(f"/automations/{hook.automation_id}/actions", {"actions": actions})
    input_after(hook, json_text.dumps({"recordId": record["id"]}))
    execute(api)
    (run,) = hook.runs()
    assert (run["status"], run["error"]["code"]) == ("FAILED", "NOT_FOUND")
    assert api.other.viewer.get(f"/records/{record['id']}").json["properties"]["Name"] == "theirs"


def test_a_202_is_kept_when_the_automation_is_paused_before_the_match(api: Api, hook: Hook) -> None:
    assert hook.post().status == 202
    activate(api, hook.automation_id, "PAUSED")
    assert len(hook.runs()) == 1
    execute(api)
    (run,) = hook.runs()
    assert (run["status"], run["output"]) == ("SUCCEEDED", {"skipped": "automation_paused"})


def test_an_event_that_a_host_puts_on_the_stream_itself_starts_only_what_is_active(
    api: Api, hook: Hook
) -> None:
    event = {
        "id": "mine",
        "type": "webhook.received",
        "workspaceId": str(api.mine.workspace_id),
        "payload": {"automationId": hook.automation_id, "eventType": "x", "body": {"a": 1}},
    }
    match_events(api.context, [arrival(event)], [])
    activate(api, hook.automation_id, "PAUSED")
    match_events(api.context, [arrival({**event, "id": "late"})], [])
    (run,) = hook.runs()
    assert (run["trigger_type"], run["input"]["payload"]) == ("x", {"a": 1})
    assert run["event_id"] == f"evt:{api.mine.workspace_id}:mine"


# ---- once


@pytest.mark.parametrize("name", ["webhook-id", "idempotency-key"])
def test_case_087_a_repetition_has_the_same_event_and_no_second_run(hook: Hook, name: str) -> None:
    answers = [hook.post('{"n": 1}', headers={name: "d-1"}) for _ in range(4)]
    answers.append(hook.post('{"n": 2}', headers={name: "d-1"}))
    assert len(hook.runs()) == 1
    answers.append(hook.post('{"n": 3}', headers={name: "d-1"}))
    assert {answer.status for answer in answers} == {202}
    assert len({answer.json["eventId"] for answer in answers}) == 1
    (run,) = hook.runs()
    assert run["input"]["payload"] == {"n": 1}
    assert hook.api.sql("select * from outbox where event_id = :e", e=run["event_id"]) == []


def test_case_087_without_an_id_each_post_is_its_own_event(hook: Hook) -> None:
    ids = {hook.post('{"n": 1}').json["eventId"] for _ in range(3)}
    assert len(ids) == len(hook.runs()) == 3


def test_case_087_a_signed_request_replayed_in_its_time_runs_once(hook: Hook) -> None:
    body = b'{"n": 1}'
    headers = hook.signed(body)
    assert [hook.post(body, headers=headers).status for _ in range(5)] == [202] * 5
    assert len(hook.runs()) == 1


def test_case_087_twenty_at_once_with_one_id_are_one_run(api: Api, hook: Hook) -> None:
    with ThreadPoolExecutor(5) as pool:
        answers = list(
            pool.map(lambda n: hook.post(f'{{"n": {n}}}', headers={"webhook-id": "x"}), range(20))
        )
    assert {answer.status for answer in answers} == {202}
    assert (
        len(
            api.sql(
                "select * from outbox where payload->>'automationId' = :a", a=hook.automation_id
            )
        )
        == 1
    )
    assert len(hook.runs()) == 1


def test_one_automations_senders_cannot_take_anothers_ids(api: Api) -> None:
    first, second = make_hook(api), make_hook(api)
    ids = {hook.post(headers={"webhook-id": "same"}).json["eventId"] for hook in (first, second)}
    assert len(ids) == 2
    assert len(first.runs()) == len(second.runs()) == 1


def test_the_longest_id_keeps_its_namespace_through_the_matcher(hook: Hook) -> None:
    given = "x" * 255
    answer = hook.post(headers={"webhook-id": given})
    (run,) = hook.runs()
    assert run["event_id"] == answer.json["eventId"]
    assert run["event_id"].endswith(f"{hook.automation_id}/{given}")


def test_case_087_what_is_not_durable_is_a_5xx_and_may_come_again(api: Api, hook: Hook) -> None:
    api.sql("alter table outbox rename to outbox_away")
    lost = hook.post(headers={"webhook-id": "d-1"})
    api.sql("alter table outbox_away rename to outbox")
    assert lost.status >= 500
    assert "eventId" not in lost.text
    assert hook.post(headers={"webhook-id": "d-1"}).status == 202
    assert len(hook.runs()) == 1


# ---- nobody there


def dead_paths(api: Api) -> Iterator[str]:
    yield "/webhooks/incoming/" + "A" * 43
    yield "/webhooks/incoming/x"
    yield "/webhooks/incoming/%00"
    yield "/webhooks/incoming/é"
    yield "/webhooks/incoming/{token}"
    yield "/webhooks/incoming/"
    yield make_hook(api, active=False).path
    for status in ("PAUSED", "ARCHIVED"):
        hook = make_hook(api)
        activate(api, hook.automation_id, status)
        yield hook.path
    hook = make_hook(api)
    triggers = {"triggers": [CREATED_TRIGGER]}
    api.mine.editor.put(f"/automations/{hook.automation_id}/triggers", triggers)
    yield hook.path
    hook = make_hook(api)
    regenerate(api, hook.automation_id)
    yield hook.path
    yield make_hook(api).path + "="
    yield make_hook(api).path[:-1]


def test_unknown_and_inactive_have_the_same_404_whatever_is_sent(api: Api) -> None:
    for path in dead_paths(api):
        for body in ("{}", "{broken", "x" * (limits.REQUEST_MAX_BYTES + 1)):
            answer = post(path, body, headers={"webhook-signature": "undefined"})
            assert (answer.status, answer.error) == (404, NOT_FOUND), path


def test_case_089_a_webhook_without_a_secret_in_its_row_cannot_be_called(
    api: Api, hook: Hook
) -> None:
    for digest in ("null", "''", "sha256('')"):
        api.sql(
            f"update automation_triggers set secret_hash = {digest} where automation_id = :a",
            a=hook.automation_id,
        )
        for path in (hook.path, "/webhooks/incoming/", "/webhooks/incoming/=="):
            for headers in ({}, {"webhook-signature": "undefined"}):
                assert post(path, "{}", headers=headers).status in {401, 404}
    assert hook.runs() == []


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
def test_other_methods_are_405(hook: Hook, method: str) -> None:
    answer = send(gateway_event(method, hook.path, None, {}, {}))
    assert (answer.status, answer.code) == (405, "METHOD_NOT_ALLOWED")
    assert answer.headers["allow"] == "POST"


# ---- refused


@pytest.mark.parametrize(
    ("body", "content_type", "headers", "refusal"),
    [
        ("{", "application/json", {}, (400, "BAD_JSON")),
        ('{"x":' + "9" * 5_000 + "}", "application/json", {}, (400, "BAD_JSON")),
        ("[" * 200_000, "application/json", {}, (400, "BAD_JSON")),
        ('{"x":1e999}', "application/json", {}, (400, "BAD_JSON")),
        (b"\xff", "application/json", {}, (400, "BAD_JSON")),
        ("<x/>", "application/xml", {}, (415, "UNSUPPORTED_MEDIA_TYPE")),
        (b"x", "image/png", {}, (415, "UNSUPPORTED_MEDIA_TYPE")),
        (b"x" * 1_048_577, "text/plain", {}, (413, "TOO_LARGE")),
        ("é" * 524_289, "text/plain", {}, (413, "TOO_LARGE")),
        ("{}", "application/json", {"webhook-id": ""}, (400, "BAD_HEADER")),
        ("{}", "application/json", {"webhook-id": "x" * 256}, (400, "BAD_HEADER")),
        ("{}", "application/json", {"idempotency-key": "é"}, (400, "BAD_HEADER")),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_case_100_what_cannot_be_read_is_refused_and_leaves_nothing(
    hook: Hook,
    body: bytes | str,
    content_type: str,
    headers: dict[str, str],
    refusal: tuple[int, str],
) -> None:
    answer = hook.post(body, content_type, headers)
    assert (answer.status, answer.code) == refusal
    assert hook.runs() == []
    assert hook.api.mine.owner.get("/me").status == 200


def test_a_body_of_exactly_a_megabyte_is_accepted(hook: Hook) -> None:
    assert hook.post(b"x" * 1_048_576, "text/plain").status == 202


# ---- signed

BODY = '{ "a": 1.0,\n "b":"é\\u00e9", "a": 2 }\n'.encode()


@pytest.mark.parametrize("as_text", [True, False], ids=["text", "base64"])
def test_case_083_a_signature_is_checked_over_the_exact_bytes(hook: Hook, *, as_text: bool) -> None:
    headers = {name.title(): value for name, value in hook.signed(BODY).items()}
    body = BODY.decode() if as_text else BODY
    answer = hook.post(body, headers=headers)
    assert answer.status == 202
    (run,) = hook.runs()
    assert run["input"]["payload"] == {"a": 2, "b": "éé"}


@pytest.mark.parametrize("required", [True, False])
def test_case_083_one_flipped_space_or_newline_is_401(api: Api, *, required: bool) -> None:
    hook = make_hook(api, requireSignature=required)
    headers = hook.signed(BODY)
    for body in (BODY[:-1], BODY.replace(b": 1", b":\t1"), b"{broken"):
        refused(hook.post(body, headers=headers))
    assert hook.runs() == []


@pytest.mark.parametrize(
    "signature", ["", "undefined", "sha256=é", "\0", "\ud800", "v1,x" * 2_500, "v1,é"], ids=repr
)
def test_case_085_a_signature_that_is_none_is_401(hook: Hook, signature: str) -> None:
    refused(hook.post("{}", headers={**hook.signed(b"{}"), "webhook-signature": signature}))


@pytest.mark.parametrize("timestamp", ["", "x", "１２３", "1.5", "\0"], ids=repr)  # noqa: RUF001
def test_case_085_a_timestamp_that_is_none_is_401(hook: Hook, timestamp: str) -> None:
    refused(hook.post("{}", headers={**hook.signed(b"{}"), "webhook-timestamp": timestamp}))


@pytest.mark.parametrize(("late_s", "status"), [(299, 202), (301, 401), (-298, 202), (-303, 401)])
def test_a_signature_is_good_for_300_seconds_by_the_databases_clock(
    hook: Hook, late_s: int, status: int
) -> None:
    # Ahead, the seconds that have begun count for one, and the request takes its time.
    assert hook.post("{}", headers=hook.signed(b"{}", late_s=late_s)).status == status


def test_case_089_a_webhook_that_must_be_signed_refuses_what_is_not(api: Api) -> None:
    hook = make_hook(api, requireSignature=True)
    refused(hook.post())
    refused(hook.post(headers={"webhook-id": "msg_1"}))
    refused(hook.post(headers=hook.signed(b"{}", secret="whsec_" + "A" * 44)))
    assert hook.post(headers=hook.signed(b"{}")).status == 202
    assert len(hook.runs()) == 1


def test_a_given_secret_is_the_url_and_the_key(api: Api) -> None:
    hook = make_hook(
        api, secret="whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", requireSignature=True
    )
    assert hook.post(headers=hook.signed(b"{}")).status == 202
    refused(hook.post())


def refused(answer: Answer) -> None:
    assert (answer.status, answer.code) == (401, "WEBHOOK_SIGNATURE_INVALID")
    assert "www-authenticate" not in answer.headers


# ---- another URL


def regenerate(api: Api, automation_id: str) -> Answer:
    return api.mine.editor.post(f"/automations/{automation_id}/webhook/regenerate")


def test_a_regenerated_url_is_shown_once_and_the_old_one_is_dead(api: Api, hook: Hook) -> None:
    answer = regenerate(api, hook.automation_id)
    assert answer.status == 200
    assert set(answer.json) == {"url", "secret"}
    assert post(hook.path, "{}").status == 404
    fresh = Hook(api, hook.automation_id, answer.json["url"], answer.json["secret"])
    assert fresh.token != hook.token
    assert fresh.post(headers=fresh.signed(b"{}")).status == 202
    refused(fresh.post(headers=hook.signed(b"{}")))
    detail = api.mine.owner.get(f"/automations/{hook.automation_id}")
    assert (detail.json["version"], "webhook" in detail.json) == (1, False)
    (entry,) = api.sql(
        "select * from audit_log where action = 'webhook.regenerated' and resource_id = :a",
        a=hook.automation_id,
    )
    assert (entry["actor_type"], entry["resource_type"]) == ("USER", "automation")
    assert entry["workspace_id"] == api.mine.workspace_id


def test_an_automation_without_a_webhook_has_none_to_regenerate(api: Api) -> None:
    for triggers in ([], [CREATED_TRIGGER]):
        made = api.mine.create_automation(triggers=triggers)
        answer = regenerate(api, made["id"])
        assert (answer.status, answer.code) == (409, "NO_WEBHOOK_TRIGGER")


def test_an_archived_automation_gets_no_other_url(api: Api, hook: Hook) -> None:
    activate(api, hook.automation_id, "ARCHIVED")
    answer = regenerate(api, hook.automation_id)
    assert (answer.status, answer.code) == (409, "ARCHIVED")


def test_a_put_without_a_secret_keeps_the_url(api: Api, hook: Hook) -> None:
    trigger = {**WEBHOOK_TRIGGER, "config": {"requireSignature": True}}
    path = f"/automations/{hook.automation_id}/triggers"
    put = api.mine.editor.put(path, {"triggers": [CREATED_TRIGGER, trigger]})
    assert "webhook" not in put.json
    refused(hook.post())
    assert hook.post(headers=hook.signed(b"{}")).status == 202


# ---- not told to anybody


def test_case_112_the_secret_is_in_no_log_line_no_row_and_no_get(
    api: Api, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    hook = make_hook(api)
    shown = regenerate(api, hook.automation_id).json
    hook = Hook(api, hook.automation_id, shown["url"], shown["secret"])
    actions = {"actions": [NOTIFY]}
    api.mine.editor.put(f"/automations/{hook.automation_id}/actions", actions)
    texts = [hook.post('{"a": 1}', headers=hook.signed(b'{"a": 1}')).text]
    texts += [hook.post("{").text, hook.post(headers={"webhook-signature": "v1,x"}).text]
    api.sql("alter table outbox rename to outbox_away")
    texts.append(hook.post().text)
    api.sql("alter table outbox_away rename to outbox")
    activate(api, hook.automation_id, "PAUSED")
    texts.append(hook.post().text)
    activate(api, hook.automation_id)
    match_outbox(api)
    execute(api)
    owner, path = api.mine.owner, f"/automations/{hook.automation_id}"
    for get in (path, f"{path}/runs", api.mine.automations_path, "/me/notifications"):
        texts.append(owner.get(get).text)
    tables = api.sql("select tablename from pg_tables where schemaname = 'public'")
    for table in tables:
        texts += [str(row) for row in api.sql(f"select t::text from {table['tablename']} t")]
    texts += [*capfd.readouterr(), caplog.text, *map(repr, caplog.records)]
    for record in caplog.records:
        texts.append(repr(record.__dict__))
    key = hook.secret.removeprefix("whsec_")
    for text in texts:
        assert hook.token not in text
        assert key not in text
        assert key.rstrip("=") not in text
