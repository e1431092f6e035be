"""What each of the nine actions has to have: one table for all of them."""

from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest

from devstack.echo_model import echo
from tests.conftest import settings_for
from tests.integration.conftest import Aws
from tests.integration.engine_world import World
from tests.integration.mail_servers import parsed
from tests.integration.webhook_target import Behaviour, Hit, Target, hang, respond
from whenthen.actions.registry import (
    clear_test_executors,
    outside_executor,
    register_test_executor,
)
from whenthen.actions.requests import StepRequest, StepSuccess
from whenthen.aws.clients import action_client, kept_client
from whenthen.domain import json_text, limits
from whenthen.domain.kinds import DATA_ACTIONS, ActionType
from whenthen.domain.schemas.actions import ACTION_CONFIGS
from whenthen.engine.context import Context
from whenthen.store.new_id import new_id

SENDER = "bot@whenthen.example"
CREATE_RECORD, UPDATE_RECORD, DELETE_RECORD, CREATE_PAGE, CREATE_NOTIFICATION = (
    ActionType.CREATE_RECORD,
    ActionType.UPDATE_RECORD,
    ActionType.DELETE_RECORD,
    ActionType.CREATE_PAGE,
    ActionType.CREATE_NOTIFICATION,
)
SEND_EMAIL, SEND_WEBHOOK, AI_GENERATE, DELAY = (
    ActionType.SEND_EMAIL,
    ActionType.SEND_WEBHOOK,
    ActionType.AI_GENERATE,
    ActionType.DELAY,
)
OUTSIDE = (SEND_EMAIL, SEND_WEBHOOK, AI_GENERATE)
MODEL = "vendor.model"
# What the outside is asked by each of them. One target plays all three.
PATHS = {
    SEND_EMAIL: "/v2/email/outbound-emails",
    SEND_WEBHOOK: "/hook",
    AI_GENERATE: f"/model/{MODEL}/converse",
}


def as_json(status: int, value: Any, **headers: str) -> Behaviour:
    return respond(status, json_text.dumps(value), content_type="application/json", **headers)


def answer_of_a_model(text: str) -> Any:
    return echo({"messages": [{"role": "user", "content": [{"text": text}]}]})


DONE = {
    SEND_EMAIL: as_json(200, {"MessageId": "id-of-ses"}),
    SEND_WEBHOOK: respond(200, "ok"),
    AI_GENERATE: as_json(200, answer_of_a_model("Hello")),
}
REFUSED = {
    SEND_EMAIL: as_json(400, {}, x_amzn_errortype="MessageRejected"),
    SEND_WEBHOOK: respond(404),
    AI_GENERATE: as_json(400, {}, x_amzn_errortype="ValidationException"),
}
BUSY = {
    SEND_EMAIL: as_json(429, {}, x_amzn_errortype="TooManyRequestsException"),
    SEND_WEBHOOK: respond(503),
    AI_GENERATE: as_json(429, {}, x_amzn_errortype="ThrottlingException"),
}
# Longer than any lease and than any backoff.
LEASE_OVER_S, RETRY_WAIT_S = 231, 901


