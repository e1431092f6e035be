"""Schedules over HTTP: the preview, and the same refusals there and on save."""

import random
import time
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from tests.integration.http_api.client import NOTIFY, Answer, Api, Client
from tests.integration.http_api.test_http_fuzz import mutated, repr_json

PREVIEW = "/schedules/preview"


@pytest.fixture(scope="module")
def api(module_api: Api) -> Api:
    return module_api


def preview(api: Api, **body: Any) -> Answer:
    return api.mine.viewer.post(PREVIEW, body)


def save(api: Api, *configs: Any) -> Answer:
    triggers = [{"type": "SCHEDULE", "config": config} for config in configs]
    return api.mine.editor.post(api.mine.automations_path, {"name": "X", "triggers": triggers})


PREVIEWS = [
    pytest.param(
        {"cron": "30 2 * * *", "timeZone": "America/New_York", "count": 3},
        "2026-03-07T12:00:00-05:00",
        ["2026-03-08T07:00:00.000Z", "2026-03-09T06:30:00.000Z", "2026-03-10T06:30:00.000Z"],
        id="case_001",
    ),
    pytest.param(
        {"cron": "30 1 * * *", "timeZone": "America/New_York", "count": 3},
        "2026-10-31T12:00:00-04:00",
        ["2026-11-01T05:30:00.000Z", "2026-11-02T06:30:00.000Z", "2026-11-03T06:30:00.000Z"],
        id="case_002",
    ),
    pytest.param(
        {"cron": "0 16 */2 * 6"},
        "2026-05-01T00:00:00Z",
        [
            "2026-05-09T16:00:00.000Z",
            "2026-05-23T16:00:00.000Z",
            "2026-06-13T16:00:00.000Z",
            "2026-06-27T16:00:00.000Z",
            "2026-07-11T16:00:00.000Z",
        ],
        id="case_010",
    ),
    pytest.param(
        {"cron": "0 5 * * * *", "count": 3},
        "2026-06-01T10:50:00Z",
        ["2026-06-01T11:05:00.000Z", "2026-06-01T12:05:00.000Z", "2026-06-01T13:05:00.000Z"],
        id="case_014",
    ),
    pytest.param(
        {"cron": "0 9 * * *", "timeZone": "Etc/GMT+5", "count": 1},
        "2026-06-01T00:00:00Z",
        ["2026-06-01T14:00:00.000Z"],
        id="case_026-inverted-sign",
    ),
    (
        {"runEvery": 90, "count": 2},
        "2026-06-01T00:00:00.250Z",
        ["2026-06-01T00:01:30.250Z", "2026-06-01T00:03:00.250Z"],
    ),
    ({"cron": "0 0 29 2 */7"}, "2026-01-01", ["2032-02-29T00:00:00.000Z"]),
    ({"cron": "0 9 * * *", "count": 1}, "2026-06-01T09:00:00Z", ["2026-06-02T09:00:00.000Z"]),
    ({"cron": "0 0 1 1 *", "count": 1}, "1970-01-01", ["1971-01-01T00:00:00.000Z"]),
    ({"cron": "0 0 1 1 *", "count": 1}, "2200-12-31", ["2201-01-01T00:00:00.000Z"]),
]


@pytest.mark.parametrize(("clock", "after", "fires"), PREVIEWS)
def test_a_preview_shows_the_next_instants(
    api: Api, clock: dict[str, Any], after: str, fires: list[str]
) -> None:
    answer = preview(api, after=after, **clock)
    assert answer.status == 200, answer.text
    assert answer.json == {"next": fires, "timeZone": clock.get("timeZone", "UTC")}


def test_a_preview_begins_now_and_shows_five(api: Api) -> None:
    (row,) = api.sql("select whenthen_now() as now")
    now = row["now"]
    for clock in ({"cron": "* * * * *"}, {"runEvery": 60}):
        found = [datetime.fromisoformat(text) for text in preview(api, **clock).json["next"]]
        # To the millisecond below; a moment passes between the two questions.
        assert now < found[0] < now + timedelta(seconds=90)
        steps = [after - before for before, after in pairwise(found)]
        assert steps == [timedelta(minutes=1)] * 4


def test_a_preview_shows_at_most_fifty(api: Api) -> None:
    for count, status in [(1, 200), (50, 200), (0, 422), (51, 422), (True, 422), ("5", 422)]:
        answer = preview(api, cron="* * * * *", count=count)
        assert answer.status == status
        if status == 200:
            assert len(answer.json["next"]) == count
        else:
            assert answer.error["details"][0]["path"] == "count"


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, ""),
        ({"cron": None}, ""),
        ({"cron": "* * * * *", "runEvery": 60}, ""),
        ({"runEvery": 59}, "runEvery"),
        ({"cron": 5}, "cron"),
        ({"cron": "* * * * *", "timeZone": 5}, "timeZone"),
        ({"cron": "* * * * *", "overlap": "skip"}, "overlap"),
        ({"cron": "* * * * *", "after": "soon"}, "after"),
        ({"cron": "* * * * *", "after": 0}, "after"),
        ({"cron": "* * * * *", "after": "1969-12-31T23:59:59Z"}, "after"),
        ({"cron": "* * * * *", "after": "2201-01-01T00:00:00Z"}, "after"),
        ({"cron": "* * * * *", "after": "9999-12-31T23:59:59Z"}, "after"),
    ],
)
def test_a_body_of_another_shape_is_422(api: Api, body: dict[str, Any], path: str) -> None:
    answer = preview(api, **body)
    assert (answer.status, answer.code) == (422, "VALIDATION_FAILED")
    assert [detail["path"] for detail in answer.error["details"]] == [path]


