"""Many schedules that are due at one instant: 5,000 here, 100,000 in `make soak`."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest

from tests.faults.aws_process import emulated_aws
from tests.faults.matrix_report import SCHEDULES_PROPERTY
from tests.integration.engine_world import World
from whenthen.engine.context import Context
from whenthen.store import clock

SCHEDULES = int(os.environ.get("WHENTHEN_SCHEDULES", "5000"))
# One batch of rows, texts and messages at a time, however many there are.
GROWTH_MAX_MB = 64
# Ticks begin so long before the instant.
EARLY_S = 40


@pytest.fixture
def queue_url() -> Iterator[str]:
    """A queue in a process of its own, so that its messages are nobody else's memory."""
    with emulated_aws() as aws, pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", aws.endpoint)
        yield boto3.client("sqs").create_queue(QueueName="many")["QueueUrl"]


def add_schedules(world: World, count: int, at: datetime) -> None:
    """As many ACTIVE automations with one daily schedule each, all next due `at`."""
    values = {"n": count, "w": world.workspace_id}
    world.sql(
        "insert into automations (id, workspace_id, name, status)"
        " select gen_random_uuid(), :w, 'Many', 'ACTIVE' from generate_series(1, :n)",
        **values,
    )
    config = json.dumps({"cron": f"{at.minute} {at.hour} * * *", "timeZone": "UTC"})
    world.sql(
        "insert into automation_triggers"
        " (id, automation_id, position, type, workspace_id, scope_id, config)"
        " select gen_random_uuid(), id, 0, 'SCHEDULE', workspace_id, id, cast(:c as jsonb)"
        " from automations",
        c=config,
    )
    world.sql(
        "insert into schedules"
        " (id, automation_id, trigger_id, version, cron, time_zone, anchor_at, next_at)"
        " select id, automation_id, id, 1, config ->> 'cron', 'UTC', whenthen_now(), :at"
        " from automation_triggers",
        at=at,
    )
    world.sql("analyze")


@pytest.mark.timeout(1_800)
def test_schedules_that_are_due_at_one_instant_all_fire_once_in_flat_memory(
    context: Context, queue_url: str, record_property: Callable[[str, object], None]
) -> None:
    world = World(context)
    now: datetime = world.in_transaction(clock.now)
    at = (
        (now + timedelta(days=2)).astimezone(UTC).replace(hour=9, minute=0, second=0, microsecond=0)
    )
    add_schedules(world, SCHEDULES, at)
    offset_s = (at - now).total_seconds() - EARLY_S
    done = subprocess.run(
        [sys.executable, "-m", "tests.integration.many_ticks", str(offset_s)],
        env={
            **os.environ,
            "DATABASE_URL": str(context.settings.database_url),
            "RUN_QUEUE_URL": queue_url,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout)
    figures = told | {
        "schedules": SCHEDULES,
        "per_s": SCHEDULES / told["seconds"],
        "ticks": len(told["fired"]),
    }
    record_property(SCHEDULES_PROPERTY, json.dumps(figures))
    assert (told["warm"], sum(told["fired"])) == ([0, 0], SCHEDULES)
    (rows,) = world.sql(
        "select count(*) as occurrences, count(distinct r.automation_id) as automations,"
        " count(distinct r.id) as runs, min(r.due_at) as first, max(r.due_at) as last"
        " from schedule_occurrences o join automation_runs r on r.id = o.run_id"
        " where o.outcome = 'fired' and o.scheduled_for = :at",
        at=at,
    )
    assert (rows["occurrences"], rows["automations"], rows["runs"]) == (SCHEDULES,) * 3
    assert (rows["first"], rows["last"]) == (at, at)
    (left,) = world.sql(
        "select count(*) as n from schedules where next_at is distinct from :next",
        next=at + timedelta(days=1),
    )
    assert left["n"] == 0
    assert messages(queue_url) == SCHEDULES
    assert told["grown_mb"] < GROWTH_MAX_MB


def messages(queue_url: str) -> int:
    """How many messages a queue holds, the delayed ones too."""
    sqs: Any = boto3.client("sqs")
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesDelayed"]
    found = sqs.get_queue_attributes(QueueUrl=queue_url, AttributeNames=names)["Attributes"]
    return sum(int(found[name]) for name in names)
