"""Every file in events/ is handled by its function, as a newcomer would send it."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from samtranslator.yaml_helper import yaml_parse

from devstack.seed import seed
from tests.golden import ENVIRONMENT, EVENTS, STORY, Scene, answer_door
from tests.integration.conftest import Aws
from tests.integration.test_handlers import Remaining
from whenthen.engine import composition
from whenthen.engine.context import Context

ROOT = Path(__file__).parents[2]
SERVICES = (
    "db-migrator",
    "http-api",
    "stream-matcher",
    "run-executor",
    "schedule-reconciler",
    "run-watchdog",
    "dlq-notifier",
)


def functions() -> dict[str, str]:
    """Every function of the template, with its handler."""
    resources = yaml_parse((ROOT / "template.yaml").read_text("utf-8"))["Resources"]
    return {
        name: resource["Properties"]["Handler"]
        for name, resource in resources.items()
        if resource["Type"] == "AWS::Serverless::Function"
    }


def call(function: str, event: Any) -> Any:
    module, _, name = functions()[function].rpartition(".")
    return getattr(importlib.import_module(module), name)(event, Remaining())


@pytest.fixture
def environment(
    context: Context, migrated_url: str, aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Context]:
    for name, value in {
        "DATABASE_URL": migrated_url,
        "EVENT_STREAM_NAME": aws.stream,
        "RUN_QUEUE_URL": aws.queue_url,
        "NOTICE_QUEUE_URL": aws.notice_url,
        "ACCEPT_TICK_NOW": "true",
    }.items():
        monkeypatch.setenv(name, value)
    composition.process_context.cache_clear()
    yield context
    for service in SERVICES:
        composition.process_context(service).database.close()
    composition.process_context.cache_clear()


def test_every_golden_event_is_handled_by_its_function(
    environment: Context, tmp_path: Path
) -> None:
    tenant = seed(environment.database, tmp_path).demo
    with answer_door() as door:
        Scene(environment.database, tenant, call, door).tell()


def test_every_golden_event_and_every_function_is_in_the_story() -> None:
    told = {name for name, _, _ in STORY}
    assert told == {path.name for path in EVENTS.glob("*.json")} - {ENVIRONMENT}
    assert {function for _, function, _ in STORY} == set(functions())