@dataclass
class Scene:
    """A world, another one whose things are foreign, and a target for webhooks."""

    world: World
    other: World
    target: Target
    record_id: UUID = field(default_factory=new_id)

    def config(self, type_: ActionType) -> dict[str, Any]:
        """The config of an action of that type that does its work."""
        configs: Mapping[ActionType, dict[str, Any]] = {
            CREATE_RECORD: {
                "databaseId": str(self.world.database_id),
                "propertyValues": {"Name": "made"},
            },
            UPDATE_RECORD: {"recordId": "from_trigger", "propertyValues": {"Name": "changed"}},
            DELETE_RECORD: {"recordId": "from_trigger"},
            CREATE_PAGE: {"title": "made"},
            CREATE_NOTIFICATION: {"title": "told"},
            SEND_EMAIL: {"to": ["ada@example.com"], "subject": "Hi", "text": "Hello"},
            SEND_WEBHOOK: {"url": self.target.url + PATHS[SEND_WEBHOOK]},
            AI_GENERATE: {"prompt": "Hello"},
            DELAY: {"seconds": 60},
        }
        return configs[type_]

    def start(
        self,
        type_: ActionType,
        config: Any = None,
        trouble: AbstractContextManager[Any] | None = None,
        **action: Any,
    ) -> UUID:
        """Let an event start a run of that one action, and a worker (in `trouble`) execute it."""
        self.record_id = self.world.add_record(Name="Tap")
        chosen = self.config(type_) if config is None else config
        self.world.add_automation([{"type": type_.value, "config": chosen, **action}])
        self.world.match(self.world.created_event(self.record_id, Name="Tap"))
        run_id: UUID = self.world.runs()[-1]["id"]
        with trouble or nullcontext():
            assert not self.world.execute().has_stragglers
        return run_id

    def run(self, run_id: UUID) -> Any:
        (run,) = self.world.sql("select * from automation_runs where id = :r", r=run_id)
        return run

    def later(self, by_s: float) -> None:
        """Let time pass, and everything that is due then happen."""
        self.world.turn_clock(by_s)
        self.world.sweep()
        self.world.execute()

    def output(self, run_id: UUID) -> Any:
        run = self.run(run_id)
        assert run["status"] == "SUCCEEDED", run["error"]
        (action,) = run["output"]["actions"]
        return action["output"]

    def failure(self, run_id: UUID) -> tuple[str, str]:
        run = self.run(run_id)
        return run["status"], (run["error"] or {}).get("code", "")

    def effects(self, type_: ActionType) -> int:
        """How often the action's effect is there to be seen."""
        counted = {
            CREATE_RECORD: "select 1 from records where properties ->> 'Name' = 'made'",
            UPDATE_RECORD: "select 1 from records where version = 2",
            DELETE_RECORD: f"select 1 where not exists(select 1 from records"
            f" where id = '{self.record_id}')",
            CREATE_PAGE: "select 1 from pages",
            CREATE_NOTIFICATION: "select 1 from notifications",
        }
        return len(self.world.sql(counted[type_]))


