"""Two independent oracles, at every kind of clock change: cronsim, and the walk of cron itself.

Where cronsim is not followed, and why: docs/decisions/0007-daylight-saving.md.
"""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice, takewhile
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim, CronSimError

from whenthen.domain.rules.clock_changes import first_change, wall_time
from whenthen.domain.rules.cron_fires import next_cron_fire
from whenthen.domain.rules.cron_grammar import parse_cron
from whenthen.domain.rules.time_zones import time_zone

TRIPLES_PER_SEED = 1_500
SEEDS = 20
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
FIRST, LAST = datetime(2024, 1, 1, tzinfo=UTC), datetime(2036, 1, 1, tzinfo=UTC)
ZONES = [
    # an hour, forth and back, in both halves of the world and from half-hour offsets
    *("America/New_York", "Europe/Berlin", "Australia/Adelaide", "America/St_Johns", "Asia/Gaza"),
    # winter time as the exception, clocks that go back for a month
    *("Europe/Dublin", "Africa/Casablanca"),
    # midnight, or the hour before it, is skipped or repeated
    *("Africa/Cairo", "America/Santiago", "America/Havana", "Asia/Beirut", "Atlantic/Azores"),
    *("America/Nuuk", "America/Scoresbysund"),
    # half an hour; two hours; at a quarter to
    *("Australia/Lord_Howe", "Antarctica/Troll", "Pacific/Chatham"),
    # once and for all
    *("America/Asuncion", "Asia/Almaty"),
    *("UTC", "Asia/Kathmandu", "Etc/GMT+5"),
]


class Triple(NamedTuple):
    expression: str
    zone: str
    after: datetime


@cache
def changes(zone: str) -> list[datetime]:
    found, at = [], FIRST
    while change := first_change(time_zone(zone), at, LAST):
        found.append(change)
        at = change
    return found


def field(rng: random.Random, low: int, high: int, star: float) -> str:
    def number() -> int:
        return rng.randint(low, high)

    if rng.random() < star:
        return "*"
    match rng.randrange(10):
        case 0 | 1 | 2 | 3:
            return str(number())
        case 4 | 5:
            return ",".join(str(number()) for _ in range(rng.randint(2, 4)))
        case 6 | 7:
            start = rng.randint(low, high - 1)
            step = f"/{rng.randint(1, high - low)}" if rng.random() < 0.4 else ""
            return f"{start}-{rng.randint(start + 1, high)}{step}"
        case 8:
            return f"*/{rng.randint(1, high - low)}"
        case _:
            return f"{number()}/{rng.randint(1, high - low)}"


def expression(rng: random.Random) -> str:
    near_changes = ["0", "1", "2", "3", "23", "0-3", "1,2", "2-4", "0-23", "*", "*/2", "22-23"]
    hour = field(rng, 0, 23, 0.25) if rng.random() < 0.5 else rng.choice(near_changes)
    day = rng.choice(["L", "1,L"]) if rng.random() < 0.04 else field(rng, 1, 31, 0.7)
    weekday = field(rng, 0, 7, 0.7)
    if rng.random() < 0.06:
        weekday = rng.choice(["5L", "0L", "1#2", "SUN#1", "7#5", "MON-FRI", "sat,sun"])
    month = rng.choice(["MAR", "oct,Nov"]) if rng.random() < 0.05 else field(rng, 1, 12, 0.8)
    return f"{field(rng, 0, 59, 0.15)} {hour} {day} {month} {weekday}"


def triples(seed: int) -> Iterator[Triple]:
    rng = random.Random(seed)  # reproducible cases, no secrets
    while True:
        zone = rng.choice(ZONES)
        near = bool(changes(zone)) and rng.random() < 0.7
        around_s = rng.choice([4 * 3600, 2 * 86_400])
        after = (
            rng.choice(changes(zone)) + timedelta(seconds=rng.randint(-around_s, around_s))
            if near
            else FIRST + timedelta(seconds=rng.randrange(int((LAST - FIRST).total_seconds())))
        )
        text = expression(rng)
        # Of six fields cronsim has another rule for jobs with fixed times.
        if parse_cron(text).wildcard and rng.random() < 0.2:
            text = f"{rng.randrange(60)} {text}"
        yield Triple(text, zone, after)


def ours(triple: Triple) -> Iterator[datetime]:
    cron, at = parse_cron(triple.expression), triple.after
    while fire := next_cron_fire(cron, time_zone(triple.zone), at):
        assert fire > at
        yield fire
        at = fire


def ours_until(triple: Triple, until: datetime) -> list[datetime]:
    return list(takewhile(lambda fire: fire <= until, ours(triple)))


