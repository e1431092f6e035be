"""What a cron expression may say, and what of it is refused."""

from contextlib import suppress
from datetime import date
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cpu_time import least_cpu_s
from whenthen.domain.limits import CRON_MAX_CHARS
from whenthen.domain.rules.cron_days import days_between
from whenthen.domain.rules.cron_grammar import parse_cron
from whenthen.domain.rules.schedule_error import CronError, CronTooFrequentError, ScheduleError


def listed(low: int, high: int) -> str:
    return ",".join(str(number) for number in range(low, high + 1))


@pytest.mark.parametrize(
    ("field", "minutes"),
    [
        ("0", (0,)),
        ("59", (59,)),
        ("07", (7,)),
        ("*", tuple(range(60))),
        ("0-59", tuple(range(60))),
        ("5-5", (5,)),
        ("3-6", (3, 4, 5, 6)),
        ("40,1,3-5,1", (1, 3, 4, 5, 40)),
        ("*/1", tuple(range(60))),
        ("*/15", (0, 15, 30, 45)),
        ("*/58", (0, 58)),
        ("*/59", (0, 59)),
        ("10-30/10", (10, 20, 30)),
        ("10-30/59", (10,)),
        ("5-5/2", (5,)),
        ("50/4", (50, 54, 58)),
        ("59/1", (59,)),
        ("*,5", tuple(range(60))),
    ],
)
def test_a_field_is_a_list_of_values_ranges_and_steps(field: str, minutes: tuple[int]) -> None:
    assert parse_cron(f"{field} * * * *").minutes == minutes


@pytest.mark.parametrize(
    ("field", "hours"), [("0", (0,)), ("23", (23,)), ("*/23", (0, 23)), ("22/1", (22, 23))]
)
def test_hours_are_0_to_23(field: str, hours: tuple[int]) -> None:
    assert parse_cron(f"0 {field} * * *").hours == hours


@pytest.mark.parametrize(
    ("field", "months"),
    [
        ("1", {1}),
        ("12", {12}),
        ("JAN", {1}),
        ("dec", {12}),
        ("Mar-may", {3, 4, 5}),
        ("FEB,8,NOV", {2, 8, 11}),
        ("JAN-DEC/11", {1, 12}),
        ("6-AUG", {6, 7, 8}),
        ("*/11", {1, 12}),
    ],
)
def test_months_have_numbers_and_names_in_any_case(field: str, months: set[int]) -> None:
    assert parse_cron(f"0 0 1 {field} *").days.months == months


@pytest.mark.parametrize(
    ("field", "weekdays"),
    [
        ("0", {0}),
        ("7", {0}),
        ("SUN", {0}),
        ("sat", {6}),
        ("MON-FRI", {1, 2, 3, 4, 5}),
        ("5-7", {5, 6, 0}),
        ("SAT-7", {6, 0}),
        ("0-7", {0, 1, 2, 3, 4, 5, 6}),
        ("Sun,Wed", {0, 3}),
        ("*/2", {0, 2, 4, 6}),
        ("*/7", {0}),
        ("1/2", {1, 3, 5, 0}),
    ],
)
def test_weekdays_have_numbers_and_names_and_two_sundays(field: str, weekdays: set[int]) -> None:
    assert parse_cron(f"0 0 * * {field}").days.weekdays == weekdays


@pytest.mark.parametrize(
    ("expression", "days"),
    [
        # January 2026 begins with a Thursday and ends with a Saturday.
        ("0 0 * * *", list(range(1, 32))),
        ("0 0 31 * *", [31]),
        ("0 0 1/10 * *", [1, 11, 21, 31]),
        ("0 0 L * *", [31]),
        ("0 0 l * *", [31]),
        ("0 0 1,L,15 * *", [1, 15, 31]),
        ("0 0 * * 1#2", [12]),
        ("0 0 * * mon#01", [5]),
        ("0 0 * * 7#4", [25]),
        ("0 0 * * 6#5", [31]),
        ("0 0 * * 1#5", []),
        ("0 0 * * 1#1,1#3", [5, 19]),
        ("0 0 * * 5L", [30]),
        ("0 0 * * SATL,0L", [25, 31]),
        ("0 0 * * 2,3#1", [6, 7, 13, 20, 27]),
        # Both day fields are restricted: one is enough.
        ("0 0 1,15 * 5", [1, 2, 9, 15, 16, 23, 30]),
        ("0 0 L * 1#1", [5, 31]),
        ("0 0 1-31 * 1", list(range(1, 32))),
        # One of them begins with a star: both must fit.
        ("0 0 */2 * 6", [3, 17, 31]),
        ("0 0 10 * *", [10]),
        ("0 0 16 * */5", [16]),
        ("0 0 17 * */5", []),
        ("0 0 *,5 * 1", [5, 12, 19, 26]),
    ],
)
def test_the_two_day_fields_name_days_as_vixie_cron_does(expression: str, days: list[int]) -> None:
    found = days_between(parse_cron(expression).days, date(2026, 1, 1), date(2026, 1, 31))
    assert [day.day for day in found] == days


