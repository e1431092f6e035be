"""Secrets in webhooks: sent to the target, and written down nowhere."""

import base64
import gzip
import json
import logging
import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from uuid import UUID

import boto3
import pytest
from botocore.stub import Stubber
from standardwebhooks import Webhook

import dlq_notifier.handler
import run_executor.handler
from tests.conftest import settings_for
from tests.integration.canary import CANARIES, IN_BODY, IN_HEADER, IN_KEY, everything_stored, shown
from tests.integration.conftest import Aws
from tests.integration.engine_world import World
from tests.integration.statements import counted
from tests.integration.test_handlers import Remaining, sqs_event
from tests.integration.webhook_target import Hit, Target, echo, respond
from whenthen.actions.registry import clear_test_executors, register_test_executor
from whenthen.actions.requests import StepRequest, StepSuccess
from whenthen.domain import json_text
from whenthen.domain.errors import FatalError
from whenthen.domain.kinds import ActionType
from whenthen.domain.schemas.messages import encode
from whenthen.engine import composition, manage_secrets
from whenthen.engine.context import Context
from whenthen.engine.manage_secrets import encryption_context
from whenthen.store.new_id import new_id

CAP = 16 * 1024
WITH_SECRETS: dict[str, Any] = {
    "headers": {"authorization": "Bearer {{secrets.IN_HEADER}}"},
    "body": {"password": "{{secrets.IN_BODY}}", "text": "is {{ secrets.IN_BODY }}."},
    "signingSecret": "{{secrets.IN_KEY}}",
}


@pytest.fixture
def target() -> Iterator[Target]:
    made = Target()
    yield made
    made.wait_until_idle()
    made.close()


