"""What a run knows of its event."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from whenthen.domain.rules.trigger_event import (
    actor_of,
    as_run_sees,
    build_trigger_event,
    stored_input,
    stored_manual_input,
    stored_schedule_input,
)
from whenthen.domain.schemas.events import AutomationContext, Event

WORKSPACE = UUID("01970000-0000-7000-8000-00000000000a")
AUTOMATION = UUID("01970000-0000-7000-8000-00000000000b")
RUN = UUID("01970000-0000-7000-8000-00000000000c")
CONTEXT = AutomationContext(AUTOMATION, RUN, RUN, 1, (AUTOMATION,))
PAYLOAD = {"databaseId": "d", "recordId": "r", "properties": {"Status": "B"}}
HOSTILE = {
    "type": "schedule",
    "workspaceId": "W2",
    "automationContext": {"depth": -99, "automationId": "x"},
    "payload": {"recordId": "another"},
    "truncated": "no",
    "sanitized": "no",
    "recordId": "r",
}


def event(payload: dict[str, Any], **others: Any) -> Event:
    moment = datetime(2026, 6, 1, tzinfo=UTC)
    return Event("evt:1", "record.created", WORKSPACE, moment, payload, **others)


def test_the_stored_input_keeps_the_payload_once_beside_the_engine_fields() -> None:
    assert stored_input(event(PAYLOAD)) == {
        "type": "record.created",
        "payload": PAYLOAD,
        "workspaceId": str(WORKSPACE),
        "automationContext": None,
    }


def test_the_stored_input_carries_the_context_of_the_event() -> None:
    stored = stored_input(event(PAYLOAD, automation_context=CONTEXT))
    assert stored["automationContext"] == {
        "automationId": str(AUTOMATION),
        "runId": str(RUN),
        "rootRunId": str(RUN),
        "depth": 1,
        "chain": [str(AUTOMATION)],
    }


@pytest.mark.parametrize("truncated", [True, False])
@pytest.mark.parametrize("sanitized", [True, False])
def test_a_flag_is_there_only_when_it_is_true(*, truncated: bool, sanitized: bool) -> None:
    stored = stored_input(event(PAYLOAD, sanitized=sanitized), truncated=truncated)
    assert stored.get("truncated") is (True if truncated else None)
    assert stored.get("sanitized") is (True if sanitized else None)


def test_the_flattened_event_has_the_payload_at_the_top_and_whole() -> None:
    assert build_trigger_event(stored_input(event(PAYLOAD))) == {
        "databaseId": "d",
        "recordId": "r",
        "properties": {"Status": "B"},
        "type": "record.created",
        "payload": PAYLOAD,
        "workspaceId": str(WORKSPACE),
        "automationContext": None,
    }


def test_the_flags_show_in_the_flattened_event() -> None:
    seen = build_trigger_event(stored_input(event(PAYLOAD, sanitized=True), truncated=True))
    assert (seen["truncated"], seen["sanitized"]) == (True, True)


def test_case_115_a_payload_overwrites_no_engine_field() -> None:
    stored = stored_input(
        event(HOSTILE, sanitized=True, automation_context=CONTEXT), truncated=True
    )
    seen = build_trigger_event(stored)
    assert seen["type"] == "record.created"
    assert seen["workspaceId"] == str(WORKSPACE)
    assert seen["automationContext"] == CONTEXT.to_json()
    assert seen["payload"] == HOSTILE
    assert (seen["truncated"], seen["sanitized"]) == (True, True)
    assert seen["recordId"] == "r"


def test_case_115_a_manual_input_is_no_context_and_no_other_type() -> None:
    stored = stored_manual_input(HOSTILE, WORKSPACE)
    seen = build_trigger_event(stored)
    assert (seen["type"], seen["workspaceId"]) == ("manual", str(WORKSPACE))
    assert seen["automationContext"] is None
    assert seen["payload"] == HOSTILE


def test_a_manual_input_that_was_cleaned_says_so() -> None:
    assert stored_manual_input({"note": "a\ufffdb"}, WORKSPACE, sanitized=True) == {
        "type": "manual",
        "payload": {"note": "a\ufffdb"},
        "workspaceId": str(WORKSPACE),
        "automationContext": None,
        "sanitized": True,
    }


def webhook_event(payload: dict[str, Any]) -> Event:
    moment = datetime(2026, 6, 1, tzinfo=UTC)
    return Event("hook:1", "webhook.received", WORKSPACE, moment, payload)


def test_a_run_sees_of_a_webhook_what_was_sent() -> None:
    wrapped = {"automationId": str(AUTOMATION), "eventType": "order.paid", "body": {"a": 1}}
    seen = as_run_sees(webhook_event(wrapped))
    assert (seen.type, seen.payload, seen.sanitized) == ("order.paid", {"a": 1}, False)
    assert as_run_sees(webhook_event({**wrapped, "sanitized": True})).sanitized


@pytest.mark.parametrize("type_", [None, 7, "schedule", "record.created", "two words"])
def test_case_115_a_webhook_on_the_stream_cannot_pose_as_another_type(type_: Any) -> None:
    assert as_run_sees(webhook_event({"eventType": type_, "body": {}})).type == "webhook"


@pytest.mark.parametrize("body", [None, [], "x", 7])
def test_a_hosts_own_webhook_event_is_seen_as_it_is(body: Any) -> None:
    payload = {"automationId": str(AUTOMATION), "body": body}
    assert as_run_sees(webhook_event(payload)).payload == payload


def test_a_run_sees_every_other_event_as_it_is() -> None:
    happened = event({"eventType": "x", "body": {"a": 1}})
    assert as_run_sees(happened) is happened


# ---- who is behind it


@pytest.mark.parametrize("namespace", ["rec", "hook", "run", "schedule", "manual"])
@pytest.mark.parametrize("actor_id", [None, RUN])
def test_of_an_engines_event_the_payload_says_nothing_about_who_acted(
    namespace: str, actor_id: UUID | None
) -> None:
    made = replace(event({"actorId": str(AUTOMATION)}, actor_id=actor_id), id=f"{namespace}:w:1")
    assert actor_of(made) == actor_id


@pytest.mark.parametrize(
    ("named", "expected"),
    [(str(RUN), RUN), (str(RUN).upper(), RUN), ("me", None), ("", None), (7, None), ([], None)],
)
def test_a_host_names_who_acted(named: Any, expected: UUID | None) -> None:
    assert actor_of(event({"actorId": named})) == expected
    assert actor_of(event({})) is None


def test_a_scheduled_run_knows_its_instant_and_its_clock_beside_an_empty_payload() -> None:
    stored = stored_schedule_input(
        WORKSPACE,
        datetime(2026, 3, 8, 7, tzinfo=UTC),
        cron="30 2 * * *",
        run_every_s=None,
        time_zone="America/New_York",
    )
    assert stored == {
        "type": "schedule",
        "payload": {},
        "workspaceId": str(WORKSPACE),
        "automationContext": None,
        "firedAt": "2026-03-08T07:00:00.000Z",
        "cron": "30 2 * * *",
        "runEvery": None,
        "timeZone": "America/New_York",
    }
    assert build_trigger_event(stored) == stored
