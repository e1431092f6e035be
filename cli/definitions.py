"""One automation between its three forms: a document of a file, what is compared, the API's JSON.

What is compared is a dict in the API's words, without ids of its own and without defaults::

    {"name", "description", "databaseId", "triggers": [{"type", "config"}], "condition",
     "actions": [{"type", "config", "retries"?, "timeoutMs"?}]}
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from cli.database_names import DatabaseNames
from cli.paths import Step, path_text
from cli.shapes import Shapes
from cli.workspaces import is_id
from cli.yaml_files import Document

Definition = dict[str, Any]

STATUSES: Final = ("DRAFT", "ACTIVE", "PAUSED", "ARCHIVED")
_KEYS: Final = (
    "name",
    "renamedFrom",
    "description",
    "status",
    "database",
    "databaseId",
    "triggers",
    "condition",
    "actions",
)
_PART_KEYS: Final = {
    "Trigger": ("type", "config"),
    "Action": ("type", "config", "retries", "timeoutMs"),
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a document asks for; without a `status` it leaves the present one."""

    document: Document
    definition: Definition
    status: str | None
    renamed_from: str | None

    @property
    def name(self) -> str:
        return str(self.definition["name"])


def read_document(
    document: Document, shapes: Shapes, names: DatabaseNames
) -> tuple[Wanted | None, list[str]]:
    """Return what the document asks for, None if it cannot be told, and what is wrong with it."""
    reading = _Reading(shapes, names)
    wanted = reading.wanted(document)
    problems = [document.problem(path_text(steps), told) for steps, told in reading.problems]
    return (None if problems else wanted), problems


def present_definition(detail: Mapping[str, Any], shapes: Shapes) -> Definition:
    """Return the definition of an automation's detail."""
    return {
        "name": detail["name"],
        "description": detail["description"],
        "databaseId": detail["databaseId"],
        "triggers": [_normal(shapes, "Trigger", one) for one in detail["triggers"]],
        "condition": detail["condition"],
        "actions": [_normal(shapes, "Action", one) for one in detail["actions"]],
    }


def as_document(
    definition: Mapping[str, Any], status: str | None, names: DatabaseNames
) -> dict[str, Any]:
    """Return a definition as a file shows it: databases by name, keys in one order."""
    whole = {
        "name": definition["name"],
        "description": definition["description"],
        "status": status,
        **_named(definition["databaseId"], names),
        "triggers": [_shown_part(one, names) for one in definition["triggers"]],
        "condition": _sorted(definition["condition"]),
        "actions": [_shown_part(one, names) for one in definition["actions"]],
    }
    return {key: value for key, value in whole.items() if value not in (None, [])}


def foreign_ids(document: Mapping[str, Any]) -> list[str]:
    """Return the paths of ids that mean nothing in another workspace: pages, records, people."""
    configs = [
        (f"{kind}[{n}].config", one["config"])
        for kind in ("triggers", "actions")
        for n, one in enumerate(document.get(kind, ()))
    ]
    places = [("", {"databaseId": document.get("databaseId")}), *configs]
    return [
        f"{path}.{key}".lstrip(".")
        for path, config in places
        for key, value in config.items()
        if any(isinstance(one, str) and is_id(one) for one in _items(value))
    ]


class _Reading:
    """One pass over a document that collects what is wrong with it."""

    def __init__(self, shapes: Shapes, names: DatabaseNames) -> None:
        self.problems: list[tuple[tuple[Step, ...], str]] = []
        self._shapes = shapes
        self._names = names

    def wanted(self, document: Document) -> Wanted | None:
        value = document.value
        if not isinstance(value, dict):
            self._add((), "must be an automation (an object), or a list of them")
            return None
        self._only(_KEYS, value, ())
        name, status = value.get("name"), value.get("status")
        if not isinstance(name, str) or not name:
            self._add(("name",), "must be a text: by its name an automation is known again")
        if status is not None and status not in STATUSES:
            self._add(("status",), f"must be one of {', '.join(STATUSES)}")
        renamed_from = value.get("renamedFrom")
        if renamed_from is not None and not isinstance(renamed_from, str):
            self._add(("renamedFrom",), "must be a text")
        scoped = self._with_id(value, ())
        definition = {
            "name": name,
            "description": value.get("description"),
            "databaseId": _lower(scoped.get("databaseId")),
            "triggers": list(self._parts("Trigger", "triggers", value.get("triggers"))),
            "condition": value.get("condition"),
            "actions": list(self._parts("Action", "actions", value.get("actions"))),
        }
        return Wanted(document, definition, status, renamed_from)

    def _parts(self, kind: str, key: str, value: Any) -> Iterator[dict[str, Any]]:
        if value is not None and not isinstance(value, list):
            self._add((key,), "must be a list")
            return
        for n, part in enumerate(value or ()):
            if isinstance(part, dict):
                yield self._part(kind, part, (key, n))
            else:
                self._add((key, n), "must be an object")

    def _part(self, kind: str, part: Mapping[str, Any], steps: tuple[Step, ...]) -> dict[str, Any]:
        self._only(_PART_KEYS[kind], part, steps)
        config = part.get("config", {})
        if isinstance(config, dict):
            if part.get("type") == "WEBHOOK" and "secret" in config:
                where = (*steps, "config", "secret")
                self._add(where, "does not belong in a file: it is made, and shown once")
            if self._shapes.knows(kind, part.get("type"), "databaseId"):
                config = self._with_id(config, (*steps, "config"))
        whole = {**part, "config": config}
        for inner, told in self._shapes.problems(kind, whole):
            self._add((*steps, *inner), told)
        return _normal(self._shapes, kind, whole) if isinstance(config, dict) else whole

    def _with_id(self, holder: Mapping[str, Any], steps: tuple[Step, ...]) -> dict[str, Any]:
        """Return `holder` with the id of the database that it names."""
        rest = {key: value for key, value in holder.items() if key != "database"}
        if holder.get("database") is None:
            return rest
        if "databaseId" in holder:
            self._add((*steps, "database"), "stands beside databaseId: one of the two")
            return rest
        try:
            return {**rest, "databaseId": self._names.id_of(holder["database"])}
        except ValueError as error:
            self._add((*steps, "database"), str(error))
            return {**rest, "databaseId": None}

    def _only(
        self, known: tuple[str, ...], holder: Mapping[str, Any], steps: tuple[Step, ...]
    ) -> None:
        for key in holder:
            if key not in known:
                self._add((*steps, key), f"is not a known key ({', '.join(known)})")

    def _add(self, steps: tuple[Step, ...], told: str) -> None:
        self.problems.append((steps, told))


def _normal(shapes: Shapes, kind: str, part: Mapping[str, Any]) -> dict[str, Any]:
    config = shapes.normal(kind, part.get("type"), part["config"])
    tuning = {key: part[key] for key in ("retries", "timeoutMs") if part.get(key) is not None}
    return {"type": part.get("type"), "config": config, **tuning}


def _shown_part(part: Mapping[str, Any], names: DatabaseNames) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    for key, value in part["config"].items():
        shown.update(_named(value, names) if key == "databaseId" else {key: _sorted(value)})
    return {**part, "config": shown}


def _named(database_id: Any, names: DatabaseNames) -> dict[str, Any]:
    name = names.name_of(database_id)
    return {"databaseId": database_id} if name is None else {"database": name}


def _sorted(value: Any) -> Any:
    # The database that keeps definitions has an order of keys of its own.
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(one) for one in value] if isinstance(value, list) else value


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