def by_cronsim(triple: Triple, count: int, until: datetime) -> list[datetime]:
    found: list[datetime] = []
    try:
        for fire in CronSim(triple.expression, triple.after.astimezone(time_zone(triple.zone))):
            instant = fire.astimezone(UTC)
            if instant > until or len(found) == count:
                break
            # Asked in a second pass, it begins with what was due in the first.
            if instant > triple.after:
                found.append(instant)
    except CronSimError as error:
        # Some of what never fires it refuses to read.
        assert str(error) == "Bad day-of-month"  # noqa: PT017
    return found


def by_walking(triple: Triple, until: datetime) -> list[datetime]:
    """What cron(8) does: wake up each minute, look at the clock, run what is due (five fields).

    Jobs with fixed times are asked about every minute that the clock now shows for the first time,
    all those that it has skipped included.
    """
    fields = CronSim(triple.expression, triple.after)
    minute, hour = triple.expression.split()[:2]
    wildcard = minute.startswith("*") or hour.startswith("*")
    zone = time_zone(triple.zone)

    def is_due(wall: datetime) -> bool:
        return (
            wall.minute in fields.minutes
            and wall.hour in fields.hours
            and wall.month in fields.months
            and fields.match_day(wall.date())
        )

    # Four hours earlier, so that what the clock has shown before is known.
    now = triple.after.replace(second=0, microsecond=0) - 4 * HOUR
    found, reached = [], wall_time(zone, now)
    while (now := now + MINUTE) <= until:
        wall = wall_time(zone, now)
        fresh = [reached + n * MINUTE for n in range(1, (wall - reached) // MINUTE + 1)]
        reached = max(reached, wall)
        if now > triple.after and any(is_due(one) for one in ([wall] if wildcard else fresh)):
            found.append(now)
    return found


def misleads_cronsim(zone: ZoneInfo, change: datetime) -> bool:
    """Tell whether cronsim may lose its way here with a wildcard job: see the decision record."""
    before = wall_time(zone, change - MINUTE) + MINUTE
    jump = wall_time(zone, change) - before
    midnight = (before + jump).replace(hour=0, minute=0)
    return bool(jump % HOUR) or before.minute != 0 or before <= midnight < before + jump + MINUTE


def is_beyond_cronsim(triple: Triple, until: datetime) -> bool:
    zone = time_zone(triple.zone)
    # It begins with the full hour.
    begin = triple.after - HOUR
    return parse_cron(triple.expression).wildcard and any(
        begin < change <= until and misleads_cronsim(zone, change)
        for change in changes(triple.zone)
    )


@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_next_three_fires_are_those_of_cronsim(seed: int) -> None:
    compared = 0
    for triple in triples(seed):
        found = list(islice(ours(triple), 3))
        horizon = (found[-1] if found else triple.after) + 4383 * DAY
        until = found[-1] if len(found) == 3 else horizon
        if not is_beyond_cronsim(triple, until):
            assert by_cronsim(triple, 3, horizon) == found, triple
            compared += 1
        if compared == TRIPLES_PER_SEED:
            return


@pytest.mark.parametrize("seed", range(1_000, 1_010))
def test_the_fires_of_a_day_around_each_kind_of_change_are_those_of_cron_itself(seed: int) -> None:
    rng = random.Random(seed)  # reproducible cases, no secrets
    changing = [zone for zone in ZONES if changes(zone)]
    for n in range(100):
        zone = changing[n % len(changing)]
        after = rng.choice(changes(zone)) - rng.randrange(12 * 60) * MINUTE
        triple = Triple(expression(rng), zone, after - timedelta(seconds=rng.randrange(60)))
        until = after + DAY
        found = ours_until(triple, until)
        assert by_walking(triple, until) == found, triple


MISLED = [
    # a skipped midnight counts as shown, or takes its day away
    (Triple("*/27 0 * * *", "America/Havana", datetime(2033, 3, 13, 3, 30, tzinfo=UTC))),
    (Triple("* 1 * * 0", "America/Santiago", datetime(2035, 9, 2, 2, 1, tzinfo=UTC))),
    # half an hour is lost, or the second pass
    (Triple("*/36 8 * * *", "Australia/Lord_Howe", datetime(2025, 4, 5, 1, 0, tzinfo=UTC))),
    (Triple("40 * * * *", "Australia/Lord_Howe", datetime(2026, 4, 4, 14, 50, tzinfo=UTC))),
    # it stays at a quarter to
    (Triple("*/49 3-7 * * *", "Pacific/Chatham", datetime(2026, 4, 4, 13, 0, tzinfo=UTC))),
]


@pytest.mark.parametrize("triple", MISLED)
def test_where_cronsim_leaves_the_rule_cron_itself_decides(triple: Triple) -> None:
    until = triple.after + DAY
    found = ours_until(triple, until)
    assert found == by_walking(triple, until)
    assert is_beyond_cronsim(triple, until)
