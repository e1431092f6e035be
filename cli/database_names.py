"""Databases by their names: files of automations name them so, since ids differ by workspace."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any


class DatabaseNames:
    """The databases of one workspace; archived ones have no name that counts."""

    def __init__(self, databases: Iterable[Mapping[str, Any]]) -> None:
        self._ids: dict[str, list[str]] = defaultdict(list)
        for one in databases:
            if one["archivedAt"] is None:
                self._ids[one["name"]].append(one["id"])

    def id_of(self, name: Any) -> str:
        """Return the id of the database of this name.

        Raises:
            ValueError: there is none, or more than one.

        """
        if not isinstance(name, str):
            raise ValueError("must be the name of a database")  # noqa: TRY004  # a fault of a file
        ids = self._ids.get(name, [])
        if len(ids) == 1:
            return ids[0]
        if ids:
            raise ValueError(
                f"{len(ids)} databases have the name {name}: rename all but one, or"
                " write databaseId"
            )
        known = ", ".join(sorted(self._ids)) or "none"
        raise ValueError(f"no active database has the name {name} (there are: {known})")

    def name_of(self, database_id: str) -> str | None:
        """Return the name by which `id_of` finds the database; None if there is none such."""
        for name, ids in self._ids.items():
            if ids == [database_id]:
                return name
        return None
