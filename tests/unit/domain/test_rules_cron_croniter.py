"""A third opinion on ordinary expressions: croniter, where no clock is ever set."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from croniter import croniter

from whenthen.domain.rules.schedule import next_fires, read_schedule

SEED = 20_260_301
EXPRESSIONS = 400
FIRES = 5


def expression(dice: random.Random) -> str:
    """An expression of which both grammars mean the same: at most one day field is restricted."""

    def field(low: int, high: int) -> str:
        first, second = sorted(dice.sample(range(low, high + 1), 2))
        return dice.choice(
            ["*", str(first), f"{first},{second}", f"{first}-{second}", f"*/{dice.randint(2, 6)}"]
        )

    days = dice.choice([(field(1, 28), "*"), ("*", field(0, 6)), ("*", "*")])
    return f"{field(0, 59)} {field(0, 23)} {days[0]} {field(1, 12)} {days[1]}"


@pytest.mark.parametrize("block", range(4))
def test_fires_in_utc_are_croniters(block: int) -> None:
    dice = random.Random(SEED + block)
    for _ in range(EXPRESSIONS // 4):
        cron = expression(dice)
        start = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=dice.randrange(5_000_000))
        schedule = read_schedule(cron, None, "UTC", start)
        other = croniter(cron, start)
        expected = [other.get_next(datetime) for _ in range(FIRES)]
        assert next_fires(schedule, start, FIRES) == expected, (cron, start)