@pytest.fixture
def world(migrated_url: str, aws: Aws, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A world with a key of secrets, whose deployment allows webhooks to loopback."""
    environment = {
        "EVENT_STREAM_NAME": aws.stream,
        "RUN_QUEUE_URL": aws.queue_url,
        "NOTICE_QUEUE_URL": aws.notice_url,
        "WEBHOOK_ALLOW_HOSTS": "127.0.0.1",
        "SECRETS_KEY_ARN": boto3.client("kms").create_key()["KeyMetadata"]["Arn"],
    }
    for name, value in {"DATABASE_URL": migrated_url, **environment}.items():
        monkeypatch.setenv(name, value)
    logger = logging.getLogger("whenthen")
    before = (logger.handlers, logger.level, logger.propagate)
    composition.process_context.cache_clear()
    made = World(Context(settings_for(migrated_url, **environment), "test"))
    yield made
    made.context.database.close()
    for service in ("run-executor", "dlq-notifier"):
        composition.process_context(service).database.close()
    composition.process_context.cache_clear()
    logger.handlers, logger.level, logger.propagate = before
    clear_test_executors()


def put(world: World, name: str, value: str) -> None:
    world.in_transaction(
        lambda c: manage_secrets.put(c, world.owner, world.context.secrets_key, name, value)
    )


def put_canaries(world: World) -> None:
    for name, value in CANARIES.items():
        put(world, name, value)


def send(url: str, *, retries: int = 0, timeout_ms: int = 10_000, **config: Any) -> dict[str, Any]:
    return {
        "type": "SEND_WEBHOOK",
        "config": {"url": url, **config},
        "retries": retries,
        "timeoutMs": timeout_ms,
    }


def start(world: World, *actions: Any) -> UUID:
    """Begin a run of these actions and execute it as far as it goes."""
    automation_id = world.add_automation(list(actions))
    world.match(world.created_event(world.add_record(Name="Tap"), Name="Tap"))
    world.sql("update automations set status = 'PAUSED', active_since = null")
    world.sql("update automations set status = 'ACTIVE' where id = :a", a=automation_id)
    (run,) = world.sql("select id from automation_runs where automation_id = :a", a=automation_id)
    world.execute()
    run_id: UUID = run["id"]
    return run_id


def run_of(world: World, run_id: UUID) -> Any:
    (run,) = world.sql("select * from automation_runs where id = :r", r=run_id)
    return run


def outputs(world: World, run_id: UUID) -> list[Any]:
    return [step["output"] for step in world.steps(run_id)]


# --------------------------------------------------------------------------------- what goes out


def test_a_webhook_carries_the_secrets_that_it_names(world: World, target: Target) -> None:
    put_canaries(world)
    run_id = start(world, send(target.on("/", respond(200)), **WITH_SECRETS))
    assert run_of(world, run_id)["status"] == "SUCCEEDED"
    (hit,) = target.hits
    assert hit.headers["authorization"] == f"Bearer {IN_HEADER}"
    assert json.loads(hit.body) == {"password": IN_BODY, "text": f"is {IN_BODY}."}
    assert Webhook(IN_KEY).verify(hit.body, dict(hit.headers)) == json.loads(hit.body)


@pytest.mark.parametrize("value", ["x" * 8, "x" * 4096, "🎈" * 4096])
def test_a_secret_of_any_legal_length_is_sent_whole(
    world: World, target: Target, value: str
) -> None:
    put(world, "A", value)
    run_id = start(world, send(target.on("/", echo), body="{{secrets.A}}"))
    assert target.hits[0].body.decode() == value
    assert run_of(world, run_id)["status"] == "SUCCEEDED"
    assert value[:8] not in str(run_of(world, run_id)["output"])


def test_only_named_secrets_are_opened_with_one_query_and_once(
    world: World, target: Target
) -> None:
    put_canaries(world)
    put(world, "OTHER", "of no concern")
    opened: list[Any] = []
    client = world.context.secrets_key._step_client
    client.meta.events.register(
        "before-parameter-build.kms.Decrypt", lambda params, **_: opened.append(params)
    )
    url = target.on("/", respond(200))
    with counted(world.context.database) as cost:
        start(world, send(url, **WITH_SECRETS))
    asking = [one for one in cost.statements if "from secrets" in one]
    assert (len(asking), len(opened)) == (1, 3)
    contexts = [encryption_context(world.workspace_id, name) for name in CANARIES]
    assert sorted(str(one["EncryptionContext"]) for one in opened) == sorted(map(str, contexts))
    start(world, send(url, **WITH_SECRETS))
    assert len(opened) == 3
    with counted(world.context.database) as cost:
        start(world, send(url), {"type": "CREATE_NOTIFICATION", "config": {"title": "Hi"}})
    assert not [one for one in cost.statements if "from secrets" in one]


def test_a_secret_that_is_set_anew_or_deleted_is_so_at_once(world: World, target: Target) -> None:
    url = target.on("/", respond(200))
    for value in ("first value", "second value"):
        put(world, "A", value)
        start(world, send(url, body="{{secrets.A}}"))
    assert [hit.body for hit in target.hits] == [b"first value", b"second value"]
    world.in_transaction(lambda c: manage_secrets.delete(c, world.owner, "A"))
    run_id = start(world, send(url, body="{{secrets.A}}"))
    error = run_of(world, run_id)["error"]
    assert (error["code"], error["message"]) == ("SECRET_UNKNOWN", "body: no secret secrets.A")
    assert len(target.hits) == 2


def test_a_retry_sends_what_the_secret_is_by_then(world: World, target: Target) -> None:
    url = target.on("/", respond(503), respond(200))
    put(world, "A", "first value")
    run_id = start(world, send(url, retries=1, body="{{secrets.A}}"))
    put(world, "A", "second value")
    world.turn_clock(10)
    world.execute()
    assert run_of(world, run_id)["status"] == "SUCCEEDED"
    assert [hit.body for hit in target.hits] == [b"first value", b"second value"]


# ------------------------------------------------------------------------------------- refused


@pytest.mark.parametrize(
    "action",
    [
        {"headers": {"x": "{{secrets.NOBODY}}"}},
        {"body": ["{{secrets.NOBODY}}"]},
        {"signingSecret": "{{secrets.NOBODY}}"},
        {"body": "{{secrets.in_body}}"},
    ],
)
def test_an_unknown_secret_fails_the_run_and_sends_nothing(
    world: World, target: Target, action: dict[str, Any]
) -> None:
    put_canaries(world)
    run_id = start(world, send(target.on("/", respond(200)), retries=3, **action))
    run = run_of(world, run_id)
    assert (run["status"], run["error"]["code"]) == ("FAILED", "SECRET_UNKNOWN")
    assert run["error"]["attempts"] == 1
    assert target.accepted == 0


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        # Saving refuses these; whatever has written them, they are not sent.
        ("/{{secrets.IN_BODY}}", "", "SECRET_UNKNOWN"),
        ("/{{secrets.IN_BODY}}", "{{secrets.IN_BODY}}", "ACTION_CONFIG_INVALID"),
        ("/", "{{secrets.IN_BODY.x}}", "ACTION_CONFIG_INVALID"),
    ],
)
def test_a_secret_does_not_get_into_a_url(
    world: World, target: Target, path: str, body: str, code: str
) -> None:
    put_canaries(world)
    target.on("/", respond(200))
    run = run_of(world, start(world, send(target.url + path, body=body)))
    assert (run["status"], run["error"]["code"]) == ("FAILED", code)
    assert target.accepted == 0


def test_other_actions_know_no_secrets(world: World) -> None:
    put_canaries(world)
    note = {"type": "CREATE_NOTIFICATION", "config": {"title": "{{secrets.IN_BODY}}"}}
    run = run_of(world, start(world, note))
    assert run["error"]["code"] == "SECRET_UNKNOWN"
    assert world.sql("select 1 from notifications") == []


def test_another_workspaces_secret_is_unknown_and_its_ciphertext_does_not_open(
    world: World, target: Target
) -> None:
    other = World(world.context)
    put(other, "A", "of the other workspace")
    url = target.on("/", respond(200))
    run = run_of(world, start(world, send(url, body="{{secrets.A}}")))
    assert run["error"]["code"] == "SECRET_UNKNOWN"
    # Known to this process by now, and still not to this workspace.
    start_in_other = start(other, send(url, body="{{secrets.A}}"))
    assert run_of(other, start_in_other)["status"] == "SUCCEEDED"
    world.sql(
        "insert into secrets (id, workspace_id, name, ciphertexts)"
        " select gen_random_uuid(), :w, name, ciphertexts from secrets",
        w=world.workspace_id,
    )
    run = run_of(world, start(world, send(url, retries=3, body="{{secrets.A}}")))
    assert (run["status"], run["error"]["code"]) == ("FAILED", "UNEXPECTED")
    assert run["error"]["message"] == "the secret A cannot be decrypted"
    assert len(target.hits) == 1


# --------------------------------------------------------------------------- a key that fails


def failing(world: World, code: str, status: int) -> None:
    """Let the key answer the next call with an error, and then no other call."""
    client = boto3.client("kms")
    stubber = Stubber(client)
    stubber.add_client_error("decrypt", code, http_status_code=status)
    stubber.activate()
    world.context.secrets_key.__dict__["_step_client"] = client


@pytest.mark.parametrize(
    ("code", "status", "kept"),
    [
        ("ThrottlingException", 400, "AWS_ThrottlingException"),
        ("LimitExceededException", 400, "AWS_LimitExceededException"),
        ("KMSInternalException", 500, "AWS_KMSInternalException"),
        ("DependencyTimeoutException", 503, "AWS_DependencyTimeoutException"),
        ("AccessDeniedException", 400, None),
        ("DisabledException", 400, None),
        ("KMSInvalidStateException", 400, None),
        ("InvalidCiphertextException", 400, None),
    ],
)
def test_what_passes_is_tried_again_and_what_does_not_is_the_end(
    world: World, target: Target, code: str, status: int, kept: str | None
) -> None:
    put(world, "A", "some value")
    failing(world, code, status)
    run_id = start(world, send(target.on("/", respond(200)), retries=1, body="{{secrets.A}}"))
    (step,) = world.steps(run_id)
    if kept is None:
        assert run_of(world, run_id)["status"] == "FAILED"
        assert step["error"]["message"] == "the secret A cannot be decrypted"
        assert target.accepted == 0
        return
    assert (run_of(world, run_id)["status"], step["error"]["code"]) == ("PENDING", kept)
    del world.context.secrets_key.__dict__["_step_client"]
    world.turn_clock(10)
    world.execute()
    assert run_of(world, run_id)["status"] == "SUCCEEDED"
    assert [hit.body for hit in target.hits] == [b"some value"]


def test_a_key_that_does_not_answer_ends_at_the_steps_deadline(
    world: World, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(world, "A", "some value")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        monkeypatch.setenv("AWS_ENDPOINT_URL_KMS", endpoint)
        action = send(target.on("/", respond(200)), timeout_ms=1_000, body="{{secrets.A}}")
        run = run_of(world, start(world, {**action, "retries": 3}))
    assert (run["status"], run["error"]["code"]) == ("FAILED", "ACTION_TIMEOUT")
    assert run["error"]["attempts"] == 1
    assert target.accepted == 0


def test_without_a_key_the_run_says_so(world: World, target: Target) -> None:
    put(world, "A", "some value")
    del world.context.__dict__["secrets_key"]
    world.context.settings = replace(world.context.settings, secrets_key_arn=None)
    run = run_of(world, start(world, send(target.on("/", respond(200)), body="{{secrets.A}}")))
    assert (run["status"], run["error"]["code"]) == ("FAILED", "UNEXPECTED")
    assert run["error"]["message"] == "secrets are not set up: SECRETS_KEY_ARN is missing"


# --------------------------------------------------------------------------- written down nowhere


def replay(connection: socket.socket, hit: Hit) -> None:
    """Answer with all that this path was ever sent, in every place that is kept of an answer."""
    path = hit.target.partition("?")[0]
    sent = REPLAYED.setdefault(path, [])
    sent.append(hit)
    first = sent[0]
    key = first.headers.get("authorization", "")
    said = {
        "headers": dict(first.headers),
        "body": first.body.decode(),
        "parsed": json.loads(first.body),
        "base64": base64.b64encode(first.body).decode(),
        first.body.decode(): [key],
    }
    respond(
        200,
        json_text.dumps(said),
        content_type="application/json",
        location=f"/next?token={base64.urlsafe_b64encode(key.encode()).decode()}",
        # What is kept of a header ends within the secret.
        x_request_id="r" * 1005 + key,
    )(connection, hit)


REPLAYED: dict[str, list[Hit]] = {}


def refuse_loudly(status: int) -> Callable[[socket.socket, Hit], None]:
    def behave(connection: socket.socket, hit: Hit) -> None:
        said = hit.headers["authorization"]
        respond(status, hit.body, location=f"/?{said}", x_request_id=said, retry_after=said)(
            connection, hit
        )

    return behave


def flood(connection: socket.socket, hit: Hit) -> None:
    """Repeat what was said until long after the cap, so that the cap cuts it somewhere."""
    pieces = (hit.headers["authorization"].encode() + b" " + hit.body + b"\n") * 500
    respond(200, pieces, content_type="text/plain")(connection, hit)


def packed_flood(connection: socket.socket, hit: Hit) -> None:
    said = json.dumps({"all": (hit.headers["authorization"] + hit.body.decode()) * 500})
    respond(200, gzip.compress(said.encode()), content_encoding="gzip")(connection, hit)


def execute_by_handler(world: World) -> None:
    """Execute and announce all that is due as the functions do, until nothing is."""
    for service in ("run-executor", "dlq-notifier"):
        database = composition.process_context(service).database
        database.clock_offset_s = world.context.database.clock_offset_s
    while due := world.pending_ids():
        event = sqs_event(*(encode(run_id) for run_id in due[:5]))
        run_executor.handler.lambda_handler(event, Remaining())


def test_case_110_a_canary_is_in_no_table_log_metric_message_or_notification(
    world: World,
    aws: Aws,
    target: Target,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    put_canaries(world)
    REPLAYED.clear()
    composition.process_context("run-executor")
    # What libraries say goes wherever their level lets it.
    caplog.set_level("DEBUG")
    told = {
        "type": "CREATE_NOTIFICATION",
        "config": {"title": "{{actions[0].output.body.parsed}}", "body": "{{record.Name}}"},
    }
    kept = {
        "type": "UPDATE_RECORD",
        "config": {
            "recordId": "from_trigger",
            "propertyValues": {"Name": "{{actions[0].output.body.body}}"},
        },
    }
    echoing = target.on("/replay", replay)
    later = send(echoing, body={"again": "{{actions[0].output.body}}"}, retries=1)
    for actions in (
        [send(echoing, **WITH_SECRETS), told, kept, later],
        *(
            [send(target.on(f"/{status}", refuse_loudly(status)), **WITH_SECRETS)]
            for status in (302, 400, 429, 500)
        ),
        [send(target.on("/flood", flood), **WITH_SECRETS)],
        [send(target.on("/packed", packed_flood), **WITH_SECRETS)],
        [send(target.on("/no-http", lambda c, h: c.sendall(h.body * 2)), **WITH_SECRETS)],
    ):
        world.add_automation(actions)
    world.match(world.created_event(world.add_record(Name="Tap"), Name="Tap"))
    execute_by_handler(world)
    notices = [json_text.dumps(body) for body in aws.noticed()]
    assert len(notices) == 2
    dlq_notifier.handler.lambda_handler(sqs_event(*notices), object())
    statuses = sorted(run["status"] for run in world.runs())
    assert statuses == ["DEAD_LETTER"] * 2 + ["FAILED"] * 3 + ["SUCCEEDED"] * 3
    # The target has them, and so this test would find them.
    assert len(shown(str(hit.headers) + hit.body.decode() for hit in target.hits)) > 20
    said = capsys.readouterr()
    assert "automations.actions" in said.out
    streamed = [json_text.dumps(record) for record in aws.stream_records()]
    queued = [json_text.dumps(body) for body in aws.queued()]
    logged = [caplog.text, *(str(vars(record)) for record in caplog.records)]
    assert shown([*everything_stored(world), *said, *logged]) == []
    assert shown([*streamed, *queued, *notices]) == []
    assert len(world.sql("select 1 from notifications")) == 3


def test_a_later_target_that_gives_back_an_earlier_ones_secret_is_redacted(
    world: World, target: Target
) -> None:
    put_canaries(world)
    remembered: list[bytes] = []

    def learn(connection: socket.socket, hit: Hit) -> None:
        remembered.append(hit.headers["authorization"].encode() + hit.body)
        respond(200)(connection, hit)

    def tell(connection: socket.socket, hit: Hit) -> None:
        respond(200, remembered[0])(connection, hit)

    second = target.on("/tell", respond(503), tell)
    run_id = start(world, send(target.on("/learn", learn), **WITH_SECRETS), send(second, retries=1))
    assert run_of(world, run_id)["status"] == "PENDING"
    # Another worker takes it up, which has not seen the first step.
    world.context.database.close()
    world.context = Context(world.context.settings, "another")
    world.turn_clock(10)
    world.execute()
    assert run_of(world, run_id)["status"] == "SUCCEEDED"
    assert "•••" in outputs(world, run_id)[1]["body"]
    assert shown(everything_stored(world)) == []


class Memory:
    """A target that gives back whatever it was last sent."""

    def __init__(self, target: Target) -> None:
        self.learned = b""
        self.learns = target.on("/learn", self._learn)
        self.tells = target.on("/tell", self._tell)
        self.refuses = target.on("/refuse", respond(400))

    def _learn(self, connection: socket.socket, hit: Hit) -> None:
        self.learned = hit.headers["authorization"].encode() + hit.body
        respond(200)(connection, hit)

    def _tell(self, connection: socket.socket, hit: Hit) -> None:
        respond(200, self.learned or b"nothing")(connection, hit)


def execute_elsewhere(world: World) -> None:
    """Let a worker that knows nothing of what went before take up what is due."""
    world.context.database.close()
    world.context = Context(world.context.settings, "another")
    world.execute()


def test_a_retried_run_hides_what_a_later_action_sent_before(world: World, target: Target) -> None:
    put_canaries(world)
    memory = Memory(target)
    learn = send(memory.learns, **WITH_SECRETS)
    run_id = start(world, send(memory.tells), learn, send(memory.refuses))
    assert outputs(world, run_id)[0]["body"] == "nothing"
    world.retry(run_id, from_="start")
    execute_elsewhere(world)
    assert run_of(world, run_id)["status"] == "FAILED"
    assert "•••" in outputs(world, run_id)[3]["body"]
    assert shown(everything_stored(world)) == []


def test_a_retried_run_hides_what_an_action_sent_that_is_no_more(
    world: World, target: Target
) -> None:
    put_canaries(world)
    memory = Memory(target)
    learn, told = send(memory.learns, **WITH_SECRETS), {"title": "{{actions[2].output.body}}"}
    notify = {"type": "CREATE_NOTIFICATION", "config": told}
    run_id = start(world, learn, send(memory.refuses), send(memory.tells), notify)
    # The latest version names no secret, nor does its refusing target refuse.
    target.on("/refuse", respond(200))
    world.sql(
        "insert into automation_versions (automation_id, version, schema, name, database_id,"
        " triggers, condition, actions) select automation_id, 2, schema, name, database_id,"
        " triggers, condition, jsonb_set(actions, '{0,config}', cast(:c as jsonb))"
        " from automation_versions where automation_id = :a",
        a=world.automation_of(run_id),
        c=json_text.dumps({"url": memory.refuses}),
    )
    world.sql("update automations set version = 2 where id = :a", a=world.automation_of(run_id))
    world.retry(run_id, latest=True)
    execute_elsewhere(world)
    assert run_of(world, run_id)["status"] == "SUCCEEDED"
    (notification,) = world.sql("select title from notifications")
    assert "•••" in notification["title"]
    assert shown(everything_stored(world)) == []


def test_what_people_are_told_shows_no_secret_that_came_in_with_the_event(
    world: World, target: Target
) -> None:
    put_canaries(world)
    mails: list[StepRequest] = []

    def note_mail(request: StepRequest) -> StepSuccess:
        mails.append(request)
        return StepSuccess({"messageId": "m"})

    register_test_executor(ActionType.SEND_EMAIL, note_mail)
    told = "Got {{trigger.note}}"
    world.add_automation(
        [
            send(target.on("/", respond(200)), **WITH_SECRETS),
            {
                "type": "CREATE_NOTIFICATION",
                "config": {"title": "{{trigger.note}}", "body": told},
            },
            {
                "type": "SEND_EMAIL",
                "config": {"to": ["a@x.test"], "subject": told, "text": told, "html": told},
            },
        ]
    )
    event = world.created_event(world.add_record())
    event["payload"]["note"] = f"you sent {IN_BODY}"
    world.match(event)
    world.execute()
    (note,) = world.sql("select title, body from notifications")
    assert (note["title"], note["body"]) == ("you sent •••", "Got you sent •••")
    (mail,) = mails
    assert {mail.config[key] for key in ("subject", "text", "html")} == {"Got you sent •••"}
    assert shown([repr(mail)]) == []


def test_a_notification_waits_for_the_key_that_knows_what_it_must_not_tell(
    world: World, target: Target
) -> None:
    put_canaries(world)
    stranger = new_id()
    note = {
        "type": "CREATE_NOTIFICATION",
        "config": {"title": "{{trigger.note}}", "userIds": [str(stranger)]},
    }
    world.add_automation([send(target.on("/", respond(200)), **WITH_SECRETS), note])
    event = world.created_event(world.add_record())
    event["payload"]["note"] = f"you sent {IN_BODY}"
    world.match(event)
    world.execute()
    run_id = world.the_run()["id"]
    assert world.the_run()["error"]["code"] == "NOT_FOUND"
    world.add_member(stranger, "VIEWER")
    world.retry(run_id)
    world.context.__dict__.pop("secrets_key")
    failing(world, "ThrottlingException", 400)
    world.execute()
    assert world.steps(run_id)[1]["error"]["code"] == "AWS_ThrottlingException"
    assert world.sql("select 1 from notifications") == []
    del world.context.secrets_key.__dict__["_step_client"]
    world.turn_clock(10)
    world.execute()
    assert world.the_run()["status"] == "SUCCEEDED"
    assert world.sql("select title from notifications") == [{"title": "you sent •••"}]
    assert len(target.hits) == 1


def test_an_error_that_quotes_a_secret_is_logged_without_it(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    put_canaries(world)

    def raise_foreign(request: StepRequest) -> StepSuccess:
        cause = ValueError(request.config["headers"], request.config["body"])
        key = request.config["signingSecret"]
        raise RuntimeError(f"header {str(request.config).encode()!r} of {key!r}") from cause

    def raise_own(request: StepRequest) -> StepSuccess:
        raise FatalError("UNEXPECTED", f"cannot send {request.config}")

    for executor in (raise_foreign, raise_own):
        register_test_executor(ActionType.SEND_WEBHOOK, executor)
        world.add_automation([send("http://127.0.0.1/", **WITH_SECRETS)])
        world.match(world.created_event(world.add_record()))
        execute_by_handler(world)
        world.sql("update automations set status = 'PAUSED'")
    said = capsys.readouterr()
    lines = [json.loads(line) for line in said.err.splitlines()]
    (raised,) = [line for line in lines if line["message"] == "step raised"]
    assert "RuntimeError" in raised["exception"]
    assert "ValueError" in raised["exception"]
    assert "•••" in raised["exception"]
    messages = [run["error"]["message"] for run in world.runs()]
    assert messages[0] == "RuntimeError (UNEXPECTED)"
    assert messages[1].startswith("cannot send {")
    assert "•••" in messages[1]
    assert shown([*everything_stored(world), *said]) == []
