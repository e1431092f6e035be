"""What has to change so that a workspace's automations are what the files say."""

import difflib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cli.action_ids import with_ids
from cli.database_names import DatabaseNames
from cli.definitions import Wanted, as_document, present_definition
from cli.json_text import same
from cli.shapes import Shapes
from cli.yaml_text import yaml_text

Body = dict[str, Any]
_HEAD: Final = ("name", "description", "databaseId")


@dataclass(frozen=True, slots=True)
class Change:
    """One automation's way from `present` (its detail, None if it is new) to what is wanted.

    `kind` is `create`, `change`, `archive` or `keep`; `parts` maps what differs (`head`,
    `condition`, `actions`, `triggers`) to the body of its request, `statuses` are taken in turn.
    """

    wanted: Wanted
    kind: str
    present: Mapping[str, Any] | None
    parts: Mapping[str, Body]
    statuses: Sequence[str] = ()
    diff: Sequence[str] = ()


def repeated_names(documents: Iterable[Wanted]) -> list[str]:
    """Return a problem for each automation that is in the files a second time."""
    first: dict[str, Wanted] = {}
    problems = []
    for one in documents:
        known = first.setdefault(one.name, one)
        if known is not one:
            told = f"{one.name} stands in {known.document.place} already"
            problems.append(one.document.problem("name", told))
    return problems


def found_by_name(
    wanted: Sequence[Wanted], present: Iterable[Mapping[str, Any]]
) -> tuple[dict[str, str], list[str]]:
    """Return the id of the present automation of each wanted name, and what is ambiguous.

    `present` are the summaries of all automations that are not archived; an archived one is gone,
    whatever its name.
    """
    ids: dict[str, list[str]] = defaultdict(list)
    for summary in present:
        ids[summary["name"]].append(summary["id"])
    found: dict[str, str] = {}
    problems: list[str] = []
    for one in wanted:
        own, former = ids.get(one.name, []), ids.get(one.renamed_from or "", [])
        if one.renamed_from == one.name:
            former = []
        if len(own) > 1 or (not own and len(former) > 1):
            name = one.name if own else one.renamed_from
            told = f"{len(own or former)} automations have the name {name}: rename all but one"
            problems.append(one.document.problem("name", told))
        elif own and former:
            told = f"{one.renamed_from} exists beside {one.name}: take this away, or archive one"
            problems.append(one.document.problem("renamedFrom", told))
        elif own or former:
            found[one.name] = (own or former)[0]
    return found, problems


def planned(
    wanted: Wanted, present: Mapping[str, Any] | None, shapes: Shapes, names: DatabaseNames
) -> Change:
    """Return what has to be done for one automation; nothing if it is `keep`.

    Raises:
        ValueError: no request of the API leads there; it tells the path and why.

    """
    if present is None:
        return _created(wanted, names)
    before = present_definition(present, shapes)
    if wanted.status == "ARCHIVED":
        gone = {**as_document(before, present["status"], names), "status": "ARCHIVED"}
        diff = _diff(as_document(before, present["status"], names), gone)
        return Change(wanted, "archive", present, {}, (), diff)
    parts = _parts(wanted, before, present)
    statuses = _statuses(present["status"], wanted.status)
    if not parts and not statuses:
        return Change(wanted, "keep", present, {})
    after = as_document(wanted.definition, wanted.status or present["status"], names)
    diff = _diff(as_document(before, present["status"], names), after)
    return Change(wanted, "change", present, parts, statuses, diff)


def _created(wanted: Wanted, names: DatabaseNames) -> Change:
    if wanted.status == "ARCHIVED":
        return Change(wanted, "keep", None, {})
    body = {key: value for key, value in wanted.definition.items() if value not in (None, [])}
    parts: dict[str, Body] = {"create": body}
    if wanted.status == "PAUSED" and "triggers" in body:
        # On its way it is ACTIVE for a moment, in which it must hear nothing.
        parts["triggers"] = {"triggers": body.pop("triggers")}
    statuses = _statuses("DRAFT", wanted.status)
    diff = _diff({}, as_document(wanted.definition, wanted.status or "DRAFT", names))
    return Change(wanted, "create", None, parts, statuses, diff)


def _parts(
    wanted: Wanted, before: Mapping[str, Any], present: Mapping[str, Any]
) -> dict[str, Body]:
    after = wanted.definition
    parts: dict[str, Body] = {}
    head = {key: after[key] for key in _HEAD if after[key] != before[key]}
    if head:
        parts["head"] = head
    if not same(after["condition"], before["condition"]):
        parts["condition"] = {"condition": after["condition"]}
    if not same(after["actions"], before["actions"]):
        _require_some(after, "actions")
        ids = [one["id"] for one in present["actions"]]
        parts["actions"] = {"actions": with_ids(after["actions"], before["actions"], ids)}
    if not same(after["triggers"], before["triggers"]):
        _require_some(after, "triggers")
        parts["triggers"] = {"triggers": after["triggers"]}
    return parts


def _require_some(after: Mapping[str, Any], key: str) -> None:
    if not after[key]:
        raise ValueError(f"{key}: the last one cannot be taken away; pause or archive it instead")


def _statuses(present: str, wanted: str | None) -> tuple[str, ...]:
    if wanted in {None, present}:
        return ()
    if wanted == "DRAFT":
        raise ValueError(f"status: what is {present} cannot become a DRAFT again; say PAUSED")
    return ("ACTIVE", "PAUSED") if (present, wanted) == ("DRAFT", "PAUSED") else (str(wanted),)


def _diff(before: Body, after: Body) -> list[str]:
    """Return the lines of a unified diff, each with its `+`, `-` or blank; no file names."""
    return list(difflib.unified_diff(_lines(before), _lines(after), lineterm=""))[2:]


def _lines(document: Body) -> list[str]:
    # Without the line that begins the document.
    return yaml_text([document]).splitlines()[1:] if document else []
