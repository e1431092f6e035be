"""Which automations an event starts."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from whenthen.domain.kinds import EventType, TriggerType
from whenthen.domain.rules.matching import (
    Candidate,
    Scope,
    candidate_scopes,
    match_event,
    matches,
    trigger_scope,
)
from whenthen.domain.schemas.events import Event


def uid(number: int) -> UUID:
    return UUID(int=0x0197_0000_0000_7000_8000_0000_0000_0000 + number)


WORKSPACE, OTHER_WORKSPACE = uid(1), uid(2)
DATABASE, OTHER_DATABASE = uid(11), uid(12)
PAGE, PARENT, OTHER_PAGE = uid(21), uid(22), uid(23)
FIRST, SECOND = uid(31), uid(32)
ACTIVE_SINCE = datetime(2026, 6, 1, 12, 0, 0, tzinfo=UTC)
RECORD_TRIGGERS = [
    (EventType.RECORD_CREATED, TriggerType.RECORD_CREATED),
    (EventType.RECORD_UPDATED, TriggerType.RECORD_UPDATED),
    (EventType.FORM_SUBMITTED, TriggerType.FORM_SUBMITTED),
]
NO_ID = [None, "", "x", 7, True, [str(DATABASE)], {"id": str(DATABASE)}, DATABASE.hex]


def event(
    type_: str,
    payload: Mapping[str, Any],
    *,
    workspace_id: UUID = WORKSPACE,
    occurred_at: datetime = ACTIVE_SINCE,
    outbox_id: UUID | None = None,
) -> Event:
    return Event("evt:1", type_, workspace_id, occurred_at, payload, outbox_id=outbox_id)


def candidate(
    type_: TriggerType,
    scope_id: UUID | None,
    config: Mapping[str, Any] | None = None,
    *,
    automation_id: UUID = FIRST,
    position: int = 0,
    is_active: bool = True,
) -> Candidate:
    return Candidate(
        automation_id=automation_id,
        workspace_id=WORKSPACE,
        version=3,
        trigger_id=uid(automation_id.int % 1000 * 10 + position),
        position=position,
        type=type_,
        config=config or {},
        scope_id=scope_id,
        active_since=ACTIVE_SINCE,
        is_active=is_active,
    )


def updated(changed: Any, **others: Any) -> Event:
    payload = {"databaseId": str(DATABASE), "changedProperties": changed}
    return event("record.updated", payload, **others)


def property_changed(*properties: str, **others: Any) -> Candidate:
    config = {"properties": list(properties)}
    return candidate(TriggerType.PROPERTY_CHANGED, DATABASE, config, **others)


# ---- what the store looks up


@pytest.mark.parametrize(
    ("type_", "payload", "expected"),
    [
        (
            "record.created",
            {"databaseId": str(DATABASE)},
            [Scope(TriggerType.RECORD_CREATED, DATABASE)],
        ),
        (
            "record.updated",
            {"databaseId": str(DATABASE)},
            [
                Scope(TriggerType.RECORD_UPDATED, DATABASE),
                Scope(TriggerType.PROPERTY_CHANGED, DATABASE),
            ],
        ),
        (
            "form.submitted",
            {"databaseId": str(DATABASE)},
            [Scope(TriggerType.FORM_SUBMITTED, DATABASE)],
        ),
        ("page.created", {}, [Scope(TriggerType.PAGE_CREATED, WORKSPACE)]),
        (
            "webhook.received",
            {"automationId": str(FIRST)},
            [Scope(TriggerType.WEBHOOK, FIRST)],
        ),
        ("automation.executed", {"databaseId": str(DATABASE), "automationId": str(FIRST)}, []),
        ("order.paid", {"databaseId": str(DATABASE)}, []),
        ("schedule", {"databaseId": str(DATABASE)}, []),
    ],
)
def test_an_event_names_the_scopes_to_look_up(
    type_: str, payload: Mapping[str, Any], expected: list[Scope]
) -> None:
    assert candidate_scopes(event(type_, payload)) == expected


def test_an_id_in_capitals_names_the_same_database() -> None:
    scopes = candidate_scopes(event("record.created", {"databaseId": str(DATABASE).upper()}))
    assert scopes == [Scope(TriggerType.RECORD_CREATED, DATABASE)]


@pytest.mark.parametrize("value", NO_ID, ids=repr)
@pytest.mark.parametrize(
    ("type_", "key"),
    [
        ("record.created", "databaseId"),
        ("record.updated", "databaseId"),
        ("form.submitted", "databaseId"),
        ("webhook.received", "automationId"),
    ],
)
def test_what_is_no_id_names_nothing_and_raises_nothing(type_: str, key: str, value: Any) -> None:
    assert candidate_scopes(event(type_, {key: value})) == []
    assert candidate_scopes(event(type_, {})) == []


@pytest.mark.parametrize(
    ("type_", "database_id", "config", "expected"),
    [
        (TriggerType.RECORD_CREATED, DATABASE, {"databaseId": str(OTHER_DATABASE)}, DATABASE),
        (TriggerType.RECORD_UPDATED, None, {"databaseId": str(OTHER_DATABASE)}, OTHER_DATABASE),
        (TriggerType.PROPERTY_CHANGED, DATABASE, {"properties": ["*"]}, DATABASE),
        (TriggerType.FORM_SUBMITTED, None, {}, None),
        (TriggerType.FORM_SUBMITTED, None, {"databaseId": None}, None),
        (TriggerType.PAGE_CREATED, DATABASE, {"pageId": str(PAGE)}, WORKSPACE),
        (TriggerType.WEBHOOK, DATABASE, {}, FIRST),
        (TriggerType.SCHEDULE, DATABASE, {"cron": "0 9 * * 1"}, FIRST),
    ],
)
def test_a_trigger_is_met_through_its_effective_scope(
    type_: TriggerType, database_id: UUID | None, config: Mapping[str, Any], expected: UUID | None
) -> None:
    scope_id = trigger_scope(
        type_,
        config,
        automation_id=FIRST,
        workspace_id=WORKSPACE,
        database_id=database_id,
    )
    assert scope_id == expected


# ---- scope


@pytest.mark.parametrize(("event_type", "trigger_type"), RECORD_TRIGGERS)
def test_record_and_form_triggers_match_their_own_database_only(
    event_type: str, trigger_type: TriggerType
) -> None:
    happened = event(event_type, {"databaseId": str(DATABASE)})
    assert matches(candidate(trigger_type, DATABASE), happened)
    assert not matches(candidate(trigger_type, OTHER_DATABASE), happened)
    assert not matches(candidate(trigger_type, None), happened)


@pytest.mark.parametrize("trigger_type", TriggerType)
@pytest.mark.parametrize("event_type", EventType)
def test_a_trigger_type_hears_its_own_event_and_no_other(
    event_type: EventType, trigger_type: TriggerType
) -> None:
    hears = {
        (EventType.RECORD_CREATED, TriggerType.RECORD_CREATED),
        (EventType.RECORD_UPDATED, TriggerType.RECORD_UPDATED),
        (EventType.RECORD_UPDATED, TriggerType.PROPERTY_CHANGED),
        (EventType.PAGE_CREATED, TriggerType.PAGE_CREATED),
        (EventType.FORM_SUBMITTED, TriggerType.FORM_SUBMITTED),
        (EventType.WEBHOOK_RECEIVED, TriggerType.WEBHOOK),
    }
    # One id for everything, so that only the types can tell them apart.
    happened = event(
        event_type,
        {
            "databaseId": str(WORKSPACE),
            "automationId": str(WORKSPACE),
            "changedProperties": ["Status"],
        },
    )
    trigger = candidate(trigger_type, WORKSPACE, {"properties": ["*"]})
    assert matches(trigger, happened) == ((event_type, trigger_type) in hears)


@pytest.mark.parametrize(("event_type", "trigger_type"), RECORD_TRIGGERS)
def test_case_113_an_event_of_another_workspace_never_matches(
    event_type: str, trigger_type: TriggerType
) -> None:
    foreign = event(event_type, {"databaseId": str(DATABASE)}, workspace_id=OTHER_WORKSPACE)
    assert not matches(candidate(trigger_type, DATABASE), foreign)


@pytest.mark.parametrize("value", NO_ID, ids=repr)
def test_a_trigger_without_a_database_matches_no_event_without_one(value: Any) -> None:
    happened = event("record.created", {"databaseId": value})
    assert not matches(candidate(TriggerType.RECORD_CREATED, None), happened)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, True),
        ({"pageId": None}, True),
        ({"pageId": str(PAGE)}, True),
        ({"pageId": str(PARENT)}, True),
        ({"pageId": str(OTHER_PAGE)}, False),
    ],
)
def test_page_created_matches_any_page_or_the_named_page_or_its_children(
    config: Mapping[str, Any], *, expected: bool
) -> None:
    happened = event("page.created", {"pageId": str(PAGE), "parentId": str(PARENT)})
    assert matches(candidate(TriggerType.PAGE_CREATED, WORKSPACE, config), happened) is expected


@pytest.mark.parametrize("value", NO_ID, ids=repr)
def test_a_page_event_without_ids_matches_only_a_trigger_for_every_page(value: Any) -> None:
    happened = event("page.created", {"pageId": value, "parentId": value})
    named = candidate(TriggerType.PAGE_CREATED, WORKSPACE, {"pageId": str(PAGE)})
    assert not matches(named, happened)
    assert matches(candidate(TriggerType.PAGE_CREATED, WORKSPACE), happened)


def test_a_webhook_starts_only_the_automation_that_it_names() -> None:
    happened = event("webhook.received", {"automationId": str(FIRST)})
    assert matches(candidate(TriggerType.WEBHOOK, FIRST, automation_id=FIRST), happened)
    assert not matches(candidate(TriggerType.WEBHOOK, SECOND, automation_id=SECOND), happened)


# ---- filter


@pytest.mark.parametrize(
    ("wanted", "changed", "expected"),
    [
        (["Status"], ["Status"], True),
        (["Status"], ["Name", "Status"], True),
        (["Name", "Status"], ["Status"], True),
        (["Status"], ["Name"], False),
        (["Status"], ["status"], False),
        (["*"], ["Name"], True),
        (["Status", "*"], ["Name"], True),
        (["Status"], ["*"], False),
        (["*"], [], False),
        (["Status"], [], False),
    ],
)
def test_case_072_property_changed_asks_for_a_change_of_a_wanted_property(
    wanted: list[str], changed: list[str], *, expected: bool
) -> None:
    assert matches(property_changed(*wanted), updated(changed)) is expected


@pytest.mark.parametrize("changed", ["Caf\u00e9", "Cafe\u0301"])
def test_a_wanted_property_is_found_however_its_name_is_composed(changed: str) -> None:
    for wanted in ("Caf\u00e9", "Cafe\u0301"):
        assert matches(property_changed(wanted), updated([changed]))
    assert not matches(property_changed("Cafe"), updated([changed]))


@pytest.mark.parametrize(
    "changed", [None, "Status", {"Status": 1}, 7, [7], ["Status", None], [["Status"]]], ids=repr
)
def test_changes_that_are_no_list_of_names_match_nothing_and_raise_nothing(changed: Any) -> None:
    assert not matches(property_changed("Status", "*"), updated(changed))
    assert matches(candidate(TriggerType.RECORD_UPDATED, DATABASE), updated(changed))


def test_an_update_that_does_not_say_what_changed_matches_no_property() -> None:
    happened = event("record.updated", {"databaseId": str(DATABASE)})
    assert not matches(property_changed("*"), happened)


# ---- age


@pytest.mark.parametrize(
    ("offset_s", "expected"),
    [(-86_400.0, False), (-5.001, False), (-5.0, True), (-4.999, True), (0.0, True), (60.0, True)],
)
def test_case_038_an_event_from_before_the_activation_does_not_match(
    offset_s: float, *, expected: bool
) -> None:
    occurred_at = ACTIVE_SINCE + timedelta(seconds=offset_s)
    happened = event("record.created", {"databaseId": str(DATABASE)}, occurred_at=occurred_at)
    trigger = candidate(TriggerType.RECORD_CREATED, DATABASE)
    assert matches(trigger, happened) is expected


def test_an_accepted_webhook_matches_however_late_it_arrives() -> None:
    accepted_at = ACTIVE_SINCE - timedelta(days=1)
    happened = event("webhook.received", {"automationId": str(FIRST)}, occurred_at=accepted_at)
    assert matches(candidate(TriggerType.WEBHOOK, FIRST), happened)


@pytest.mark.parametrize(
    ("outbox_id", "expected"), [(None, False), (uid(91), True)], ids=["by itself", "accepted"]
)
def test_an_accepted_webhook_starts_what_was_paused_meanwhile(
    outbox_id: UUID | None, *, expected: bool
) -> None:
    happened = event("webhook.received", {"automationId": str(FIRST)}, outbox_id=outbox_id)
    assert matches(candidate(TriggerType.WEBHOOK, FIRST, is_active=False), happened) is expected


# ---- one run per automation


def test_an_automation_of_which_several_triggers_match_is_started_once_by_the_first() -> None:
    first = candidate(TriggerType.RECORD_UPDATED, DATABASE, position=0)
    second = property_changed("Status", position=1)
    result = match_event(updated(["Status"]), [second, first])
    assert (result.matched, result.mismatched) == ([first], 0)


def test_a_later_trigger_starts_the_automation_when_an_earlier_one_refuses() -> None:
    refusing = property_changed("Name", position=0)
    letting = property_changed("Status", position=1)
    result = match_event(updated(["Status"]), [refusing, letting])
    assert (result.matched, result.mismatched) == ([letting], 0)


def test_case_038_two_automations_are_started_once_each_in_the_order_of_their_ids() -> None:
    first = candidate(TriggerType.RECORD_UPDATED, DATABASE, automation_id=FIRST)
    second = candidate(TriggerType.RECORD_UPDATED, DATABASE, automation_id=SECOND)
    result = match_event(updated(["Status"]), [second, first])
    assert (result.matched, result.mismatched) == ([first, second], 0)


def test_an_automation_all_of_whose_triggers_refuse_counts_as_one_mismatch() -> None:
    refusing = [property_changed("Name", position=0), property_changed("Due", position=1)]
    letting = property_changed("*", automation_id=SECOND)
    result = match_event(updated(["Status"]), [*refusing, letting])
    assert (result.matched, result.mismatched) == ([letting], 1)


def test_a_candidate_that_is_too_young_for_the_event_counts_as_a_mismatch() -> None:
    old = updated(["Status"], occurred_at=ACTIVE_SINCE - timedelta(minutes=1))
    result = match_event(old, [property_changed("*")])
    assert (result.matched, result.mismatched) == ([], 1)


def test_an_event_without_candidates_starts_nothing_and_mismatches_nothing() -> None:
    result = match_event(updated(["Status"]), [])
    assert (result.matched, result.mismatched) == ([], 0)


def test_candidates_out_of_scope_count_for_nothing() -> None:
    strangers = [
        candidate(TriggerType.RECORD_UPDATED, OTHER_DATABASE),
        candidate(TriggerType.RECORD_CREATED, DATABASE, automation_id=SECOND),
    ]
    result = match_event(updated(["Status"]), strangers)
    assert (result.matched, result.mismatched) == ([], 0)


def test_an_event_that_no_trigger_type_hears_matches_nothing() -> None:
    result = match_event(event("automation.executed", {}), [property_changed("*")])
    assert (result.matched, result.mismatched) == ([], 0)