def test_days_are_found_between_two_days_of_any_years() -> None:
    days = parse_cron("0 0 L 2,12 *").days
    found = list(days_between(days, date(2027, 2, 28), date(2029, 2, 27)))
    assert found == [date(2027, 2, 28), date(2027, 12, 31), date(2028, 2, 29), date(2028, 12, 31)]
    assert list(days_between(days, date(2027, 3, 1), date(2027, 12, 30))) == []


@pytest.mark.parametrize(
    ("expression", "wildcard"),
    [
        ("30 2 * * *", False),
        ("0-59 0-23 * * *", False),
        ("* 2 * * *", True),
        ("*/5 2 * * *", True),
        ("30 * * * *", True),
        ("30 */2 * * *", True),
        ("0 30 2 * * *", False),
        ("0 */5 2 * * *", True),
        ("1,*/5 2 * * *", False),
    ],
)
def test_a_job_is_a_wildcard_one_when_its_minute_or_hour_begins_with_a_star(
    expression: str, *, wildcard: bool
) -> None:
    assert parse_cron(expression).wildcard is wildcard


@pytest.mark.parametrize(
    ("expression", "second", "minutes", "hours"),
    [
        pytest.param("0 5 * * * *", 0, (5,), tuple(range(24)), id="case_014-hourly"),
        pytest.param("0 30 9 * * *", 0, (30,), (9,), id="case_014-daily"),
        ("59 30 9 * * *", 59, (30,), (9,)),
        ("30 9 * * *", 0, (30,), (9,)),
        (" \t30\t 9  * * * ", 0, (30,), (9,)),
    ],
)
def test_of_six_fields_the_seconds_come_first(
    expression: str, second: int, minutes: tuple[int], hours: tuple[int]
) -> None:
    cron = parse_cron(expression)
    assert (cron.second, cron.minutes, cron.hours) == (second, minutes, hours)


@pytest.mark.parametrize("seconds", ["*/30", "0,59", "*/10", "*", "1-2", "58/1", "*/59"])
def test_case_015_more_than_one_second_is_too_frequent(seconds: str) -> None:
    with pytest.raises(CronTooFrequentError) as caught:
        parse_cron(f"{seconds} 0 12 * * *")
    assert caught.value.code == "CRON_TOO_FREQUENT"


@pytest.mark.parametrize("seconds", ["0", "59", "7-7", "5,5", "59/1", "0-30/31"])
def test_case_015_one_second_of_a_minute_is_not_too_frequent(seconds: str) -> None:
    assert parse_cron(f"{seconds} * * * * *").minutes == tuple(range(60))


