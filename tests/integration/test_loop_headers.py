"""Webhooks to this deployment itself carry their run's context; others learn nothing of it."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import settings_for
from tests.integration.conftest import Aws
from tests.integration.engine_world import World
from tests.integration.webhook_target import Target, respond
from whenthen.domain.rules.loop_header import NAME, read_signed_context
from whenthen.engine.context import Context
from whenthen.store import loop_keys


@pytest.fixture
def home() -> Iterator[Target]:
    made = Target()
    made.on("/in", respond(503), respond(202))
    yield made
    made.close()


@pytest.fixture
def elsewhere() -> Iterator[Target]:
    made = Target()
    made.on("/in", respond(200))
    yield made
    made.close()


@pytest.fixture
def world(migrated_url: str, aws: Aws, home: Target) -> Iterator[World]:
    settings = settings_for(
        migrated_url,
        EVENT_STREAM_NAME=aws.stream,
        RUN_QUEUE_URL=aws.queue_url,
        WEBHOOK_ALLOW_HOSTS="127.0.0.1",
        PUBLIC_URL=home.url,
    )
    context = Context(settings, "test")
    yield World(context)
    context.database.close()


def call(url: str) -> dict[str, Any]:
    return {"type": "SEND_WEBHOOK", "config": {"url": url}}


def test_every_attempt_at_home_says_whose_it_is_and_nobody_else_is_told(
    world: World, home: Target, elsewhere: Target
) -> None:
    automation_id = world.add_automation([call(f"{elsewhere.url}/in"), call(f"{home.url}/in")])
    world.match(world.created_event(world.add_record()))
    world.execute()
    world.turn_clock(60)
    world.execute()
    run = world.the_run()
    assert (run["status"], run["retry_count"]) == ("SUCCEEDED", 1)
    (stranger,) = elsewhere.hits
    assert not [name for name in stranger.headers if name.startswith("whenthen")]
    found = world.in_transaction(loop_keys.read)
    contexts = [
        read_signed_context(found.keys, hit.headers[NAME], world.workspace_id, found.now_s)
        for hit in home.hits
    ]
    assert len(contexts) == 2
    for context in contexts:
        assert context is not None
        assert (context.automation_id, context.run_id) == (automation_id, run["id"])
        assert (context.depth, context.chain) == (1, (automation_id,))
    # Nothing of it is kept with the run.
    kept = f"{world.steps(run['id'])} {world.sql('select * from automation_logs')}"
    assert "v1." not in kept


def test_without_a_key_webhooks_go_out_as_they_would_to_anybody(world: World, home: Target) -> None:
    world.sql("delete from loop_keys")
    world.add_automation([call(f"{home.url}/in")])
    world.match(world.created_event(world.add_record()))
    world.execute()
    (hit,) = home.hits
    assert NAME not in hit.headers
