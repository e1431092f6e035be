"""Over whole fortnights and years, the reconciler fires exactly what the preview shows, once each.

Ticks come every minute, 17 s past it; those that can find nothing are left out.
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from tests.integration.conftest import Aws
from tests.integration.firing_world import (
    DAY,
    MINUTE,
    SECOND,
    Config,
    FiringWorld,
    previewed,
    reconciler,
    tick,
)
from whenthen.engine.context import Context

PHASE = 17 * SECOND
# What a tick sees ahead.
AHEAD = timedelta(seconds=60)
NEW_YORK = "America/New_York"
# Of the fortnights in which everything goes wrong `make soak` takes the whole.
BROKEN_DAYS = 7 if os.environ.get("WHENTHEN_FAULTS") == "all" else 1
CHANGES = (datetime(2026, 3, 8, 7, tzinfo=UTC), datetime(2026, 11, 1, 6, tzinfo=UTC))


@pytest.fixture
def world(context: Context, aws: Aws) -> Iterator[FiringWorld]:
    with reconciler(context, aws):
        yield FiringWorld(context)


def ticks_for(instants: Sequence[datetime], begins: datetime, *, lost: bool) -> list[datetime]:
    """The first tick of each instant that sees it; with `lost`, every tenth tick never comes."""
    found = []
    for instant in instants:
        n = -((begins + PHASE + AHEAD - instant) // MINUTE)
        if lost and n % 10 == 0:
            n += 1
        found.append(begins + PHASE + n * MINUTE)
    return found


def all_fire(
    world: FiringWorld, aws: Aws, config: Config, begins: datetime, until: datetime, *, broken: bool
) -> None:
    """With `broken`, every tick runs twice at the same time, and every tenth is lost."""
    expected = previewed(config, begins, until)
    world.schedule(config, begins=begins)
    with ThreadPoolExecutor(2) as both:
        for n, now in enumerate(ticks_for(expected, begins, lost=broken)):
            answers = list(both.map(tick, [now, now])) if broken else [tick(now)]
            assert sum(answer["fired"] for answer in answers) == 1, now
            if n % 50 == 0:
                # The emulated queue slows down with its length, and these messages are delayed.
                aws.sqs.delete_queue(QueueUrl=aws.queue_url)
                aws.sqs.create_queue(QueueName="runs")
    assert world.fired() == expected
    assert len(world.occurrences()) == len(expected)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("change", CHANGES, ids=["spring", "autumn"])
@pytest.mark.parametrize(
    ("days", "broken"), [(7, False), (BROKEN_DAYS, True)], ids=["single", "twice and lost"]
)
def test_every_seven_minutes_around_a_clock_change(
    world: FiringWorld, aws: Aws, change: datetime, days: int, *, broken: bool
) -> None:
    config = {"cron": "*/7 * * * *", "timeZone": NEW_YORK}
    all_fire(world, aws, config, change - days * DAY, change + days * DAY, broken=broken)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("broken", [False, True], ids=["single", "twice and lost"])
def test_case_001_a_year_of_half_past_two_in_new_york(
    world: FiringWorld, aws: Aws, *, broken: bool
) -> None:
    begins = datetime(2026, 1, 1, tzinfo=UTC)
    config = {"cron": "30 2 * * *", "timeZone": NEW_YORK}
    all_fire(world, aws, config, begins, begins + 365 * DAY, broken=broken)
    fired = world.fired()
    assert len(fired) == 365
    # 2:30 does not exist on that day: the first instant after the gap.
    assert datetime(2026, 3, 8, 7, tzinfo=UTC) in fired
