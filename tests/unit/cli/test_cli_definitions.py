"""From a file's document to what is compared, and to what has to be done."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import http_api.resolver
from cli.action_ids import with_ids
from cli.automation_plan import Change, found_by_name, planned, repeated_names
from cli.database_names import DatabaseNames
from cli.definitions import Wanted, as_document, foreign_ids, present_definition, read_document
from cli.exits import CommandError
from cli.shapes import Shapes
from cli.yaml_files import read_files
from cli.yaml_text import yaml_text
from http_api.openapi import document

assert http_api.resolver.ROUTE_MODULES
SHAPES = Shapes(document())
TICKETS, TWIN, OTHER_TWIN, OLD, PAGE = (f"019cafe0-0000-7000-8000-00000000000{n}" for n in range(5))
NAMES = DatabaseNames(
    [
        {"id": TICKETS, "name": "Tickets", "archivedAt": None},
        {"id": TWIN, "name": "Twin", "archivedAt": None},
        {"id": OTHER_TWIN, "name": "Twin", "archivedAt": None},
        {"id": OLD, "name": "Old", "archivedAt": "2026-01-01T00:00:00.000Z"},
    ]
)
TRIAGE = """
name: Triage
status: ACTIVE
database: Tickets
triggers:
  - type: RECORD_CREATED
    config: {}
condition: {field: {ref: property, name: Status}, operator: eq, value: B}
actions:
  - type: UPDATE_RECORD
    config: {recordId: from_trigger, propertyValues: {Status: C}}
  - type: SEND_WEBHOOK
    config: {url: "https://example.com/"}