REFUSED = [
    # case 16, as it is listed there
    *("*/0 * * * *", "5-5/0 * * * *", "1-1_0 * * * *", "0-10/ * * * *", "0 0 0 0 0"),
    *("0 1 0/10 * *", "60 * * * *", "0 9 * * 8", "", "   ", "0 0 * *", "\u0660 * * * *", "@reboot"),
    *("R R * * *", "H * * * *", "," * 300_000, "50-10 * * * *", "0 0 * * FRI-MON", "@daily"),
    # neither too few nor too many fields
    *("*", "0 0 0 * * * *", "* * * * * * *"),
    # bounds, both neighbours of which are legal
    *("0 24 * * *", "0 0 32 * *", "0 0 1 13 *", "0 0 1 0 *", "60 0 0 * * *", "0 0 * * 8#1"),
    *("0 0 * * 9L", "0 0 * * 1#0", "0 0 * * 1#6", "0 0 * * 8-9", "0-60 * * * *"),
    # steps larger than their field, and no steps
    *("*/60 * * * *", "0-5/60 * * * *", "*/99 * * * *", "*/100 * * * *", "0 */24 * * *"),
    *("0 0 */31 * *", "0 0 1 */12 *", "0 0 * * */8", "*/60 0 0 * * *", "5/0 * * * *"),
    *("*/-1 * * * *", "*/ * * * *", "*/5/5 * * * *", "/5 * * * *", "*/A * * * *"),
    # lists and ranges with holes
    *(",5 * * * *", "5, * * * *", "5,,6 * * * *", "5- * * * *", "-5 * * * *", "1-2-3 * * * *"),
    *("*-5 * * * *", "1-* * * * *", "** * * * *", "6-5 * * * *", "0 0 * * SAT-SUN"),
    # L, # and names in fields that do not have them
    *("L * * * *", "0 L * * *", "0 0 * L *", "0 0 * * L", "0 0 LW * *", "0 0 15W * *"),
    *("0 0 L-3 * *", "0 0 L/2 * *", "0 0 * * 1-5#2", "0 0 * * 1#2/2", "0 0 * * 1#2L"),
    *("0 0 1#2 * *", "0 0 5L * *", "JAN * * * *", "0 0 MON * *", "0 0 1 MON *", "0 0 * * JAN"),
    *("0 0 * * MONDAY", "0 0 1 JANUARY *", "0 0 * * M", "0 0 * * *#2", "0 0 * * *L"),
    # other programs' words
    *("? * * * *", "0 0 ? * MON", "H/5 * * * *", "R/5 * * * *", "@every 5m", "~ * * * *"),
    *("0 0 * * * 2026", "0 0 1W * *", "%5 * * * *", "!5 * * * *"),
    # other spellings of numbers and spaces
    *("007 * * * *", "+5 * * * *", "5.0 * * * *", "1e1 * * * *", "0x5 * * * *", "1_0 * * * *"),
    *(
        "\u06f5 * * * *",
        "\uff15 * * * *",
        "0\xa09 * * *",
        "0\u20039 * * *",
        "0\n9 * * *",
        "0 9 * * *\n",
    ),
    *("0\x0b9 * * *", "\x00 * * * *", "\ufffd * * * *", "0 0 1 \u0131an *", "0 0 * * \u017fun"),
]


def read(expression: str) -> None:
    with suppress(CronError):
        parse_cron(expression)


@pytest.mark.parametrize("expression", REFUSED, ids=lambda text: f"case_016-{text[:20]!a}")
def test_whatever_else_is_refused_at_once_and_not_repeated(expression: str) -> None:
    with pytest.raises(CronError) as caught:
        parse_cron(expression)
    assert least_cpu_s(partial(read, expression)) < 0.1
    assert caught.value.code == "CRON_INVALID"
    assert not expression.strip("* ") or expression not in str(caught.value)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("0 9 * *", "must have five fields, or six with the seconds first"),
        ("é 9 * * *", "must be plain ASCII"),
        ("* " * 251, "must have at most 500 characters"),
        ("x 9 * * *", "minute: is not a list of values, ranges and steps"),
        ("FOO 9 * * *", "minute: does not know such a name"),
        ("0 24 * * *", "hour: must be within 0..23"),
        ("0 9 * * FRI-MON", "day of week: a range must not run backwards"),
        ("0 9 */31 * *", "day of month: a step must be within 1..30"),
        ("0,1 0 9 * * *", "must not fire more than once a minute"),
    ],
)
def test_a_refusal_says_which_field_and_why(expression: str, message: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        parse_cron(expression)
    assert str(caught.value) == message
    assert caught.value.key == "cron"


def test_every_value_of_every_field_may_be_written_out() -> None:
    expression = " ".join(
        ["0", listed(0, 59), listed(0, 23), listed(1, 31), listed(1, 12), listed(0, 7)]
    )
    cron = parse_cron(expression)
    assert len(expression) < CRON_MAX_CHARS
    assert (len(cron.minutes), len(cron.hours), len(cron.days.weekdays)) == (60, 24, 7)


@pytest.mark.parametrize(
    "field", ["*,", "0-59,", "*/1,", "59,", "0,", "1#1,", "L,"], ids=lambda text: text[:-1]
)
def test_the_largest_legal_text_is_read_at_once(field: str) -> None:
    text = (field * (CRON_MAX_CHARS // len(field) - 4)).strip(",")
    for expression in (f"{text} 0 1 1 0", f"0 0 {text} 1 1", f"0 0 1 1 {text}"):
        assert least_cpu_s(partial(read, expression)) < 0.1


@given(st.text(alphabet="0123456789*,-/#L JANMOSU\t", max_size=60) | st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(ScheduleError):
        cron = parse_cron(text)
        assert cron.minutes == tuple(sorted(set(cron.minutes)))
        assert set(cron.minutes) <= set(range(60))
        assert set(cron.hours) <= set(range(24))
        assert cron.days.months <= set(range(1, 13))
