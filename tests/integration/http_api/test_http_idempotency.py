"""Idempotency keys: one effect, one answer, however often and however fast a POST comes."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy.engine import Connection

from http_api.dispatch import carry_out
from http_api.idempotency import Answer as Answered
from http_api.idempotency import answer_once, keyed_request
from http_api.request import Request, read_event
from http_api.routing import ROUTES
from tests.integration.http_api.client import (
    WEBHOOK_TRIGGER,
    Answer,
    Api,
    Client,
    gateway_event,
)
from whenthen.domain.errors import ConflictError, UnavailableError
from whenthen.domain.kinds import Role
from whenthen.store import idempotency_keys
from whenthen.store.idempotency_keys import KeyedRequest

KEY = {"idempotency-key": "k1"}


def run_path(api: Api) -> str:
    return f"/automations/{api.mine.create_automation()['id']}/run"


def runs(api: Api) -> int:
    return int(api.sql("select count(*) as n from automation_runs")[0]["n"])


def test_case_039_a_repeated_post_has_one_effect_and_one_answer(api: Api) -> None:
    path = run_path(api)
    body = {"input": {"a": 1.10}}
    first = api.mine.editor.post(path, body, **KEY)
    second = api.mine.editor.post(path, body, **KEY)
    assert (first.status, second.status) == (202, 202)
    assert second.text == first.text
    assert runs(api) == 1
    assert len(api.sql("select 1 from automation_logs where message = 'run created'")) == 1


def test_case_039_the_key_with_another_body_is_a_conflict(api: Api) -> None:
    path = run_path(api)
    api.mine.editor.post(path, {"input": {"a": 1}}, **KEY)
    for other in ({"input": {"a": 2}}, {}, None, "{broken"):
        answer = api.mine.editor.post(path, other, **KEY)
        assert (answer.status, answer.code) == (409, "IDEMPOTENCY_CONFLICT")
    assert runs(api) == 1


def request_for(api: Api, path: str, body: Any, key: str) -> tuple[Any, Request]:
    entry = next(one for one in ROUTES if one.path.endswith("/automations/{automationId}/run"))
    event = gateway_event("POST", path, body, {}, {"idempotency-key": key})
    event["headers"]["authorization"] = f"Bearer {api.mine.editor.token}"
    return entry, read_event(event, {"automationId": path.split("/")[2]})


def test_case_039_fifty_at_once_start_one_run(api: Api) -> None:
    path = run_path(api)
    entry, request = request_for(api, path, {"input": {}}, "k1")

    def post(_: int) -> Any:
        try:
            return carry_out(api.context, entry, request).body["runId"]
        except ConflictError as error:
            return error.code

    with ThreadPoolExecutor(50) as pool:
        answers = set(pool.map(post, range(50)))
    (run,) = api.sql("select id from automation_runs")
    assert str(run["id"]) in answers
    assert answers <= {str(run["id"]), "IDEMPOTENCY_IN_PROGRESS"}


@contextmanager
def claimed_elsewhere(api: Api, request: KeyedRequest) -> Iterator[Callable[[], None]]:
    """Another process has claimed the key and not ended; the yielded call kills it."""
    connection: Connection = api.context.database.engine.connect()
    try:
        assert idempotency_keys.claim(connection, request) is None
        yield connection.invalidate
    finally:
        connection.close()


def test_case_054_a_key_is_in_progress_for_as_long_as_its_process_lives(api: Api) -> None:
    path = run_path(api)
    body = b"{}"
    user_id = api.mine.user_ids[Role.EDITOR]
    keyed = keyed_request(user_id, f"/api/v1{path}", "k1", body)
    with claimed_elsewhere(api, keyed) as die:
        waiting = api.mine.editor.post(path, body, **KEY)
        assert (waiting.status, waiting.code) == (409, "IDEMPOTENCY_IN_PROGRESS")
        die()
        # Nothing has to expire first.
        assert api.mine.editor.post(path, body, **KEY).status == 202
    assert runs(api) == 1


def test_a_refusal_is_repeated_although_its_cause_is_gone(api: Api) -> None:
    path = f"/databases/{api.mine.database_id}"
    records = f"{path}/records"
    api.mine.owner.patch(path, {"archived": True})
    first = api.mine.editor.post(records, {"properties": {}}, **KEY)
    assert (first.status, first.code) == (409, "ARCHIVED")
    api.mine.owner.patch(path, {"archived": False})
    again = api.mine.editor.post(records, {"properties": {}}, **KEY)
    assert (again.status, again.error) == (409, first.error)
    assert again.headers["x-request-id"] != first.headers["x-request-id"]
    fresh = api.mine.editor.post(records, {"properties": {}}, **{"idempotency-key": "k2"})
    assert fresh.status == 201


def test_what_a_refused_request_had_written_is_undone_though_its_refusal_is_kept(
    api: Api,
) -> None:
    members = f"/workspaces/{api.mine.workspace_id}/members"
    body = {"email": "new@example.test", "role": "OWNER"}
    refused = api.mine.clients[Role.ADMIN].post(members, body, **KEY)
    assert refused.status == 403
    assert api.sql("select 1 from users where email = 'new@example.test'") == []
    assert [row["status"] for row in api.sql("select status from idempotency_keys")] == [403]


@pytest.mark.parametrize(
    ("body", "status"),
    [("{broken", 400), ({"nonsense": 1}, 422), ({"input": {"a": "x" * 70_000}}, 413)],
)
def test_every_refusal_but_401_and_5xx_is_kept(api: Api, body: Any, status: int) -> None:
    path = run_path(api)
    answers = [api.mine.editor.post(path, body, **KEY) for _ in range(2)]
    assert [answer.status for answer in answers] == [status, status]
    assert answers[0].error == answers[1].error
    assert [row["status"] for row in api.sql("select status from idempotency_keys")] == [status]


def test_an_unknown_caller_leaves_no_key(api: Api) -> None:
    assert Client("wt_unknown").post(run_path(api), {}, **KEY).status == 401
    assert api.sql("select 1 from idempotency_keys") == []


def test_a_failure_of_ours_leaves_no_key(api: Api) -> None:
    path = run_path(api)
    api.sql("alter table automation_runs rename to hidden")
    assert api.mine.editor.post(path, {}, **KEY).status == 500
    api.sql("alter table hidden rename to automation_runs")
    assert api.sql("select 1 from idempotency_keys") == []
    assert api.mine.editor.post(path, {}, **KEY).status == 202


def test_something_that_is_away_leaves_no_key(api: Api) -> None:
    keyed = keyed_request(api.mine.user_ids[Role.EDITOR], "/x", "k1", b"")

    def away() -> Answered:
        raise UnavailableError("away")

    with pytest.raises(UnavailableError):
        api.context.database.transact(lambda c: answer_once(c, keyed, away, lambda: None))
    assert api.sql("select 1 from idempotency_keys") == []


def test_a_failure_at_the_key_itself_is_ours(api: Api) -> None:
    path = run_path(api)
    api.sql("alter table idempotency_keys rename to hidden")
    assert api.mine.editor.post(path, {}, **KEY).status == 500
    assert runs(api) == 0


def test_who_may_no_longer_see_the_answer_does_not_get_it_again(api: Api) -> None:
    path = run_path(api)
    assert api.mine.editor.post(path, {}, **KEY).status == 202
    api.sql("delete from members where user_id = :u", u=api.mine.user_ids[Role.EDITOR])
    assert api.mine.editor.post(path, {}, **KEY).status == 404


def test_a_key_is_of_one_person_and_one_path(api: Api) -> None:
    path, other_path = run_path(api), run_path(api)
    ids = [
        client.post(where, {}, **KEY).json["runId"]
        for client, where in (
            (api.mine.editor, path),
            (api.mine.owner, path),
            (api.mine.editor, other_path),
        )
    ]
    assert len(set(ids)) == 3


def test_a_key_is_forgotten_after_a_day(api: Api) -> None:
    path = run_path(api)
    api.mine.editor.post(path, {}, **KEY)
    api.context.database.clock_offset_s = 24 * 3600 - 60
    api.mine.editor.post(path, {}, **KEY)
    assert runs(api) == 1
    api.context.database.clock_offset_s = 24 * 3600 + 60
    assert api.mine.editor.post(path, {"input": {}}, **KEY).status == 202
    assert runs(api) == 2


@pytest.mark.parametrize("key", ["", "x" * 256, "a b", "é", "a\n"])
def test_a_bad_key_is_400(api: Api, key: str) -> None:
    answer = api.mine.editor.post(run_path(api), {}, **{"idempotency-key": key})
    assert (answer.status, answer.code) == (400, "BAD_HEADER")


def test_the_longest_key_is_taken_and_other_methods_do_not_look(api: Api) -> None:
    path = run_path(api)
    key = {"idempotency-key": "~" * 255}
    assert api.mine.editor.post(path, {}, **key).status == 202
    bad = {"idempotency-key": ""}
    assert api.mine.editor.call("GET", "/me", headers=bad).status == 200


def test_a_path_may_be_longer_than_an_index_entry(api: Api) -> None:
    path = "/automations/" + "x" * 8000 + "/run"
    assert api.mine.editor.post(path, {}, **KEY).status == 404


def secret_posts(api: Api) -> Iterator[Callable[[str], Answer]]:
    made = api.mine.create_automation(triggers=[WEBHOOK_TRIGGER])
    for path, body in (
        ("/me/tokens", {"name": "laptop"}),
        (f"/automations/{made['id']}/webhook/regenerate", None),
        (api.mine.automations_path, {"name": "Hook", "triggers": [WEBHOOK_TRIGGER]}),
    ):
        yield lambda key, path=path, body=body: api.mine.editor.post(  # type: ignore[misc]
            path, body, **{"idempotency-key": key}
        )


def test_secrets_and_tokens_are_repeated_as_null_and_kept_nowhere(api: Api) -> None:
    for post in secret_posts(api):
        key = uuid4().hex
        first, second = post(key), post(key)
        assert first.status == second.status < 300
        shown = {
            text for text in texts_in(first.json) if text.startswith(("wt_", "whsec_", "http"))
        }
        assert shown
        assert nulled(first.json, shown) == second.json
        kept = api.sql(
            "select coalesce(string_agg(response, ' '), '') as all from idempotency_keys"
        )
        assert not [text for text in shown if text in kept[0]["all"]]


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts_in(item)


def nulled(value: Any, texts: set[str]) -> Any:
    if isinstance(value, dict):
        return {key: nulled(item, texts) for key, item in value.items()}
    if isinstance(value, list):
        return [nulled(item, texts) for item in value]
    return None if value in texts else value
