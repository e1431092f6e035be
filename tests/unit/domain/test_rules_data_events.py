"""Payloads of the events about records, pages and forms."""

from uuid import UUID

from whenthen.domain.rules.data_events import (
    form_submitted,
    page_created,
    record_created,
    record_updated,
)

DATABASE = UUID("01970000-0000-7000-8000-00000000000d")
RECORD = UUID("01970000-0000-7000-8000-0000000000ec")
PAGE = UUID("01970000-0000-7000-8000-0000000000fa")


def test_record_created_tells_the_snapshot_and_its_version() -> None:
    assert record_created(DATABASE, RECORD, {"Name": "Tap", "Status": None}, 1) == {
        "databaseId": str(DATABASE),
        "recordId": str(RECORD),
        "recordVersion": 1,
        "properties": {"Name": "Tap", "Status": None},
    }


def test_form_submitted_names_the_record_that_it_made() -> None:
    assert form_submitted(DATABASE, RECORD, {"Name": "Tap"}, 1) == {
        "databaseId": str(DATABASE),
        "recordId": str(RECORD),
        "recordVersion": 1,
        "properties": {"Name": "Tap"},
    }


def test_record_updated_adds_what_changed_and_the_old_values_of_that_alone() -> None:
    payload = record_updated(
        DATABASE,
        RECORD,
        {"Name": "Tap", "Status": "C", "Done": True},
        4,
        changed_properties=("Status", "Done"),
        previous={"Name": "Tap", "Status": "B"},
    )
    assert payload == {
        "databaseId": str(DATABASE),
        "recordId": str(RECORD),
        "recordVersion": 4,
        "properties": {"Name": "Tap", "Status": "C", "Done": True},
        "changedProperties": ["Status", "Done"],
        "previous": {"Status": "B", "Done": None},
    }


def test_a_payload_does_not_change_with_the_values_that_it_was_built_from() -> None:
    properties = {"Status": "B"}
    payload = record_created(DATABASE, RECORD, properties, 1)
    properties["Status"] = "C"
    assert payload["properties"] == {"Status": "B"}


def test_page_created_tells_the_page_and_its_parent() -> None:
    assert page_created(PAGE, RECORD, "Notes") == {
        "pageId": str(PAGE),
        "parentId": str(RECORD),
        "title": "Notes",
    }


def test_a_page_at_the_top_has_a_null_parent() -> None:
    assert page_created(PAGE, None, "Notes")["parentId"] is None
