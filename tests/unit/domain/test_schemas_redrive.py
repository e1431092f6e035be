"""The body of a redrive."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from whenthen.domain.errors import InvalidError
from whenthen.domain.schemas.problems import read
from whenthen.domain.schemas.redrive import RedriveBody

ID = "019cafe0-0000-7000-8000-000000000000"


def test_nothing_narrows_what_is_absent_or_null() -> None:
    keys = ("status", "automationId", "recordId", "from", "to")
    assert read(RedriveBody, {}) == read(RedriveBody, dict.fromkeys(keys))
    assert read(RedriveBody, {}).dry_run is False


def test_all_keys_are_read() -> None:
    body = {
        "status": "DEAD_LETTER",
        "automationId": ID,
        "recordId": "r-1",
        "from": "2026-01-01",
        "to": "2026-01-01T01:00:00+01:00",
        "dryRun": True,
    }
    found = read(RedriveBody, body)
    assert (found.status, found.automation_id, found.record_id) == ("DEAD_LETTER", UUID(ID), "r-1")
    midnight = datetime(2026, 1, 1, tzinfo=UTC)
    assert (found.from_, found.to, found.dry_run) == (midnight, midnight, True)


@pytest.mark.parametrize(
    "body",
    [
        {"status": "SUCCEEDED"},
        {"status": "failed"},
        {"automationId": "x"},
        {"recordId": 1},
        {"from": 0},
        {"to": "soon"},
        {"dryRun": 1},
        {"dryRun": None},
        {"from_": "2026-01-01"},
        {"rootRunId": ID},
        [],
    ],
)
def test_anything_else_is_refused(body: Any) -> None:
    with pytest.raises(InvalidError):
        read(RedriveBody, body)