@pytest.fixture
def scene(migrated_url: str, aws: Aws, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    target = Target()
    for type_, path in PATHS.items():
        target.on(path, DONE[type_])
    for service in ("SESV2", "BEDROCK_RUNTIME"):
        monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", target.url)
    kept_client.cache_clear()
    settings = settings_for(
        migrated_url,
        EVENT_STREAM_NAME=aws.stream,
        RUN_QUEUE_URL=aws.queue_url,
        NOTICE_QUEUE_URL=aws.notice_url,
        WEBHOOK_ALLOW_HOSTS="127.0.0.1",
        MAIL_FROM=SENDER,
        BEDROCK_MODEL_ID=MODEL,
    )
    context = Context(settings, "test")
    yield Scene(World(context), World(context), target)
    clear_test_executors()
    # Their connections are kept for a next call; the target waits until they are closed.
    kept_client.cache_clear()
    target.close()
    context.database.close()


def each(types: Any, *beside: str) -> Callable[[Any], Any]:
    """A table over actions: a row's key is the type, or begins with it."""
    rows = [
        (type_, *(row if isinstance(row, tuple) else (row,)))
        for type_, some in types.items()
        for row in (some if isinstance(some, list) else [some])
    ]
    names = ("type_", *beside)
    return pytest.mark.parametrize(names, rows, ids=[f"{row[0]}-{n}" for n, row in enumerate(rows)])


# ------------------------------------------------------------------------------------- success

OUTPUTS: Mapping[ActionType, frozenset[str]] = {
    CREATE_RECORD: frozenset({"recordId"}),
    UPDATE_RECORD: frozenset({"recordId", "changedProperties"}),
    DELETE_RECORD: frozenset({"recordId"}),
    CREATE_PAGE: frozenset({"pageId"}),
    CREATE_NOTIFICATION: frozenset({"notificationIds"}),
    SEND_EMAIL: frozenset({"messageId"}),
    SEND_WEBHOOK: frozenset({"status", "headers", "body", "bodyTruncated", "ms"}),
    AI_GENERATE: frozenset({"text", "usage", "stopReason"}),
    DELAY: frozenset({"resumedAt"}),
}


@pytest.mark.parametrize("type_", ActionType)
def test_an_action_does_its_work_and_says_what_came_of_it(scene: Scene, type_: ActionType) -> None:
    run_id = scene.start(type_)
    if type_ == DELAY:
        assert scene.run(run_id)["status"] == "PENDING"
        scene.later(61)
    assert scene.output(run_id).keys() == OUTPUTS[type_]
    if type_ in DATA_ACTIONS:
        assert scene.effects(type_) == 1


# ------------------------------------------------------------------------------------ refusals

Make = Callable[[Scene], Mapping[str, Any]]


def changed(type_: ActionType, **changes: Any) -> Make:
    return lambda scene: {**scene.config(type_), **changes}


def refused(scene: Scene, type_: ActionType) -> Mapping[str, Any]:
    """The config of an action that its service refuses."""
    scene.target.on(PATHS[type_], REFUSED[type_])
    return scene.config(type_)


# Of each action every code with which it can end for good, and what brings it about.
REFUSALS: Mapping[ActionType, Sequence[tuple[str, Make]]] = {
    CREATE_RECORD: [
        ("NOT_FOUND", changed(CREATE_RECORD, databaseId=str(new_id()))),
        ("PROPERTY_INVALID", changed(CREATE_RECORD, propertyValues={"Nope": 1})),
        ("PROPERTY_INVALID", changed(CREATE_RECORD, propertyValues={"Status": "D"})),
        ("PROPERTY_INVALID", changed(CREATE_RECORD, propertyValues={"Priority": "high"})),
        ("PROPERTY_INVALID", changed(CREATE_RECORD, propertyValues={"Assignee": str(new_id())})),
        ("ACTION_CONFIG_INVALID", changed(CREATE_RECORD, databaseId="no id")),
    ],
    UPDATE_RECORD: [
        ("NOT_FOUND", changed(UPDATE_RECORD, recordId=str(new_id()))),
        ("PROPERTY_INVALID", changed(UPDATE_RECORD, propertyValues={"Nope": 1})),
        ("PROPERTY_INVALID", changed(UPDATE_RECORD, propertyValues={"Assignee": "nobody"})),
        ("ACTION_CONFIG_INVALID", changed(UPDATE_RECORD, propertyValues=7)),
    ],
    DELETE_RECORD: [
        ("NOT_FOUND", changed(DELETE_RECORD, recordId=str(new_id()))),
        ("ACTION_CONFIG_INVALID", changed(DELETE_RECORD, force=True)),
    ],
    CREATE_PAGE: [
        ("NOT_FOUND", changed(CREATE_PAGE, parentId=str(new_id()))),
        ("ACTION_CONFIG_INVALID", changed(CREATE_PAGE, title="")),
    ],
    CREATE_NOTIFICATION: [
        ("NOT_FOUND", changed(CREATE_NOTIFICATION, userIds=[str(new_id())])),
        ("ACTION_CONFIG_INVALID", changed(CREATE_NOTIFICATION, audience="everybody")),
    ],
    SEND_EMAIL: [
        ("EMAIL_REJECTED", changed(SEND_EMAIL, to=["{{trigger.type}}"])),
        ("EMAIL_REJECTED", lambda scene: refused(scene, SEND_EMAIL)),
        ("ACTION_CONFIG_INVALID", changed(SEND_EMAIL, to=[])),
    ],
    SEND_WEBHOOK: [
        ("WEBHOOK_URL_FORBIDDEN", changed(SEND_WEBHOOK, url="http://10.0.0.1/")),
        ("WEBHOOK_HTTP_ERROR", lambda scene: refused(scene, SEND_WEBHOOK)),
        ("SECRET_UNKNOWN", changed(SEND_WEBHOOK, headers={"X-Key": "{{secrets.NONE}}"})),
        ("ACTION_CONFIG_INVALID", changed(SEND_WEBHOOK, headers={"host": "elsewhere"})),
    ],
    AI_GENERATE: [
        ("TEMPLATE_MISSING", changed(AI_GENERATE, prompt="{{record.Gone}}")),
        ("AI_REJECTED", lambda scene: refused(scene, AI_GENERATE)),
        ("ACTION_CONFIG_INVALID", changed(AI_GENERATE, maxTokens=0)),
    ],
    DELAY: [
        ("DELAY_INVALID", lambda _: {"until": "{{record.Name}}"}),
        ("DELAY_INVALID", lambda _: {"until": "2999-01-01T00:00:00Z"}),
        ("ACTION_CONFIG_INVALID", lambda _: {"seconds": 0}),
    ],
}


@each(REFUSALS, "code", "make")
def test_a_refusal_fails_the_run_at_once_with_its_code(
    scene: Scene, type_: ActionType, code: str, make: Make
) -> None:
    run_id = scene.start(type_, make(scene))
    assert scene.failure(run_id) == ("FAILED", code)
    error = scene.run(run_id)["error"]
    assert (error["actionIndex"], error["actionType"], error["attempts"]) == (0, type_.value, 1)
    if type_ in DATA_ACTIONS:
        assert scene.effects(type_) == 0


@pytest.mark.parametrize(
    ("type_", "without", "code"),
    [
        (SEND_EMAIL, "MAIL_FROM", "EMAIL_NOT_CONFIGURED"),
        (AI_GENERATE, "BEDROCK_MODEL_ID", "AI_NOT_CONFIGURED"),
    ],
)
def test_an_action_that_is_not_set_up_says_so(
    scene: Scene, context: Context, type_: ActionType, without: str, code: str
) -> None:
    assert getattr(context.settings, without.lower()) is None
    bare = Scene(World(context), scene.other, scene.target)
    assert bare.failure(bare.start(type_)) == ("FAILED", code)


# ---------------------------------------------------------------------- trouble of the database

TABLES = {
    CREATE_RECORD: "records",
    UPDATE_RECORD: "records",
    DELETE_RECORD: "records",
    CREATE_PAGE: "pages",
    CREATE_NOTIFICATION: "notifications",
}
CONFLICT = "raise exception 'conflict' using errcode = '40001';"
STALL = "perform pg_sleep(20);"
# After the effect and before its record: the server hangs up.
CRASH = """
    if new.status in ('SUCCEEDED', 'WAITING') then
        perform pg_terminate_backend(pg_backend_pid());
    end if;
"""


@contextmanager
def sabotaged(world: World, table: str, statement: str) -> Iterator[None]:
    """Let each row that is written to `table` meet `statement` first."""
    world.sql(
        "create function sabotage() returns trigger language plpgsql as"
        f" $$ begin {statement} return coalesce(new, old); end $$"
    )
    world.sql(
        f"create trigger sabotage before insert or update or delete on {table}"
        " for each row execute function sabotage()"
    )
    yield
    world.sql(f"drop trigger sabotage on {table}")
    world.sql("drop function sabotage()")


@pytest.mark.parametrize("type_", sorted(DATA_ACTIONS))
def test_a_data_action_that_meets_a_conflict_is_tried_again_and_done_once(
    scene: Scene, type_: ActionType
) -> None:
    run_id = scene.start(type_, trouble=sabotaged(scene.world, TABLES[type_], CONFLICT))
    run = scene.run(run_id)
    (step,) = scene.world.steps(run_id)
    assert (run["status"], run["retry_count"]) == ("PENDING", 1)
    assert step["error"]["code"] == "DB_TRANSIENT_40001"
    assert scene.effects(type_) == 0
    scene.later(RETRY_WAIT_S)
    assert scene.output(run_id).keys() == OUTPUTS[type_]
    assert scene.effects(type_) == 1


@pytest.mark.parametrize("type_", sorted(DATA_ACTIONS))
def test_a_data_action_that_takes_too_long_is_undone_and_fails(
    scene: Scene, type_: ActionType
) -> None:
    trouble = sabotaged(scene.world, TABLES[type_], STALL)
    run_id = scene.start(type_, trouble=trouble, timeoutMs=1_000)
    assert scene.failure(run_id) == ("FAILED", "ACTION_TIMEOUT")
    assert scene.effects(type_) == 0


@pytest.mark.parametrize("type_", sorted({*DATA_ACTIONS, DELAY}))
def test_a_crash_between_a_data_actions_effect_and_its_record_undoes_both(
    scene: Scene, type_: ActionType
) -> None:
    run_id = scene.start(type_, trouble=sabotaged(scene.world, "automation_run_steps", CRASH))
    assert scene.run(run_id)["status"] in {"RUNNING", "PENDING"}
    if type_ in DATA_ACTIONS:
        assert scene.effects(type_) == 0
    for _ in range(3):
        scene.later(RETRY_WAIT_S)
    assert scene.output(run_id).keys() == OUTPUTS[type_]
    if type_ in DATA_ACTIONS:
        assert scene.effects(type_) == 1


# ------------------------------------------------------------------------ trouble of the outside


@pytest.mark.parametrize(
    ("type_", "code"),
    [
        (SEND_EMAIL, "AWS_TooManyRequestsException"),
        (SEND_WEBHOOK, "WEBHOOK_HTTP_RETRIABLE"),
        (AI_GENERATE, "AWS_ThrottlingException"),
    ],
)
def test_an_outside_action_that_is_refused_for_now_is_tried_again(
    scene: Scene, type_: ActionType, code: str
) -> None:
    scene.target.on(PATHS[type_], BUSY[type_], DONE[type_])
    run_id = scene.start(type_)
    (step,) = scene.world.steps(run_id)
    assert (scene.run(run_id)["status"], step["error"]["code"]) == ("PENDING", code)
    scene.later(RETRY_WAIT_S)
    assert scene.output(run_id).keys() == OUTPUTS[type_]
    assert len(scene.target.hits) == 2


@pytest.mark.parametrize("type_", OUTSIDE)
def test_an_outside_action_that_gets_no_answer_ends_at_its_deadline(
    scene: Scene, type_: ActionType
) -> None:
    scene.target.on(PATHS[type_], hang)
    # Made before: on a busy machine that alone may take a second.
    for service in ("sesv2", "bedrock-runtime"):
        action_client(service, 4.0)
    run_id = scene.start(type_, timeoutMs=4_000)
    assert scene.failure(run_id) == ("FAILED", "ACTION_TIMEOUT")
    assert len(scene.target.hits) == 1


@pytest.mark.parametrize("type_", [SEND_EMAIL, AI_GENERATE])
def test_one_client_serves_all_actions_of_a_type_and_timeout(
    scene: Scene, type_: ActionType
) -> None:
    """What a worker has left of a timeout is never the same twice; making a client takes long."""
    for _ in range(3):
        assert scene.output(scene.start(type_)).keys() == OUTPUTS[type_]
    assert kept_client.cache_info().misses == 1


class WorkerDiedError(BaseException):
    """Not an Exception: nothing that the engine does about errors may help."""


def identity(type_: ActionType, hit: Hit) -> str:
    """By what the outside can tell that it has been asked before."""
    match type_:
        case ActionType.SEND_EMAIL:
            raw = json_text.loads(hit.body)["Content"]["Raw"]["Data"]
            message = parsed(b64decode(raw))
            return f"{message['Message-ID']} {message['X-Whenthen-Id']}"
        case ActionType.SEND_WEBHOOK:
            return hit.headers["webhook-id"]
        case _:
            # A model is asked again; there is nobody to tell.
            return ""


@pytest.mark.parametrize("type_", OUTSIDE)
def test_a_crash_between_an_outside_actions_effect_and_its_record_repeats_it_under_one_id(
    scene: Scene, type_: ActionType
) -> None:
    perform = outside_executor(type_)

    def perform_and_die(request: StepRequest) -> StepSuccess:
        perform(request)
        raise WorkerDiedError

    register_test_executor(type_, perform_and_die)
    run_id = scene.start(type_, trouble=pytest.raises(WorkerDiedError))
    clear_test_executors()
    assert scene.run(run_id)["status"] == "RUNNING"
    scene.later(LEASE_OVER_S)
    run = scene.run(run_id)
    assert (run["crash_count"], run["status"]) == (0, "SUCCEEDED")
    first, second = (identity(type_, hit) for hit in scene.target.hits)
    assert first == second
    assert [step["attempts"] for step in scene.world.steps(run_id)] == [1]


def test_a_delay_has_no_deadline_but_its_own(scene: Scene) -> None:
    run_id = scene.start(DELAY, {"seconds": 3_600}, timeoutMs=1_000)
    scene.later(3_601)
    assert scene.output(run_id).keys() == OUTPUTS[DELAY]


# ------------------------------------------------------------------- another workspace's things


def foreign_page(scene: Scene) -> str:
    page_id = new_id()
    scene.other.sql(
        "insert into pages (id, workspace_id, title) values (:p, :w, 'theirs')",
        p=page_id,
        w=scene.other.workspace_id,
    )
    return str(page_id)


def foreign_record(scene: Scene) -> str:
    return str(scene.other.add_record(Name="theirs"))


FOREIGN: Mapping[ActionType, Sequence[tuple[str, Make]]] = {
    CREATE_RECORD: [
        ("NOT_FOUND", lambda s: changed(CREATE_RECORD, databaseId=str(s.other.database_id))(s)),
        (
            "PROPERTY_INVALID",
            lambda s: changed(CREATE_RECORD, propertyValues={"Assignee": str(s.other.owner_id)})(s),
        ),
    ],
    UPDATE_RECORD: [
        ("NOT_FOUND", lambda s: changed(UPDATE_RECORD, recordId=foreign_record(s))(s)),
        (
            "PROPERTY_INVALID",
            lambda s: changed(UPDATE_RECORD, propertyValues={"Assignee": str(s.other.owner_id)})(s),
        ),
    ],
    DELETE_RECORD: [
        ("NOT_FOUND", lambda s: changed(DELETE_RECORD, recordId=foreign_record(s))(s)),
    ],
    CREATE_PAGE: [
        ("NOT_FOUND", lambda s: changed(CREATE_PAGE, parentId=foreign_page(s))(s)),
    ],
    CREATE_NOTIFICATION: [
        ("NOT_FOUND", lambda s: changed(CREATE_NOTIFICATION, userIds=[str(s.other.owner_id)])(s)),
    ],
}


@each(FOREIGN, "code", "make")
def test_case_114_what_belongs_to_another_workspace_is_out_of_reach(
    scene: Scene, type_: ActionType, code: str, make: Make
) -> None:
    config = make(scene)

    def theirs() -> list[Any]:
        tables = ("records", "pages", "notifications")
        query = " union all ".join(
            f"select to_jsonb(t) as row from {table} t where workspace_id = :w" for table in tables
        )
        return scene.other.sql(query, w=scene.other.workspace_id)

    before = theirs()
    assert scene.failure(scene.start(type_, config)) == ("FAILED", code)
    assert theirs() == before


def test_the_other_actions_name_nothing_that_could_be_anothers() -> None:
    for type_ in set(ActionType) - set(FOREIGN):
        keys = ACTION_CONFIGS[type_].model_json_schema()["properties"]
        assert [key for key in keys if key.endswith(("Id", "Ids")) and key != "modelId"] == []


# --------------------------------------------------------------- a value that has to be there

GONE = "{{record.Gone}}"
NEEDED: Mapping[ActionType, Sequence[Mapping[str, Any]]] = {
    CREATE_RECORD: [{"databaseId": GONE, "propertyValues": {}}],
    UPDATE_RECORD: [{"recordId": GONE, "propertyValues": {}}],
    DELETE_RECORD: [{"recordId": GONE}],
    CREATE_PAGE: [{"title": "x", "parentId": GONE}],
    CREATE_NOTIFICATION: [{"title": "x", "userIds": [GONE]}],
    SEND_EMAIL: [
        {"to": ["a@x.io", GONE], "subject": "x", "text": "x"},
        {"to": [f"a{GONE}@x.io"], "subject": "x", "text": "x"},
        {"to": ["a@x.io"], "subject": "x", "text": "x", "replyTo": GONE},
    ],
    SEND_WEBHOOK: [{"url": GONE}, {"url": f"http://127.0.0.1/{GONE}"}],
    AI_GENERATE: [{"prompt": "x", "modelId": GONE}, {"prompt": GONE}],
    DELAY: [{"until": GONE}, {"seconds": GONE}],
}


@each(NEEDED, "config")
def test_a_template_without_its_value_in_a_place_that_needs_one_fails_the_run(
    scene: Scene, type_: ActionType, config: Mapping[str, Any]
) -> None:
    assert scene.failure(scene.start(type_, config)) == ("FAILED", "TEMPLATE_MISSING")
    assert scene.target.hits == []
    if type_ in DATA_ACTIONS - {DELETE_RECORD}:
        assert scene.effects(type_) == 0


# -------------------------------------------------------------------------- output at its cap


def size(output: Any) -> int:
    return len(json_text.dumps(output).encode())


def test_a_long_answer_of_a_model_is_cut_to_the_cap_and_says_so(scene: Scene) -> None:
    answer = answer_of_a_model("ü" * 60_000)
    scene.target.on(PATHS[AI_GENERATE], as_json(200, answer))
    output = scene.output(scene.start(AI_GENERATE))
    assert limits.STEP_OUTPUT_MAX_BYTES - 1_024 < size(output) <= limits.STEP_OUTPUT_MAX_BYTES
    assert (output["text"][-1], output["usage"]) == ("…", answer["usage"])
    assert output["truncated"] is True


def test_a_long_answer_of_a_webhook_is_cut_to_the_cap_and_says_so(scene: Scene) -> None:
    scene.target.on(PATHS[SEND_WEBHOOK], respond(200, "x" * 100_000))
    output = scene.output(scene.start(SEND_WEBHOOK))
    assert (len(output["body"]), output["bodyTruncated"]) == (limits.WEBHOOK_BODY_MAX_BYTES, True)


def test_of_very_many_notifications_all_are_made_and_as_many_ids_told_as_fit(
    scene: Scene,
) -> None:
    scene.world.sql("insert into users (id) select gen_random_uuid() from generate_series(1, 2000)")
    scene.world.sql(
        "insert into members (workspace_id, user_id, role)"
        " select :w, id, 'VIEWER' from users where email is null",
        w=scene.world.workspace_id,
    )
    output = scene.output(
        scene.start(CREATE_NOTIFICATION, {"title": "told", "audience": "members"})
    )
    assert scene.effects(CREATE_NOTIFICATION) == 2_001
    assert 1_500 < len(output["notificationIds"]) < 2_001
    assert size(output) <= limits.STEP_OUTPUT_MAX_BYTES


def test_the_largest_mail_and_record_change_have_outputs_below_the_cap() -> None:
    # Each name stands in the config too, and that has the same cap.
    assert limits.INTERPOLATED_MAX_BYTES <= limits.STEP_OUTPUT_MAX_BYTES
    longest = {"messageId": "x" * 998, "rejected": ["x" * 320] * limits.EMAIL_RECIPIENTS_MAX}
    assert size(longest) < limits.STEP_OUTPUT_MAX_BYTES