"""


def read(folder: Path, text: str) -> tuple[list[Wanted], list[str]]:
    file = folder / "a.yaml"
    file.write_text(text)
    read_ones = [read_document(one, SHAPES, NAMES) for one in read_files([str(file)])]
    wanted = [one for one, _ in read_ones if one is not None]
    problems = [told.removeprefix(f"{file}, ") for _, many in read_ones for told in many]
    return wanted, problems


def wanted_of(folder: Path, text: str) -> Wanted:
    (wanted,), problems = read(folder, text)
    assert problems == []
    return wanted


def detail_of(wanted: Wanted, status: str = "ACTIVE") -> dict[str, Any]:
    """What the API shows of an automation that was made of `wanted`: defaults written out."""
    actions = [
        {"id": f"id-{n}", "retries": None, "timeoutMs": None, **one}
        for n, one in enumerate(wanted.definition["actions"])
    ]
    for one in actions:
        if one["type"] == "SEND_WEBHOOK":
            one["config"] = {"headers": {}, "method": "POST", **one["config"]}
    return {**wanted.definition, "id": "a1", "status": status, "version": 3, "actions": actions}


def plan(wanted: Wanted, present: dict[str, Any] | None) -> Change:
    return planned(wanted, present, SHAPES, NAMES)


def test_a_database_is_named_in_the_automation_its_triggers_and_its_actions(tmp_path: Path) -> None:
    wanted = wanted_of(
        tmp_path,
        "name: a\ndatabase: Tickets\n"
        "triggers: [{type: RECORD_CREATED, config: {database: Tickets}}]\n"
        "actions: [{type: CREATE_RECORD, config: {database: Tickets, propertyValues: {}}}]\n",
    )
    assert wanted.definition["databaseId"] == TICKETS
    assert wanted.definition["triggers"][0]["config"] == {"databaseId": TICKETS}
    assert wanted.definition["actions"][0]["config"]["databaseId"] == TICKETS


def test_a_property_called_database_is_a_property(tmp_path: Path) -> None:
    action = (
        "{type: UPDATE_RECORD, config: {recordId: from_trigger, propertyValues: {database: x}}}"
    )
    wanted = wanted_of(tmp_path, f"name: a\nactions: [{action}]\n")
    assert wanted.definition["actions"][0]["config"]["propertyValues"] == {"database": "x"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("- 1", "document 1, line 1: must be an automation (an object), or a list of them"),
        ("status: ACTIVE", "line 1: name: must be a text: by its name an automation"),
        ("name: 5", "line 1: name: must be a text"),
        ("name: a\nid: x", "line 2: id: is not a known key (name, renamedFrom,"),
        ("name: a\nstatus: ON", "line 2: status: must be one of DRAFT, ACTIVE, PAUSED, ARCHIVED"),
        ("name: a\nrenamedFrom: 1", "line 2: renamedFrom: must be a text"),
        ("name: a\ndatabase: No", "line 2: database: no active database has the name No (there"),
        ("name: a\ndatabase: Old", "no active database has the name Old"),
        ("name: a\ndatabase: Twin", "2 databases have the name Twin: rename all but one"),
        ("name: a\ndatabase: [x]", "line 2: database: must be the name of a database"),
        (f"name: a\ndatabase: Tickets\ndatabaseId: {TICKETS}", "stands beside databaseId"),
        ("name: a\ntriggers: {}", "line 2: triggers: must be a list"),
        ("name: a\nactions: [x]", "line 2: actions[0]: must be an object"),
        ("name: a\ntriggers: [{type: NEVER}]", "triggers[0].type: must be one of RECORD_CREATED,"),
        ("name: a\ntriggers: [{type: SCHEDULE, x: 1}]", "triggers[0].x: is not a known key"),
        (
            "name: a\ntriggers:\n  - type: SCHEDULE\n    config:\n      corn: x",
            "line 5: triggers[0].config.corn: is not a known key (cron, runEvery, timeZone,",
        ),
        (
            "name: a\nactions:\n  - type: SEND_EMAIL\n    config: {to: [x], body: b}",
            "line 4: actions[0].config.body: is not a known key",
        ),
        (
            "name: a\nactions:\n  - type: SEND_EMAIL\n    config: {to: [x]}",
            "line 4: actions[0].config.subject: is required",
        ),
        ("name: a\nactions: [{type: DELAY, config: 5}]", "actions[0].config: must be an object"),
        ("name: a\nactions: [{id: x, type: DELAY}]", "actions[0].id: is not a known key"),
        (
            "name: a\ntriggers: [{type: WEBHOOK, config: {secret: whsec_x}}]",
            "triggers[0].config.secret: does not belong in a file",
        ),
    ],
)
def test_what_cannot_be_is_told_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    wanted, problems = read(tmp_path, text)
    assert wanted == []
    assert told in problems[0]
    assert problems[0].startswith("document 1, line ")


def test_one_name_in_two_places_is_told_with_both(tmp_path: Path) -> None:
    wanted, _ = read(tmp_path, "name: a\n---\nname: b\n---\nname: a\n")
    (problem,) = repeated_names(wanted)
    assert "document 3, line 5: name: a stands in" in problem
    assert problem.endswith("document 1 already")


@pytest.mark.parametrize(
    ("text", "present", "found", "problem"),
    [
        ("name: a", [], {}, None),
        ("name: a", ["a"], {"a": "0"}, None),
        ("name: a", ["a", "a"], {}, "2 automations have the name a"),
        ("name: a\nrenamedFrom: b", ["b"], {"a": "0"}, None),
        ("name: a\nrenamedFrom: b", ["a"], {"a": "0"}, None),
        ("name: a\nrenamedFrom: a", ["a"], {"a": "0"}, None),
        ("name: a\nrenamedFrom: b", [], {}, None),
        ("name: a\nrenamedFrom: b", ["a", "b"], {}, "b exists beside a"),
        ("name: a\nrenamedFrom: b", ["b", "b"], {}, "2 automations have the name b"),
    ],
)
def test_an_automation_is_known_by_its_name_or_the_former_one(
    tmp_path: Path, text: str, present: list[str], found: dict[str, str], problem: str | None
) -> None:
    wanted = wanted_of(tmp_path, text)
    summaries = [{"id": str(n), "name": name} for n, name in enumerate(present)]
    known, problems = found_by_name([wanted], summaries)
    assert known == found
    assert len(problems) == (1 if problem else 0)
    assert (problem or "") in "".join(problems)


def test_what_is_there_with_all_defaults_stays_as_it_is(tmp_path: Path) -> None:
    wanted = wanted_of(tmp_path, TRIAGE)
    assert plan(wanted, detail_of(wanted)).kind == "keep"


@pytest.mark.parametrize(
    ("before", "after", "parts"),
    [
        ("status: ACTIVE", "status: ACTIVE\ndescription: x", {"head"}),
        ("database: Tickets\n", "", {"head"}),
        ("value: B", "value: A", {"condition"}),
        ("Status: C", "Status: A", {"actions"}),
        ("RECORD_CREATED", "RECORD_UPDATED", {"triggers"}),
        ("    config: {}", f"    config: {{databaseId: {TICKETS}}}", {"triggers"}),
        ("    config: {}", "    config: {databaseId: null}", set()),
        ('"https://example.com/"', '"https://example.com/", method: POST, headers: {}', set()),
        ('"https://example.com/"', '"https://example.com/", method: PUT', {"actions"}),
        ("status: ACTIVE\n", "", set()),
    ],
)
def test_only_the_parts_that_differ_are_written(
    tmp_path: Path, before: str, after: str, parts: set[str]
) -> None:
    present = detail_of(wanted_of(tmp_path, TRIAGE))
    assert before in TRIAGE
    change = plan(wanted_of(tmp_path, TRIAGE.replace(before, after)), present)
    assert set(change.parts) == parts
    assert change.kind == ("change" if parts else "keep")
    assert bool(change.diff) == bool(parts)


def test_the_diff_shows_what_goes_and_what_comes(tmp_path: Path) -> None:
    present = detail_of(wanted_of(tmp_path, TRIAGE))
    change = plan(wanted_of(tmp_path, TRIAGE.replace("value: B", "value: A")), present)
    changed = [line for line in change.diff if line[:1] in {"+", "-"}]
    assert changed == ["-  value: B", "+  value: A"]


def test_a_new_automation_is_made_with_everything_that_it_has(tmp_path: Path) -> None:
    change = plan(wanted_of(tmp_path, TRIAGE), None)
    assert change.kind == "create"
    assert change.parts.keys() == {"create"}
    assert change.parts["create"].keys() == {
        "name",
        "databaseId",
        "triggers",
        "condition",
        "actions",
    }
    assert change.statuses == ("ACTIVE",)


def test_one_that_is_to_be_paused_gets_its_triggers_last(tmp_path: Path) -> None:
    change = plan(wanted_of(tmp_path, TRIAGE.replace("ACTIVE", "PAUSED")), None)
    assert "triggers" not in change.parts["create"]
    assert change.parts["triggers"].keys() == {"triggers"}
    assert change.statuses == ("ACTIVE", "PAUSED")


@pytest.mark.parametrize(
    ("present", "wanted", "statuses"),
    [
        ("DRAFT", "DRAFT", ()),
        ("DRAFT", "ACTIVE", ("ACTIVE",)),
        ("DRAFT", "PAUSED", ("ACTIVE", "PAUSED")),
        ("ACTIVE", "DRAFT", None),
        ("ACTIVE", "ACTIVE", ()),
        ("ACTIVE", "PAUSED", ("PAUSED",)),
        ("PAUSED", "DRAFT", None),
        ("PAUSED", "ACTIVE", ("ACTIVE",)),
        ("PAUSED", "PAUSED", ()),
    ],
)
def test_statuses_are_taken_in_the_order_that_the_api_allows(
    tmp_path: Path, present: str, wanted: str, statuses: tuple[str, ...] | None
) -> None:
    there = detail_of(wanted_of(tmp_path, TRIAGE), present)
    document_ = wanted_of(tmp_path, TRIAGE.replace("status: ACTIVE", f"status: {wanted}"))
    if statuses is None:
        with pytest.raises(ValueError, match="cannot become a DRAFT again"):
            plan(document_, there)
    else:
        assert tuple(plan(document_, there).statuses) == statuses


def test_archived_means_gone_and_once_gone_nothing(tmp_path: Path) -> None:
    gone = wanted_of(tmp_path, "name: Triage\nstatus: ARCHIVED\n")
    change = plan(gone, detail_of(wanted_of(tmp_path, TRIAGE)))
    assert change.kind == "archive"
    assert [line for line in change.diff if line[:1] in {"+", "-"}] == [
        "-status: ACTIVE",
        "+status: ARCHIVED",
    ]
    assert plan(gone, None).kind == "keep"


@pytest.mark.parametrize("key", ["triggers", "actions"])
def test_the_last_part_cannot_be_taken_away(tmp_path: Path, key: str) -> None:
    present = detail_of(wanted_of(tmp_path, TRIAGE))
    wanted = wanted_of(tmp_path, TRIAGE)
    wanted.definition[key] = []
    with pytest.raises(ValueError, match=f"{key}: the last one cannot be taken away"):
        plan(wanted, present)


@pytest.mark.parametrize(
    ("database_id", "shown"),
    [
        (TICKETS, {"database": "Tickets"}),
        (TWIN, {"databaseId": TWIN}),
        (OLD, {"databaseId": OLD}),
        (None, {}),
    ],
)
def test_a_database_is_shown_by_name_where_the_name_finds_it(
    tmp_path: Path, database_id: str | None, shown: dict[str, Any]
) -> None:
    definition = wanted_of(tmp_path, "name: a").definition | {"databaseId": database_id}
    assert as_document(definition, None, NAMES) == {"name": "a", **shown}


def test_ids_that_mean_nothing_elsewhere_are_found(tmp_path: Path) -> None:
    wanted = wanted_of(
        tmp_path,
        f"name: a\ntriggers: [{{type: PAGE_CREATED, config: {{pageId: {PAGE.upper()}}}}}]\n"
        f"actions: [{{type: CREATE_NOTIFICATION, config: {{title: t, userIds: ['{PAGE}']}}}},\n"
        "  {type: UPDATE_RECORD, config: {recordId: from_trigger, propertyValues: {}}}]\n",
    )
    assert wanted.definition["triggers"][0]["config"] == {"pageId": PAGE}
    shown = as_document({**wanted.definition, "databaseId": TWIN}, None, NAMES)
    assert foreign_ids(shown) == [
        "databaseId",
        "triggers[0].config.pageId",
        "actions[0].config.userIds",
    ]


def test_what_is_shown_reads_back_as_what_it_was(tmp_path: Path) -> None:
    wanted = wanted_of(tmp_path, TRIAGE)
    present = present_definition(detail_of(wanted), SHAPES)
    again = wanted_of(tmp_path, yaml_text([as_document(present, "ACTIVE", NAMES)]))
    assert again.definition == wanted.definition


def test_a_deployment_whose_contract_is_no_contract_is_told() -> None:
    with pytest.raises(CommandError, match="does not describe triggers and actions"):
        Shapes({"components": {}})


A, B, C = (
    {"type": type_, "config": {"n": n}} for type_, n in (("DELAY", 1), ("DELAY", 2), ("X", 3))
)
B_CHANGED = {"type": "DELAY", "config": {"n": 9}}


@pytest.mark.parametrize(
    ("before", "after", "ids"),
    [
        ([A, B, C], [A, B, C], ["0", "1", "2"]),
        ([A, B, C], [C, B, A], ["2", "1", "0"]),
        ([A, B], [B], ["1"]),
        ([A, B], [A, C, B], ["0", None, "1"]),
        ([A, B], [A, B_CHANGED], ["0", "1"]),
        ([A, B, C], [B_CHANGED, A], ["1", "0"]),
        ([A, A], [A, B, A], ["0", None, "1"]),
        ([A], [C], [None]),
        ([], [A], [None]),
    ],
)
def test_an_action_keeps_the_id_of_the_one_that_it_goes_on_from(
    before: list[Any], after: list[Any], ids: list[str | None]
) -> None:
    known = [str(n) for n in range(len(before))]
    assert [one.get("id") for one in with_ids(after, before, known)] == ids


@given(st.lists(st.sampled_from([A, B, C])), st.lists(st.sampled_from([A, B, C])))
def test_no_id_is_given_twice_and_no_action_is_lost(before: list[Any], after: list[Any]) -> None:
    known = [str(n) for n in range(len(before))]
    made = with_ids(after, before, known)
    ids = [one["id"] for one in made if "id" in one]
    assert len(set(ids)) == len(ids)
    assert [{"type": one["type"], "config": one["config"]} for one in made] == after