def test_a_preview_needs_no_more_than_a_token(api: Api) -> None:
    _, stranger = api.new_person()
    assert stranger.post(PREVIEW, {"cron": "* * * * *"}).status == 200
    assert Client(None).post(PREVIEW, {"cron": "* * * * *"}).status == 401


REFUSED = [
    *(
        pytest.param({"cron": text}, "cron", "CRON_INVALID", id=f"case_016-{text[:16]!a}")
        for text in (
            *("*/0 * * * *", "5-5/0 * * * *", "1-1_0 * * * *", "0-10/ * * * *", "0 0 0 0 0"),
            *("0 1 0/10 * *", "60 * * * *", "0 9 * * 8", "", "   ", "0 0 * *"),
            *("\u0660 * * * *", "@reboot", "R R * * *", "H * * * *", "," * 300_000),
            *("@daily", "50-10 * * * *", "0 9 * * FRI-MON", "\0 9 * * *"),
        )
    ),
    *(
        pytest.param({"cron": text}, "cron", "CRON_INVALID", id=f"case_012-{text}")
        for text in ("0 0 30 2 *", "0 0 31 4 *", "0 0 31 2,4,6 *")
    ),
    *(
        pytest.param({"cron": text}, "cron", "CRON_TOO_FREQUENT", id=f"case_015-{text}")
        for text in ("*/30 * * * * *", "0,59 * * * * *", "*/10 0 12 * * *")
    ),
    *(
        pytest.param(
            {"cron": "0 9 * * *", "timeZone": name},
            "timeZone",
            "TIME_ZONE_INVALID",
            id=f"case_026-{name}",
        )
        for name in ("europe/paris", "GMT+2", "Mars/Olympus", "../../etc/passwd", "")
    ),
    ({"runEvery": 60, "timeZone": "utc"}, "timeZone", "TIME_ZONE_INVALID"),
]


@pytest.mark.parametrize(("config", "key", "code"), REFUSED)
def test_what_no_schedule_can_be_is_refused_alike_by_preview_and_on_save(
    api: Api, config: dict[str, Any], key: str, code: str
) -> None:
    began = time.process_time()
    answers = [(preview(api, **config), key), (save(api, config), f"triggers[0].config.{key}")]
    assert time.process_time() - began < 1
    for answer, path in answers:
        assert (answer.status, answer.code) == (422, code)
        (detail,) = answer.error["details"]
        assert (detail["path"], detail["type"]) == (path, code.lower())
        assert answer.error["message"] == f"{path}: {detail['message']}"


@pytest.mark.parametrize("cron", ["0 0 31 4,5 *", "0 * * * * *", "0 9 l * mon#2"])
def test_what_a_schedule_can_be_is_taken(api: Api, cron: str) -> None:
    assert preview(api, cron=cron).status == 200
    assert save(api, {"cron": cron}).status == 201


def test_case_012_a_refused_put_stores_nothing(api: Api) -> None:
    made = api.mine.create_automation(
        triggers=[{"type": "SCHEDULE", "config": {"cron": "0 9 * * *"}}], actions=[NOTIFY]
    )
    path = f"/automations/{made['id']}"
    for cron in ("0 0 30 2 *", "0 0 31 4 *", "0 0 31 2,4,6 *", "*/30 * * * * *"):
        answer = api.mine.editor.put(
            f"{path}/triggers", {"triggers": [{"type": "SCHEDULE", "config": {"cron": cron}}]}
        )
        assert answer.status == 422
    assert api.mine.editor.get(path).json == made


@pytest.mark.parametrize("zone", [{}, {"timeZone": None}, {"timeZone": "UTC"}])
def test_case_026_no_zone_is_utc_and_is_shown(api: Api, zone: dict[str, Any]) -> None:
    assert preview(api, cron="0 9 * * *", **zone).json["timeZone"] == "UTC"
    saved = save(api, {"cron": "0 9 * * *", **zone})
    assert saved.json["triggers"][0]["config"] == {
        "cron": "0 9 * * *",
        "timeZone": "UTC",
        "catchUp": "none",
        "catchUpWindow": 3600,
        "overlap": "allow",
    }


def test_all_faults_of_all_triggers_are_told_under_the_code_of_the_first(api: Api) -> None:
    answer = save(
        api,
        {"cron": "0 9 * * *"},
        {"cron": "*/2 * * * * *", "timeZone": "Nowhere"},
        {"cron": "0 0 30 2 *"},
    )
    assert (answer.status, answer.code) == (422, "TIME_ZONE_INVALID")
    assert [(one["path"], one["type"]) for one in answer.error["details"]] == [
        ("triggers[1].config.timeZone", "time_zone_invalid"),
        ("triggers[1].config.cron", "cron_too_frequent"),
        ("triggers[2].config.cron", "cron_invalid"),
    ]


def test_a_refusal_repeats_nothing(api: Api) -> None:
    canary = "canary-8c1f"
    for answer in (save(api, {"cron": canary, "timeZone": canary}), preview(api, cron=canary)):
        assert answer.status == 422
        assert canary not in answer.text


def test_no_preview_is_ever_a_500(api: Api) -> None:
    rng = random.Random(3)  # reproducible cases, no secrets
    bodies = [
        {"cron": "0 9 * * *", "timeZone": "Europe/Berlin", "after": "2026-01-01", "count": 2},
        {"runEvery": 60, "timeZone": "UTC", "after": "2026-01-01T00:00:00Z", "count": 50},
    ]
    statuses = set()
    for n in range(200):
        raw = repr_json(mutated(bodies[n % 2], rng))
        answer = api.mine.owner.call("POST", PREVIEW, raw)
        statuses.add(answer.status)
        assert answer.status < 500, raw[:500]
    assert statuses == {200, 413, 422}
