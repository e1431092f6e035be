"""Where our grammar and cronsim's differ, all of it: docs/decisions/0007-daylight-saving.md."""

import random
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cronsim import CronSim, CronSimError

from whenthen.domain.rules.cron_fires import next_cron_fire
from whenthen.domain.rules.cron_grammar import parse_cron
from whenthen.domain.rules.schedule_error import CronTooFrequentError, ScheduleError
from whenthen.domain.rules.time_zones import time_zone

RECORD = Path(__file__).parents[3] / "docs/decisions/0007-daylight-saving.md"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def is_read(text: str) -> bool:
    try:
        parse_cron(text)
    except CronTooFrequentError:
        return True
    except ScheduleError:
        return False
    return True


def is_read_by_cronsim(text: str) -> bool:
    try:
        CronSim(text, NOW)
    except CronSimError:
        return False
    return True


# Expression as the record writes it, and which of the two reads it: ours, cronsim.
DIFFERENCES = [
    ("0 0 LW * *", False, True),
    ("0 0 L/2 * *", False, True),
    ("*/60 * * * *", False, True),
    ("007 * * * *", False, True),
    ("0 0 * * FRIL", True, False),
    ("0 0 31 2 *", True, False),
]


@pytest.mark.parametrize(("text", "ours", "theirs"), DIFFERENCES)
def test_a_difference_is_one_and_is_recorded(text: str, *, ours: bool, theirs: bool) -> None:
    assert (is_read(text), is_read_by_cronsim(text)) == (ours, theirs)
    assert f"`{text}`" in RECORD.read_text()


@pytest.mark.parametrize(
    "text", ["0\xa09 * * *", "0\n9 * * *", "0 9 * * \u017fun", "0 9 * * *" + " " * 500]
)
def test_other_spaces_letters_and_lengths_are_read_by_cronsim_only(text: str) -> None:
    assert (is_read(text), is_read_by_cronsim(text)) == (False, True)


def test_a_range_of_one_value_stays_one_value_with_a_step() -> None:
    assert "`5-5/20 * * * *`" in RECORD.read_text()
    assert parse_cron("5-5/20 * * * *").minutes == (5,)
    assert CronSim("5-5/20 * * * *", NOW).minutes == {5, 25, 45}


def test_several_seconds_are_read_but_refused_as_too_frequent() -> None:
    assert "`*/30 * * * * *`" in RECORD.read_text()
    assert is_read_by_cronsim("*/30 * * * * *")
    with pytest.raises(CronTooFrequentError):
        parse_cron("*/30 * * * * *")


def test_six_fields_with_fixed_times_follow_the_same_rule_as_five() -> None:
    assert "`0 30 2 * * *`" in RECORD.read_text()
    zone = time_zone("America/New_York")
    after = datetime(2026, 3, 8, 5, tzinfo=UTC)
    assert next_cron_fire(parse_cron("0 30 2 * * *"), zone, after) == datetime(
        2026, 3, 8, 7, tzinfo=UTC
    )
    theirs = next(CronSim("0 30 2 * * *", after.astimezone(zone)))
    assert theirs.astimezone(UTC) == datetime(2026, 3, 9, 6, 30, tzinfo=UTC)


PIECES = ["*", "/", "-", ",", "L", "#", "?", "0", "1", "2", "5", "7", "8", "23", "31", "59", "60"]
PIECES += ["JAN", "mon", "Fri", "SUN", "07", "1", "2", "3", "W"]
LARGEST_STEPS = [59, 23, 30, 11, 7]
# Of the differences above those that may turn up in a single field.
RECORDED = re.compile(r"LW|L/|[0-9]{3}|[A-Z]{3}L", re.IGNORECASE)


@pytest.mark.parametrize("seed", range(4))
def test_there_is_no_other_difference(seed: int) -> None:
    rng = random.Random(seed)  # reproducible cases, no secrets
    read = 0
    for _ in range(5_000):
        fields, at = ["0", "0", "1", "1", "*"], rng.randrange(5)
        fields[at] = "".join(rng.choice(PIECES) for _ in range(rng.choice([1, 1, 1, 2, 3, 3, 4])))
        steps = [int(step) for step in re.findall(r"/([0-9]+)", fields[at])]
        if RECORDED.search(fields[at]) or any(step > LARGEST_STEPS[at] for step in steps):
            continue
        text = " ".join(fields)
        assert is_read(text) == is_read_by_cronsim(text), text
        read += is_read(text)
    assert read > 1_000
